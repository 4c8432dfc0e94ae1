//! State of a job on a board.
//!
//! A board is not asked while it should be measuring, because even a login disturbs.

use crate::answer::{self, JobState, State};
use crate::inventory::Board;
use crate::job::{Record, Stage};
use crate::judge;
use crate::ssh::{CallError, Ssh};

/// The current stage of a job on a board; the record's own if the board is to be left alone.
pub fn look(ssh: &Ssh, board: &Board, record: &Record, now: impl Fn() -> u64, ask: bool) -> Stage {
    let is_under_way = record.due().is_some_and(|due| now() < due);
    if matches!(record.stage, Stage::Over { .. } | Stage::Ended { .. }) || (is_under_way && !ask) {
        return record.stage.clone();
    }
    let asked = ssh.call(board, &["state", &record.job], Vec::new());
    let found = asked.and_then(|answer| {
        answer::job_state(&answer)
            .ok_or_else(|| CallError::NoAnswer("another program answered".into()))
    });
    match found {
        Ok(found) => told(record, found, now()),
        Err(error) => unheard(record, &error, now()),
    }
}

/// A record's stage after a board's answer.
fn told(record: &Record, found: JobState, now: u64) -> Stage {
    let over = |(outcome, reason)| Stage::Over {
        outcome,
        reason,
        fetched: false,
    };
    match found.state {
        State::Unknown => match record.stage {
            Stage::Started { .. } => over(judge::invalid("the board knows nothing of it any more")),
            // The earlier reason why it could not begin remains.
            _ => record.stage.clone(),
        },
        State::Measuring if record.hangs().is_some_and(|at| now > at) => over(judge::invalid(
            "it hangs: still measuring after its limit, which the board itself should have kept",
        )),
        State::Measuring => match &record.stage {
            Stage::Started { at, program, .. } => Stage::Started {
                at: *at,
                program: program.clone(),
                why: None,
            },
            // The controller died before it could record that the run had begun.
            _ => Stage::Started {
                at: record.planned,
                program: String::new(),
                why: None,
            },
        },
        State::Ended {
            code,
            free_kib,
            begun,
            ended,
        } => Stage::Ended {
            at: match record.stage {
                Stage::Started { at, .. } => at,
                _ => record.planned,
            },
            code,
            free_kib,
            begun,
            ended,
            why: judge::clock(found.now.time, now),
        },
        State::Gone { begun, free_kib } => over(judge::gone(&begun, &found.now, free_kib)),
    }
}

/// A board that does not answer: a reason, and after the run's limit an end without a pass.
fn unheard(record: &Record, error: &CallError, now: u64) -> Stage {
    let why = Some(error.to_string());
    match &record.stage {
        Stage::Started { at, program, .. } => Stage::Started {
            at: *at,
            program: program.clone(),
            why: if record.hangs().is_some_and(|at| now > at) {
                Some(format!("{error}; it should have ended long ago"))
            } else {
                why
            },
        },
        _ => Stage::Planned { why },
    }
}
