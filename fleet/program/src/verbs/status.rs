//! `wakepath-fleet status`: how a job is, board by board.

use super::{Outcome, known, now, ssh};
use crate::command_line::Status;
use crate::terminal::print;
use wakepath_fleet_boards::{Inventory, Journal, JournalError, Record, Stage, each, look};

/// Asks the boards and prints the states.
pub fn run(arguments: &Status) -> Outcome {
    let journal = Journal::new(&arguments.directory);
    let job = journal.find(arguments.job.as_deref())?;
    let mut records = journal.records(&job)?;
    if !arguments.offline {
        let inventory = Inventory::read(&arguments.inventory)?;
        let _held = journal.hold(&job)?;
        let ssh = ssh(&arguments.reached);
        let asked = each(&records, arguments.reached.at_once, |record| {
            let stage = match inventory
                .boards
                .iter()
                .find(|board| board.name == record.board)
            {
                Some(board) => look(&ssh, board, record, now, arguments.ask),
                None => record.stage.clone(),
            };
            noted(&journal, record, stage)
        });
        records = asked.into_iter().collect::<Result<_, _>>()?;
    }
    print(&if arguments.json {
        known::json(&job, &records)
    } else {
        known::text(&job, &records)
    })?;
    Ok(known::code(&records))
}

/// The record with its new stage, written to disk if the stage has changed.
pub fn noted(journal: &Journal, record: &Record, stage: Stage) -> Result<Record, JournalError> {
    let new = Record {
        stage,
        ..record.clone()
    };
    if new != *record {
        journal.put(&new)?;
    }
    Ok(new)
}
