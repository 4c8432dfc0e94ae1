//! Ways in which the samples of a segment contradict themselves. Any of them makes the verdict
//! invalid: numbers from a broken recording are worse than none.

use serde::Serialize;

/// The first contradiction found in the samples of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Inconsistency {
    /// A cycle number occurs twice or goes backwards.
    #[error("cycle {cycle} follows cycle {previous}: cycle numbers must increase")]
    CycleNotIncreasing {
        /// The cycle before.
        previous: u64,
        /// The offending cycle.
        cycle: u64,
    },
    /// A cycle woke before the one before it had ended.
    #[error("cycle {cycle} woke {overlap_ns} ns before the end of the cycle before it")]
    WokeBeforePreviousEnd {
        /// The offending cycle.
        cycle: u64,
        /// By how much, in nanoseconds.
        overlap_ns: u64,
    },
    /// A cycle ended before it woke.
    #[error("cycle {cycle} ended {by_ns} ns before it woke")]
    EndedBeforeWake {
        /// The offending cycle.
        cycle: u64,
        /// By how much, in nanoseconds.
        by_ns: u64,
    },
    /// The recorded due time isn't start + cycle · period.
    #[error("cycle {cycle} is recorded as due at {recorded_ns} ns but was due at {due_ns} ns")]
    DueTimeMoved {
        /// The offending cycle.
        cycle: u64,
        /// As recorded, on `CLOCK_MONOTONIC`.
        recorded_ns: u64,
        /// As it follows from the segment's start and period.
        due_ns: u64,
    },
    /// A cycle inside the judged window is marked as warm-up.
    #[error("cycle {cycle} is marked as warm-up, but judging starts at cycle {first_judged_cycle}")]
    WarmUpInsideWindow {
        /// The offending cycle.
        cycle: u64,
        /// First cycle of the judged window.
        first_judged_cycle: u64,
    },
    /// The judged window ends before it starts, or holds more due times than a segment can.
    #[error("the judged window from cycle {first_judged_cycle} to {end_cycle} is impossible")]
    ImpossibleWindow {
        /// First cycle of the judged window.
        first_judged_cycle: u64,
        /// One past its last cycle.
        end_cycle: u64,
    },
}
