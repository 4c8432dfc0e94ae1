//! One file for each verb. A verb returns its exit code, or an error that is one line saying what
//! is wrong, where, and what would be right.

pub mod add;
mod archive;
pub mod boards;
pub mod check;
pub mod gc;

use std::process::ExitCode;

/// What a verb ends with.
pub type Outcome = Result<ExitCode, Box<dyn std::error::Error>>;
