//! Begins a run on a board, once.
//!
//! To a repeated request the board answers that it has begun already.

use crate::inventory::Board;
use crate::job::{Record, Stage};
use crate::judge;
use crate::push::hello;
use crate::ssh::{CallError, Ssh};

/// The scenario to run.
#[derive(Debug, Clone)]
pub enum Scenario {
    /// A built-in one, or one in the board's `allowed`.
    Named(String),
    /// A file's text.
    Text(String),
}

/// Room that a board must have left for a run.
const NEEDED_KIB: u64 = 64 << 10;

/// Begins a run. `now` returns the controller's time, in seconds since 1970.
///
/// # Errors
/// Reason why the board does not begin it: unreachable, busy, without program, without space, a
/// wrong clock.
pub fn start(
    ssh: &Ssh,
    board: &Board,
    record: &Record,
    scenario: &Scenario,
    now: impl Fn() -> u64,
) -> Result<Stage, CallError> {
    let refused = |why: String| CallError::Refused(why);
    let found = hello(ssh, board)?;
    if let Some(job) = found.measuring.filter(|job| *job != record.job) {
        return Err(refused(format!("busy: {job} is measuring")));
    }
    if let Some(why) = judge::clock(found.time, now()) {
        return Err(refused(why));
    }
    if found.free_kib < NEEDED_KIB {
        return Err(refused(format!(
            "its disk is full: {} KiB are free, {NEEDED_KIB} KiB are needed",
            found.free_kib
        )));
    }
    let program = found
        .program
        .ok_or_else(|| refused("no program is there: wakepath-fleet push".into()))?;
    let limit = record.limit().to_string();
    let (word, text) = match scenario {
        Scenario::Named(name) => (name.as_str(), Vec::new()),
        Scenario::Text(text) => ("-", text.clone().into_bytes()),
    };
    let words = ["start", &record.job, &program, &limit, &board.name, word];
    let at = now();
    let answer = ssh.call(board, &words, text)?;
    match answer.trim() {
        "started" | "already" => Ok(Stage::Started {
            at,
            program,
            why: None,
        }),
        _ => Err(CallError::NoAnswer("the run was not begun".into())),
    }
}
