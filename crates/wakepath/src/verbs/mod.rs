//! One file for each verb of the command. A verb returns its exit code, or an error that is one
//! line saying what is wrong, where, and what would be right.

pub mod check;
pub mod compare;
pub mod doctor;
pub mod documentation;
pub mod exec;
pub mod explain;
pub mod export;
mod files;
pub mod fly;
mod given_time;
pub mod import;
pub mod lab;
pub mod machine;
mod measured;
mod progress;
pub mod recover;
pub mod report;
pub mod run;
pub mod scenario;
pub mod schedulability;
pub mod show;
mod subject;
pub mod tune;
pub mod watch;

use std::io::Write;
use std::process::ExitCode;

/// What a verb ends with.
pub type Outcome = Result<ExitCode, Box<dyn std::error::Error>>;

/// Prints to standard output. A reader that has had enough (`| head`) is no error.
fn print(text: &str) -> std::io::Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}
