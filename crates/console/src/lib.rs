//! What wakepath's programs share at the terminal: output, options and errors, runs and scenarios by name.
//!
//! No library for others, and it judges nothing.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod candidates;
pub mod explanation;
pub mod files;
pub mod limits;
pub mod manual;
pub mod memory;
pub mod option_value;
pub mod ordered_process;
pub mod overrides;
mod printing;
pub mod progress;
pub mod run_directory;
pub mod run_order;
pub mod runs;
pub mod scenarios;
pub mod sequence;
pub mod terminal;
pub mod usage;

pub use printing::{Printing, When};
use std::process::ExitCode;

/// The commit that this program was built from.
pub const COMMIT: &str = env!("WAKEPATH_COMMIT");
/// Version with the commit.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("WAKEPATH_COMMIT"),
    ")"
);

/// Result of a command: its exit code, or an error that is one line with what is wrong, where, and what would be right.
pub type Outcome = Result<ExitCode, Box<dyn std::error::Error>>;

/// Drops the capabilities of the program's file.
///
/// # Errors
/// The exit code if they can't be dropped, after a message.
pub fn without_capabilities() -> Result<(), ExitCode> {
    wakepath_programs::rights::give_up().map_err(|error| {
        tell!("wakepath: capabilities can't be given up: {error}");
        ExitCode::from(1)
    })
}

/// The exit code of a command; a failure is one line.
pub fn ended(outcome: Outcome) -> ExitCode {
    outcome.unwrap_or_else(|error| {
        terminal::tell_failure(&*error);
        ExitCode::from(1)
    })
}
