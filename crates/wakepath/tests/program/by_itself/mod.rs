//! The whole command with loops that must have their CPU for themselves, or that take it for long: two of
//! these at a time disturb each other, so they take turns, also where several tests run at a time.

pub mod chain;
pub mod cures;
pub mod disturbed;
pub mod full_disk;
pub mod guard;
pub mod halted;
pub mod inversion;
pub mod late_within;
pub mod stalls;
pub mod tries;
pub mod workers;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// This test's turn, until it is dropped.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
