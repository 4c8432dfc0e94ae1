//! Searches the programs that keep a kernel from preempting the longest.
//!
//! Programs are sequences of system calls. A guest is booted once; each branch of its snapshot runs many
//! programs, and the emulator's plugin reports their sections. Programs that reach new functions or lengths
//! are changed further. Whatever decides (`search`, `generate`, `corpus`, `slice`, `minimise`, `crash`,
//! `reproducer`) is pure.

mod asked;
mod branch;
mod campaign;
mod corpus;
mod crash;
mod end;
mod files;
mod finding;
mod generate;
mod journal;
mod minimise;
#[cfg(test)]
mod model;
mod observer;
mod qmp;
mod report;
mod reproducer;
mod search;
mod section;
mod slice;
mod snapshot;

pub use asked::{HuntAsked, Way};
pub use campaign::Hunt;
pub use end::{CrashFound, HuntEnd, Longest, Repeated};
pub use finding::Finding;
pub use journal::Effort;
pub use report::{repeated_json, repeated_text, to_json as hunt_json, to_text as hunt_text};
pub use section::Section;
