//! The judged part of a segment, and what a due time without a sample means in it.

use crate::Inconsistency;
use serde::{Deserialize, Serialize};
use wakepath_timeline::DueTimes;

/// More due times than this in one segment, or between two cycles (50 days at 1 kHz), are a broken
/// recording.
const MOST_DUE_TIMES: u64 = 1 << 32;

/// The part of one segment of one thread that is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct JudgedWindow {
    /// When the segment's cycles were due.
    pub due: DueTimes,
    /// First cycle after the warm-up.
    pub first_judged_cycle: u64,
    /// One past the last cycle that was to be served, whether or not the loop lived that long: a
    /// loop that died leaves its missing due times skipped. If the user ended the run, the
    /// cycle that was due when they did.
    pub end_cycle: u64,
    /// Which of the loop's threads, from 0.
    pub thread: u32,
    /// Samples of it that were lost on the way to the recording.
    pub lost: u64,
    /// Meaning of a due time without a sample.
    pub gaps: Gaps,
}

/// Meaning of a due time without a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gaps {
    /// No cycle ran: the loop records each of its cycles.
    #[default]
    Skipped,
    /// No cycle ran, unless the due time passed while the cycle before it ran. Kernel events show a
    /// cycle by its wake-up, and a loop that catches up runs without one.
    UnseenWhileRunning,
    /// The same, and the CPU time of the next one shows that it caught up: each of these cycles ran, late.
    RanAfterwards,
    /// Nothing: the due times themselves are an assumption.
    Unseen,
}

impl JudgedWindow {
    /// Whether there can be such a window.
    ///
    /// # Errors
    /// [`Inconsistency::ImpossibleWindow`] if it ends before it starts, or holds more due times than
    /// a segment can.
    pub fn check(&self) -> Result<(), Inconsistency> {
        possible(self.first_judged_cycle, self.end_cycle)
    }
}

/// [`JudgedWindow::check`] for a part of a window.
pub(crate) fn possible(first_judged_cycle: u64, end_cycle: u64) -> Result<(), Inconsistency> {
    let count = end_cycle.checked_sub(first_judged_cycle);
    if count.is_some_and(|count| count <= MOST_DUE_TIMES) {
        Ok(())
    } else {
        Err(Inconsistency::ImpossibleWindow {
            first_judged_cycle,
            end_cycle,
        })
    }
}
