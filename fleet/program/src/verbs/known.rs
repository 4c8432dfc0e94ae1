//! A job's state as text, as JSON and as an exit code.

use super::now;
use std::process::ExitCode;
use wakepath_fleet_boards::{Outcome, Record, Stage};
use wakepath_timeline::shortened;

/// A record's state in one word, and the reason.
fn said(record: &Record) -> (&'static str, Option<String>) {
    match &record.stage {
        Stage::Planned { why } => ("not begun", why.clone()),
        Stage::Started { why: Some(why), .. } => ("unknown", Some(why.clone())),
        Stage::Started { why: None, .. } => {
            let left = record.due().unwrap_or(0).saturating_sub(now());
            let when = match left {
                0 => "due".into(),
                left => format!("due in {left} s"),
            };
            ("measuring", Some(when))
        }
        Stage::Ended { why, .. } => ("ended", Some(why.clone().unwrap_or("not fetched".into()))),
        Stage::Over {
            outcome, reason, ..
        } => (outcome.name(), reason.clone()),
    }
}

/// A line for each board, and one that counts.
pub fn text(job: &str, records: &[Record]) -> String {
    let width = records
        .iter()
        .map(|record| record.board.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for record in records {
        let (word, why) = said(record);
        let why = why.map_or(String::new(), |why| shortened(&why, 300));
        text += format!("{:<width$}  {word:<9}  {why}", record.board).trim_end();
        text.push('\n');
    }
    text + &format!("{job}: {}\n", counts(records))
}

/// One board's state and reason.
pub fn line(record: &Record) -> String {
    let (word, why) = said(record);
    let why = why.map_or(String::new(), |why| format!(": {}", shortened(&why, 300)));
    format!("{}: {word}{why}", record.board)
}

/// Number of boards in each state.
pub fn counts(records: &[Record]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for record in records {
        let (word, _) = said(record);
        match counts.iter_mut().find(|(of, _)| *of == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let counts = counts.iter().map(|(word, count)| format!("{count} {word}"));
    counts.collect::<Vec<_>>().join(", ")
}

/// The records, with each one's state.
pub fn json(job: &str, records: &[Record]) -> String {
    let boards = records.iter().map(|record| {
        let (word, why) = said(record);
        serde_json::json!({ "board": record.board, "state": word, "reason": why, "record": record })
    });
    let boards: Vec<_> = boards.collect();
    format!(
        "{:#}\n",
        serde_json::json!({ "job": job, "boards": boards })
    )
}

/// The worst outcome of all; a run that isn't over has not passed.
pub fn code(records: &[Record]) -> ExitCode {
    let of = |record: &Record| match &record.stage {
        Stage::Over { outcome, .. } => *outcome,
        Stage::Planned { .. } => Outcome::Invalid,
        Stage::Started { .. } | Stage::Ended { .. } => Outcome::Undecided,
    };
    let gravest = records.iter().map(of).max();
    ExitCode::from(gravest.unwrap_or(Outcome::Invalid).code())
}
