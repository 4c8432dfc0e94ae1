//! Ways in which the samples of a segment contradict themselves, found sample by sample. Any of them
//! makes the verdict invalid: numbers from a broken recording are worse than none.

use serde::{Deserialize, Serialize};
use wakepath_timeline::{DueTimes, Sample};

/// The first contradiction found in the samples of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
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

/// Looks at the samples of one segment of one thread, in order, warm-up included.
#[derive(Debug, Clone)]
pub struct Consistency {
    due: DueTimes,
    first_judged_cycle: u64,
    /// Cycle and end of the last sample that contradicts nothing.
    before: Option<(u64, u64)>,
}

impl Consistency {
    /// Before the first sample. `due` says when the segment's cycles were due, `first_judged_cycle`
    /// which is the first after the warm-up.
    pub fn new(due: DueTimes, first_judged_cycle: u64) -> Self {
        Self {
            due,
            first_judged_cycle,
            before: None,
        }
    }

    /// The due times are these from the next sample on.
    pub(crate) fn is_due(&mut self, due: DueTimes) {
        self.due = due;
    }

    /// Looks at the next sample.
    ///
    /// # Errors
    /// How it contradicts itself or those before it. The next one is held against those before.
    pub fn next(&mut self, sample: &Sample) -> Result<(), Inconsistency> {
        let cycle = sample.cycle;
        if let Some((previous, end_ns)) = self.before {
            if cycle <= previous {
                return Err(Inconsistency::CycleNotIncreasing { previous, cycle });
            }
            if sample.wake_ns < end_ns {
                let overlap_ns = end_ns - sample.wake_ns;
                return Err(Inconsistency::WokeBeforePreviousEnd { cycle, overlap_ns });
            }
        }
        if sample.end_ns < sample.wake_ns {
            let by_ns = sample.wake_ns - sample.end_ns;
            return Err(Inconsistency::EndedBeforeWake { cycle, by_ns });
        }
        if sample.due_ns != self.due.due_ns(cycle) {
            let (recorded_ns, due_ns) = (sample.due_ns, self.due.due_ns(cycle));
            return Err(Inconsistency::DueTimeMoved {
                cycle,
                recorded_ns,
                due_ns,
            });
        }
        if sample.is_warm_up() && cycle >= self.first_judged_cycle {
            return Err(Inconsistency::WarmUpInsideWindow {
                cycle,
                first_judged_cycle: self.first_judged_cycle,
            });
        }
        self.before = Some((cycle, sample.end_ns));
        Ok(())
    }
}
