//! `wakepath-fleet fetch`: fetches ended runs, board by board, and prints their outcomes.

use super::standings::trust;
use super::status::noted;
use super::{Outcome, known, let_go, now, ssh};
use crate::command_line::Fetch;
use crate::terminal::print;
use std::path::Path;
use std::time::Duration;
use wakepath_fleet_boards::{
    Board, Inventory, Journal, JournalError, Record, Ssh, Stage, Terms, each, fetch, look,
};

/// Between two rounds of asking.
const ROUND: Duration = Duration::from_secs(5);

/// Fetches.
pub fn run(arguments: &Fetch) -> Outcome {
    let (job, records) = fetched(arguments)?;
    print(&if arguments.json {
        known::json(&job, &records)
    } else {
        known::text(&job, &records)
    })?;
    Ok(known::code(&records))
}

/// The job, and its records afterwards.
pub fn fetched(arguments: &Fetch) -> Result<(String, Vec<Record>), Box<dyn std::error::Error>> {
    let journal = Journal::new(&arguments.directory);
    let job = journal.find(arguments.job.as_deref())?;
    let inventory = Inventory::read(&arguments.inventory)?;
    let terms = Terms {
        most_bytes: arguments.most_mib.saturating_mul(1 << 20),
        trust: arguments.trust.as_deref().map(trust).transpose()?,
        remove: arguments.remove,
    };
    let _held = journal.hold(&job)?;
    let ssh = ssh(&arguments.reached);
    let records = loop {
        // Failures of a round are only printed.
        let known = journal.records(&job)?;
        let came = each(&known, arguments.reached.at_once, |record| match inventory
            .boards
            .iter()
            .find(|board| board.name == record.board)
        {
            Some(board) => {
                let came = one(&ssh, board, record, &journal, &terms)?;
                released(board, came, &journal)
            }
            None => Ok(record.clone()),
        });
        let records: Vec<Record> = came.into_iter().collect::<Result<_, _>>()?;
        if !arguments.wait || !records.iter().any(is_awaited) {
            break records;
        }
        std::thread::sleep(ROUND.min(until_due(&records)));
    };
    Ok((job, records))
}

/// Releases the place of a run that is over.
fn released(board: &Board, mut record: Record, journal: &Journal) -> Result<Record, JournalError> {
    if record.holds_place && matches!(record.stage, Stage::Over { .. }) {
        let_go(board, &mut record);
        journal.put(&record)?;
    }
    Ok(record)
}

/// Asks for one run, and fetches it if it has ended.
fn one(
    ssh: &Ssh,
    board: &Board,
    record: &Record,
    journal: &Journal,
    terms: &Terms,
) -> Result<Record, JournalError> {
    if matches!(record.stage, Stage::Over { .. }) {
        return Ok(record.clone());
    }
    let record = noted(journal, record, look(ssh, board, record, now, false))?;
    if !matches!(record.stage, Stage::Ended { .. }) {
        return Ok(record);
    }
    let to = journal.run_of(&record);
    let made = std::fs::create_dir_all(to.parent().unwrap_or(Path::new(".")));
    made.map_err(|error| JournalError::Io(to.clone(), error))?;
    match fetch(ssh, board, &record, &to, terms, now) {
        Ok(stage) => noted(journal, &record, stage),
        // The stage stays, so that the fetch can resume; the reason is only printed.
        Err(error) => {
            let mut shown = record.clone();
            if let Stage::Ended { why, .. } = &mut shown.stage {
                *why = Some(format!("not fetched: {error}"));
            }
            Ok(shown)
        }
    }
}

/// Whether its outcome can still change.
fn is_awaited(record: &Record) -> bool {
    match record.stage {
        Stage::Started { .. } => record.hangs().is_some_and(|hangs| now() <= hangs),
        Stage::Ended { at, .. } => now() <= at + record.limit() + 600,
        Stage::Planned { .. } | Stage::Over { .. } => false,
    }
}

/// Time until the first board can be asked again; a second if one is due.
fn until_due(records: &[Record]) -> Duration {
    let due = records.iter().filter_map(Record::due).min();
    let left = due.map_or(1, |due| due.saturating_sub(now()).max(1));
    Duration::from_secs(left)
}
