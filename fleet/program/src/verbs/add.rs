//! `wakepath-fleet add`: runs into the archive.

use super::{Outcome, archive};
use crate::command_line::Add;
use crate::terminal::{print, tell_line};
use std::process::ExitCode;
use wakepath_fleet_archive::{Added, Board, add};

/// Adds them one by one; one that is refused keeps no other out.
pub fn run(arguments: &Add) -> Outcome {
    let board = Board::new(&arguments.board)?;
    let store = archive::make(&arguments.to)?;
    let mut code = ExitCode::SUCCESS;
    for run in &arguments.runs {
        match add(&store, run, &board) {
            Ok(Added::New(name)) => print(&format!("{name}: added\n"))?,
            Ok(Added::WasThere(name)) => print(&format!("{name}: was there\n"))?,
            Err(error) => {
                tell_line(&format!("wakepath-fleet: {error}"));
                code = ExitCode::from(1);
            }
        }
    }
    Ok(code)
}
