//! The verbs, one file each.
//!
//! A verb returns its exit code, or a one-line error with the problem, its place, and what would be
//! right.

pub mod add;
mod archive;
pub mod authorize;
pub mod boards;
mod bucket;
pub mod changes;
pub mod check;
pub mod export;
pub mod fetch;
pub mod gc;
mod known;
pub mod push;
#[cfg(feature = "questions")]
pub mod query;
pub mod reboot;
pub mod regressions;
pub mod run;
pub mod schedule;
pub mod serve;
pub mod site;
pub mod standings;
pub mod status;
pub mod tune;

use crate::command_line::{Boards, Reached};
use crate::terminal::tell_line;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wakepath_fleet_boards::{Board, Inventory, Record, Selection, Ssh, place};

/// Result of a verb.
pub type Outcome = Result<ExitCode, Box<dyn std::error::Error>>;

/// The selected boards; a selection is required.
fn meant(boards: &Boards) -> Result<Vec<Board>, Box<dyn std::error::Error>> {
    if boards.on.is_empty() {
        return Err("--on says which boards: tag=WORD, name=NAME or all".into());
    }
    let selection = Selection::parse(&boards.on)?;
    let inventory = Inventory::read(&boards.inventory)?;
    Ok(selection.boards(&inventory)?.into_iter().cloned().collect())
}

/// How boards are reached.
fn ssh(reached: &Reached) -> Ssh {
    Ssh {
        config: reached.ssh_config.clone(),
        patience: Duration::from_secs(reached.patience.get()),
    }
}

/// Releases the place of a board whose run is over, if it was acquired for the run. A failure is
/// printed and doesn't affect the run.
fn let_go(board: &Board, record: &mut Record) {
    let Some(name) = board.place.as_deref().filter(|_| record.holds_place) else {
        return;
    };
    record.holds_place = false;
    if let Err(why) = place::release(name) {
        tell_line(&format!("wakepath-fleet: {}: {why}", board.name));
    }
}

/// The controller's clock, in seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
