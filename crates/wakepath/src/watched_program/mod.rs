//! The run of a program that was watched: its first event, and its text.

mod remarks;
mod text;

pub use text::{in_short, text};

use crate::beginning::{self, Command};
use wakepath_archive::RunStarted;
use wakepath_archive::watch::Session;
use wakepath_scenario::Scenario;

/// The first event of a watch's run.
pub fn run_started(
    scenario: &Scenario,
    session: &Session,
    command: Command,
) -> std::io::Result<RunStarted> {
    let started = beginning::run_started(
        scenario,
        session.clock_source.clone(),
        session.notes.clone(),
        session.started,
        command,
    )?;
    Ok(RunStarted {
        first_process: session.first,
        ..started
    })
}
