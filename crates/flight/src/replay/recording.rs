//! Requirements on a recording to be replayed, with a one-line error.

use wakepath_timeline::Sample;

/// Why a recording can't be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Nothing to replay.
    #[error("the recording holds no cycle after its warm-up; a replay needs at least one")]
    Empty,
    /// Period 0.
    #[error("the loop's period is 0 ns; it must be above 0")]
    NoPeriod,
    /// No times for individual cycles, as in a histogram.
    #[error(
        "cycle {cycle} has no sample instant; a replay needs every cycle's due, wake and end \
         times, which a histogram doesn't hold"
    )]
    NoSampleInstant {
        /// Its number.
        cycle: u64,
    },
    /// An end before the wake-up.
    #[error("cycle {cycle} ends {by_ns} ns before it wakes; its end must not be earlier")]
    EndsBeforeWake {
        /// Its number.
        cycle: u64,
        /// By how much, ns.
        by_ns: u64,
    },
    /// Cycles out of order or on top of each other.
    #[error("cycle {cycle} comes after cycle {before} in the recording; numbers must rise")]
    OutOfOrder {
        /// Its number.
        cycle: u64,
        /// The number before it.
        before: u64,
    },
    /// A cycle that begins before the one before it ended.
    #[error(
        "cycle {cycle} wakes {by_ns} ns before the cycle before it ended; one loop, one cycle at a time"
    )]
    Overlap {
        /// Its number.
        cycle: u64,
        /// By how much, ns.
        by_ns: u64,
    },
    /// A due time that isn't a whole number of periods after the first.
    #[error(
        "cycle {cycle} is due at {due_ns} ns, which doesn't fit a period of {period_ns} ns from \
         the first cycle on"
    )]
    NotPeriodic {
        /// Its number.
        cycle: u64,
        /// Its due time, ns.
        due_ns: u64,
        /// The period, ns.
        period_ns: u64,
    },
    /// More due times than can be replayed.
    #[error("the recording spans {due_times} due times; a replay takes at most {limit}")]
    TooLong {
        /// Number of due times.
        due_times: u64,
        /// Largest number taken.
        limit: u64,
    },
}

/// The recording without its warm-up, checked.
pub(super) fn check(samples: &[Sample], period_ns: u64) -> Result<Vec<Sample>, ScheduleError> {
    if period_ns == 0 {
        return Err(ScheduleError::NoPeriod);
    }
    let recorded: Vec<Sample> = samples
        .iter()
        .copied()
        .filter(|s| !s.is_warm_up())
        .collect();
    let first = *recorded.first().ok_or(ScheduleError::Empty)?;
    let mut before: Option<Sample> = None;
    for sample in &recorded {
        let Sample {
            cycle,
            due_ns,
            wake_ns,
            end_ns,
            ..
        } = *sample;
        if wake_ns == 0 || end_ns == 0 {
            return Err(ScheduleError::NoSampleInstant { cycle });
        }
        if end_ns < wake_ns {
            return Err(ScheduleError::EndsBeforeWake {
                cycle,
                by_ns: wake_ns - end_ns,
            });
        }
        if let Some(before) = before {
            if cycle <= before.cycle {
                return Err(ScheduleError::OutOfOrder {
                    cycle,
                    before: before.cycle,
                });
            }
            if wake_ns < before.end_ns {
                return Err(ScheduleError::Overlap {
                    cycle,
                    by_ns: before.end_ns - wake_ns,
                });
            }
        }
        let expected = (cycle - first.cycle)
            .checked_mul(period_ns)
            .and_then(|after| first.due_ns.checked_add(after));
        if expected != Some(due_ns) {
            return Err(ScheduleError::NotPeriodic {
                cycle,
                due_ns,
                period_ns,
            });
        }
        before = Some(*sample);
    }
    Ok(recorded)
}
