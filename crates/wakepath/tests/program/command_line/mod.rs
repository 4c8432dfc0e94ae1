//! The command line itself: what it answers to good and bad words, files and pipes. Little is
//! measured here, and nothing about its quality asserted.

mod archives;
mod compare;
mod directories;
mod documentation;
mod exec;
mod export;
mod fly;
mod import;
mod output;
mod scenarios;
mod usage;
