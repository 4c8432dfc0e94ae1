//! `wakepath-fleet add`: runs into the archive.

use super::{Outcome, archive, standings};
use crate::command_line::Add;
use crate::terminal::{print, tell_line};
use std::path::Path;
use std::process::ExitCode;
use wakepath_fleet_archive::{Board, FleetArchiveError, SealTerms, Standing, Store, add};

/// Adds them one by one; one that is refused keeps no other out.
pub fn run(arguments: &Add) -> Outcome {
    let board = Board::new(&arguments.board)?;
    let store = archive::make(&arguments.to.of)?;
    let terms = standings::terms(&*store, &arguments.to.seals)?;
    let mut code = ExitCode::SUCCESS;
    for run in &arguments.runs {
        match one(&*store, run, &board, &terms) {
            Ok(line) => print(&format!("{line}\n"))?,
            Err(error) => {
                tell_line(&format!("wakepath-fleet: {error}"));
                code = ExitCode::from(1);
            }
        }
    }
    Ok(code)
}

/// Adds a run; returns a line with the result.
pub fn one(
    store: &dyn Store,
    run: &Path,
    board: &Board,
    terms: &SealTerms,
) -> Result<String, FleetArchiveError> {
    let added = add(store, run, board, terms)?;
    let what = if added.is_new { "added" } else { "was there" };
    // Without trusted signers, seals don't matter.
    let stands = match &added.standing {
        _ if terms.trust.is_none() => String::new(),
        Standing::Verified => ", verified".to_owned(),
        other => format!("; it does not count: {other}"),
    };
    Ok(format!("{}: {what}{stands}", added.run_id))
}
