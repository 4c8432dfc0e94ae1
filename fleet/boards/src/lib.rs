//! Boards of a fleet: their inventory, and work on them through the system's OpenSSH.
//!
//! No daemon runs on a board, and no secret passes here: OpenSSH handles keys and agents. It judges
//! no samples and holds no archive.

mod answer;
mod every;
mod fetch;
pub mod inventory;
mod job;
mod judge;
mod judged;
mod look;
pub mod place;
mod program;
mod push;
mod reboot;
mod schedule;
mod selection;
mod ssh;
mod start;
mod tune;

pub use answer::{Clocks, Hello};
pub use every::each;
pub use fetch::{FetchError, Terms, fetch};
pub use inventory::{Board, Inventory, InventoryError};
pub use job::{Journal, JournalError, Outcome, Record, Stage};
pub use look::look;
pub use program::{Machine, Program, ProgramError};
pub use push::{Pushed, SCRIPT, hello, push};
pub use reboot::{Boot, Rebooted, reboot};
pub use schedule::{DAYS_BACK, Schedule};
pub use selection::{Selection, SelectionError};
pub use ssh::{CallError, Ssh};
pub use start::{Scenario, start};
pub use tune::{Tuned, is_plain, tune};
