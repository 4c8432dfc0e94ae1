//! `wakepath-fleet changes`: changes of the p99.9 in a board's history, and of its settings.

use super::Outcome;
use super::archive::{Opened, look};
use super::standings::LeftOut;
use crate::command_line::Changes;
use crate::histories::histories;
use crate::terminal::print;
use std::process::ExitCode;
use wakepath_fleet_archive::{Catalogue, FleetArchiveError, Store};
use wakepath_fleet_regression::{Difference, DivisiveTerms, Figure, changes, settings_between};
use wakepath_fleet_site::SeenChange;
use wakepath_timeline::duration::rounded;

/// Most settings to list in a line.
const MOST_NAMED: usize = 12;

/// Finds them.
pub fn run(arguments: &Changes) -> Outcome {
    let Opened {
        store,
        all,
        left_out,
    } = look(&arguments.at)?;
    let found = found(&*store, &all, &left_out)?;
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
        for difference in change.differences.iter().take(MOST_NAMED) {
            line += &format!(
                "; {}: {:?} → {:?}",
                difference.fact, difference.before, difference.after
            );
        }
        match change.differences.len().checked_sub(MOST_NAMED) {
            Some(more @ 1..) => line += &format!("; {more} more with --json"),
            _ if change.differences.is_empty() => line += "; no recorded setting changed with it",
            _ => {}
        }
        text += &(line + "\n");
    }
    if found.is_empty() {
        text += "No history shows a change of its p99.9.\n";
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// All changes, board by board, each with the facts and settings that changed at the same time.
pub fn found(
    store: &dyn Store,
    catalogue: &Catalogue,
    left_out: &LeftOut,
) -> Result<Vec<SeenChange>, FleetArchiveError> {
    let settings = |runs: &[String]| {
        let records = catalogue.records.iter();
        let records = records.filter(|record| runs.contains(&record.run_id));
        let read = |record| catalogue.settings(store, record);
        records.map(read).collect::<Result<Vec<_>, _>>()
    };
    let mut all = Vec::new();
    for history in histories(catalogue, left_out) {
        let terms = DivisiveTerms::default();
        for mut change in changes(&history, Figure::P999, &terms) {
            let (before, after) = (&change.around.0, &change.around.1);
            let more = settings_between(&settings(before)?, &settings(after)?);
            // Most facts are settings under a shorter name.
            let is_told = |one: &Difference| {
                let mut told = change.differences.iter();
                told.any(|known| (&known.before, &known.after) == (&one.before, &one.after))
            };
            let more: Vec<_> = more.into_iter().filter(|one| !is_told(one)).collect();
            change.differences.extend(more);
            all.push(SeenChange {
                board: history.board.clone(),
                condition: history.condition.clone(),
                change,
            });
        }
    }
    Ok(all)
}
