//! `wakepath-fleet schedule`: carries out what the inventory's schedules require now.
//!
//! It begins jobs, fetches ended runs, adds them to the archive, and ends; a timer calls it again.
//! All its state is in the journal and the archive.

mod shown;

use super::{Outcome, add, archive, fetch, known, now, run, standings};
use crate::command_line::{Archive, Boards, Fetch, Run, Schedule as Arguments, Seals};
use crate::terminal::{print, tell_line};
use std::path::PathBuf;
use std::process::ExitCode;
use wakepath_evidence::{compact, instant};
use wakepath_fleet_archive::Board;
use wakepath_fleet_boards::{
    DAYS_BACK, Inventory, Journal, JournalError, Record, Schedule, Selection, Stage,
};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Does everything that is due; a failure doesn't stop the others.
pub fn run(arguments: &Arguments) -> Outcome {
    let inventory = Inventory::read(&arguments.inventory)?;
    let journal = Journal::new(&arguments.directory);
    if inventory.schedules.is_empty() {
        let example = "[[schedules]] with name, scenario, on = [\"tag=pi5\"] and at = [\"02:00Z\"]";
        return Err(format!(
            "{}: no schedule; each is {example}",
            arguments.inventory.display()
        )
        .into());
    }
    if arguments.show {
        return shown::show(&inventory, &journal, arguments.json);
    }
    // Another pass, such as a slow fetch, is still running.
    let Some(_held) = journal.alone()? else {
        return Ok(ExitCode::SUCCESS);
    };
    let pass = Pass {
        arguments,
        inventory: &inventory,
        journal: &journal,
    };
    let mut is_well = true;
    for schedule in &inventory.schedules {
        is_well &= pass.said(schedule, pass.begin(schedule));
        for (job, _) in jobs(&journal, schedule, now())? {
            is_well &= pass.said(schedule, pass.bring(schedule, &job));
            is_well &= pass.said(schedule, pass.keep(schedule, &job));
        }
    }
    Ok(ExitCode::from(u8::from(!is_well)))
}

struct Pass<'a> {
    arguments: &'a Arguments,
    inventory: &'a Inventory,
    journal: &'a Journal,
}

impl Pass<'_> {
    fn said(&self, schedule: &Schedule, done: Result<bool>) -> bool {
        done.unwrap_or_else(|error| {
            tell_line(&format!("wakepath-fleet: {}: {error}", schedule.name));
            false
        })
    }

    /// Begins the job that is due, on the boards that have not begun it. Returns whether it has
    /// begun on all.
    fn begin(&self, schedule: &Schedule) -> Result<bool> {
        let Some(time) = schedule.due(now()) else {
            return Ok(true);
        };
        let job = job_of(schedule, time);
        let before = self.journal.records(&job)?;
        let meant = Selection::parse(&schedule.on)?;
        let has_begun = |board: &str| {
            let mut known = before.iter().filter(|record| record.board == board);
            known.any(|record| !matches!(record.stage, Stage::Planned { .. }))
        };
        if meant
            .boards(self.inventory)?
            .iter()
            .all(|board| has_begun(&board.name))
        {
            return Ok(true);
        }
        let begun = run::begin(&Run {
            scenario: schedule.scenario.clone(),
            boards: Boards {
                inventory: self.arguments.inventory.clone(),
                on: schedule.on.clone(),
            },
            job: Some(job),
            takes: schedule.takes,
            directory: self.arguments.directory.clone(),
            reached: self.arguments.reached.clone(),
        })?;
        tell_changes(&before, &begun.records)?;
        let is_left = |record: &Record| matches!(record.stage, Stage::Planned { .. });
        Ok(!begun.records.iter().any(is_left))
    }

    /// Asks boards whose runs should have ended, and fetches those. Whether nothing kept it from doing so.
    fn bring(&self, schedule: &Schedule, job: &str) -> Result<bool> {
        let before = self.journal.records(job)?;
        let is_open = |record: &Record| {
            matches!(record.stage, Stage::Started { .. } | Stage::Ended { .. })
                && record.due().is_none_or(|due| now() >= due)
        };
        if !before.iter().any(is_open) {
            return Ok(true);
        }
        let (_, after) = fetch::fetched(&Fetch {
            job: Some(job.to_owned()),
            inventory: self.arguments.inventory.clone(),
            directory: self.arguments.directory.clone(),
            wait: false,
            trust: schedule.trust.as_ref().map(PathBuf::from),
            remove: self.arguments.remove,
            most_mib: self.arguments.most_mib,
            json: false,
            reached: self.arguments.reached.clone(),
        })?;
        tell_changes(&before, &after)?;
        // One that measures for longer than was thought is not kept from anything: it hangs when its limit has passed.
        let is_kept = |record: &Record| {
            matches!(
                record.stage,
                Stage::Started { why: Some(_), .. } | Stage::Ended { .. }
            )
        };
        Ok(!after.iter().any(is_kept))
    }

    /// Adds fetched runs to the archive. Returns whether all were added.
    fn keep(&self, schedule: &Schedule, job: &str) -> Result<bool> {
        let Some(to) = schedule.archive.as_deref() else {
            return Ok(true);
        };
        let is_new = |record: &Record| {
            let is_here = matches!(record.stage, Stage::Over { fetched: true, .. });
            is_here
                && self
                    .journal
                    .run_of(record)
                    .join("run/manifest.json")
                    .is_file()
                && !self.journal.is_archived(record)
        };
        let new: Vec<Record> = self
            .journal
            .records(job)?
            .into_iter()
            .filter(is_new)
            .collect();
        if new.is_empty() {
            return Ok(true);
        }
        let store = archive::make(&Archive {
            archive: to.into(),
            trust_directory: false,
        })?;
        let seals = Seals {
            trust: schedule.trust.as_ref().map(PathBuf::from),
        };
        let terms = standings::terms(&*store, &seals)?;
        let mut is_well = true;
        for record in new {
            let board = Board::new(&record.board)?;
            let run = self.journal.run_of(&record).join("run");
            match add::one(&*store, &run, &board, &terms) {
                Ok(line) => {
                    print(&format!("{job}: {}: {line}\n", record.board))?;
                    self.journal.mark_archived(&record)?;
                }
                Err(error) => {
                    tell_line(&format!("wakepath-fleet: {job}: {}: {error}", record.board));
                    is_well = false;
                }
            }
        }
        Ok(is_well)
    }
}

/// The name of a time's job.
fn job_of(schedule: &Schedule, time: u64) -> String {
    format!("{}-{}", schedule.name, compact(time))
}

/// The jobs of a schedule in the last days, the oldest first, each with its time.
fn jobs(journal: &Journal, schedule: &Schedule, now: u64) -> Result<Vec<(String, u64)>> {
    let all = match journal.jobs() {
        Err(JournalError::NoJob(_)) => Vec::new(),
        all => all?,
    };
    let begin = format!("{}-", schedule.name);
    let from = now.saturating_sub(DAYS_BACK * 86_400);
    let time = |job: &String| instant(&spelt(job.strip_prefix(&begin)?)?).ok();
    let timed = all.into_iter().filter_map(|job| Some((time(&job)?, job)));
    let mut found: Vec<(String, u64)> = timed
        .filter(|(time, _)| *time >= from)
        .map(|(time, job)| (job, time))
        .collect();
    found.sort_by_key(|(_, time)| *time);
    Ok(found)
}

/// `20261124T020000Z` without its T.
fn spelt(time: &str) -> Option<String> {
    let (date, rest) = time.split_once('T')?;
    Some(format!("{date}{rest}"))
}

/// Prints a line for each board whose state has changed.
fn tell_changes(before: &[Record], after: &[Record]) -> Result<()> {
    for record in after {
        let old = before.iter().find(|old| old.board == record.board);
        if old.is_none_or(|old| old.stage != record.stage) {
            print(&format!("{}: {}\n", record.job, known::line(record)))?;
        }
    }
    Ok(())
}
