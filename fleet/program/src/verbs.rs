//! One file for each verb. A verb returns its exit code, or an error that is one line saying what
//! is wrong, where, and what would be right.

pub mod add;
mod archive;
pub mod authorize;
pub mod boards;
pub mod check;
pub mod fetch;
pub mod gc;
mod known;
pub mod push;
pub mod run;
pub mod status;

use crate::command_line::Reached;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wakepath_fleet_boards::Ssh;

/// What a verb ends with.
pub type Outcome = Result<ExitCode, Box<dyn std::error::Error>>;

/// How boards are reached.
fn ssh(reached: &Reached) -> Ssh {
    Ssh {
        config: reached.ssh_config.clone(),
        patience: Duration::from_secs(reached.patience.get()),
    }
}

/// The controller's clock, in seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
