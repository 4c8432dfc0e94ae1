//! The command line itself: its answers to good and bad words, files and pipes. Little is
//! measured here, and nothing about its quality asserted.

pub mod answer;
pub mod archives;
pub mod asked;
pub mod bound;
pub mod compare;
pub mod directories;
pub mod documentation;
pub mod exec;
pub mod export;
pub mod fly;
pub mod hostile_runs;
pub mod import;
pub mod import_sources;
pub mod import_stated;
pub mod import_tables;
pub mod limits;
pub mod links;
pub mod output;
pub mod pages;
pub mod planted;
pub mod printed;
pub mod printed_measuring;
pub mod printed_rows;
pub mod printed_sources;
pub mod programs;
pub mod reports;
pub mod runs;
pub mod scenarios;
pub mod schedulability;
pub mod schedulability_of_runs;
pub mod seals;
pub mod shells;
pub mod sweep;
pub mod tiers;
pub mod usage;
