//! `wakepath-fleet changes`: where the p99.9 of a board's history changes, and what changed with it.

use super::standings::LeftOut;
use super::{Outcome, archive};
use crate::command_line::Changes;
use crate::histories::histories;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_archive::{Catalogue, catalogue};
use wakepath_fleet_regression::{DivisiveTerms, Figure, changes};
use wakepath_fleet_site::SeenChange;
use wakepath_timeline::duration::rounded;

/// Finds them.
pub fn run(arguments: &Changes) -> Outcome {
    let store = archive::open(&arguments.of)?;
    let all = catalogue(&store)?;
    let left_out = LeftOut::of(&store, &all, &arguments.of, &arguments.seals)?;
    left_out.tell();
    let found = found(&all, &left_out);
    if arguments.json {
        print(&(serde_json::to_string(&found)? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for seen in &found {
        let change = &seen.change;
        let mut line = format!(
            "{}, {}: p99.9 from {} to {} with run {} of {} (p {:.3})",
            seen.board,
            seen.condition,
            rounded(change.before_ns),
            rounded(change.after_ns),
            change.run_id,
            change.started,
            change.p
        );
        for difference in &change.differences {
            line += &format!(
                "; {}: {:?} → {:?}",
                difference.fact, difference.before, difference.after
            );
        }
        if change.differences.is_empty() {
            line += "; no recorded fact changed with it";
        }
        text += &(line + "\n");
    }
    if found.is_empty() {
        text += "No history shows a change of its p99.9.\n";
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// All of them, board by board.
pub fn found(catalogue: &Catalogue, left_out: &LeftOut) -> Vec<SeenChange> {
    let mut all = Vec::new();
    for history in histories(catalogue, left_out) {
        let terms = DivisiveTerms::default();
        all.extend(
            changes(&history, Figure::P999, &terms)
                .into_iter()
                .map(|change| SeenChange {
                    board: history.board.clone(),
                    condition: history.condition.clone(),
                    change,
                }),
        );
    }
    all
}
