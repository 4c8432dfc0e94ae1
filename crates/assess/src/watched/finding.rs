//! Findings about the way in which a watched thread waits, which no setting of the machine fixes.

mod detect;
mod display;
mod passed;

use super::waking::WakerKind;
use serde::{Deserialize, Serialize};
use wakepath_archive::{SegmentRecord, ThreadRecord};
use wakepath_explain::fix;

/// A finding. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// It sleeps for a time after its work, so that its period is longer than that time.
    SleepsFor {
        /// Time that it asks for.
        asked_ns: u64,
        /// From its wake-up to its next request, on average.
        work_ns: u64,
        /// Wake-up latency, on average.
        latency_ns: u64,
        /// Between two turns, on average.
        interval_ns: u64,
        /// Whether that is the time-out of a wait for any event, as an event loop's is.
        is_time_out: bool,
    },
    /// It sleeps until times of a clock that is set while it runs, or for what is left until one.
    WallClock {
        /// Whether its timers are on another clock: it computes how long to sleep.
        computes: bool,
        /// Between how many turns it slept for longer than one and a half periods.
        gaps: u64,
        /// The longest of those.
        longest_ns: u64,
        /// By how much the clock was set, each time that was seen.
        steps_ns: Vec<i64>,
    },
    /// Its executor of ROS 2 waits until times of a clock that was set while it ran.
    ExecutorClock {
        /// Between how many turns it slept for longer than one and a half periods.
        gaps: u64,
        /// The longest of those.
        longest_ns: u64,
        /// By how much the clock was set, each time that was seen.
        steps_ns: Vec<i64>,
    },
    /// It asked for an instant later than the next due time, although it was in time for that.
    AskedForLater {
        /// How often.
        times: u64,
        /// From the due time before to the one that it asked for, at most.
        longest_ns: u64,
    },
    /// Its program's cycles run in any of several threads, whichever is idle when one is due.
    Moves {
        /// How many, itself included.
        threads: usize,
        /// Period of the cycles of all together, and how many were due; `None` if they have none.
        together: Option<Together>,
    },
    /// Signals ended its sleeps before their time, and it did not sleep on.
    SleepCut {
        /// Who sent them.
        sender: String,
        /// How many.
        times: u64,
        /// How long before the due time it was woken, at most.
        early_ns: u64,
    },
    /// It ran cycles at once that were due already.
    CaughtUp {
        /// How many.
        times: u64,
        /// How late it asked for one, at most.
        longest_ns: u64,
    },
    /// It did not run while due times passed, and then used as much CPU time as cycles for all of them take: it
    /// ran them late, at once.
    RanPassed {
        /// Turns that show it.
        turns: u64,
        /// Due times that passed in those.
        dues: u64,
    },
    /// It did not run while due times passed, and then used no more CPU time than for one cycle: it left them
    /// out.
    LeftOut {
        /// Turns that show it.
        turns: u64,
        /// Due times that passed in those.
        dues: u64,
    },
    /// In each cycle it waits for something else than its timer.
    WaitsInCycle {
        /// The system call that it waits in.
        call: String,
        /// What usually ends these waits.
        waker: String,
        /// Its kind.
        ended_by: WaitEnds,
        /// How long one wait takes, on average over those that were seen.
        wait_ns: u64,
        /// How many were seen.
        times: u64,
        /// In how many cycles.
        cycles: u64,
        /// Whether most of its cycles are already due when it requests them: its wait sets its period.
        sets_period: bool,
    },
    /// In its cycles it starts threads or processes, which do the work.
    StartsOthers {
        /// In how many cycles.
        times: u64,
        /// Of so many.
        cycles: u64,
    },
    /// It also wakes to sort its timers.
    TimerWheel,
    /// What wakes it was late, not the thread.
    WokenLate {
        /// What usually wakes it.
        waker: String,
        /// Its kind.
        by: WakerKind,
        /// How often it came later than one and a half periods after the one before.
        times: u64,
        /// The longest time between two.
        longest_ns: u64,
        /// The longest from a wake-up to the thread's running.
        latency_ns: u64,
    },
}

/// What ends waits of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitEnds {
    /// A thread.
    Thread,
    /// The network's reception.
    Network,
    /// The same, with what TCP had held back until a delayed acknowledgement.
    DelayedAck,
    /// Something else in the kernel, which may be a device's driver.
    Kernel,
}

/// Cycles that run in any of several threads. Times are nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Together {
    /// Their period.
    pub period_ns: u64,
    /// Due times.
    pub dues: u64,
    /// At how many of these an earlier cycle still ran, or no timer woke a thread.
    pub unclear: u64,
}

impl Finding {
    /// Those that a run has recorded, each with the name of its thread.
    pub(crate) fn recorded(segments: &[SegmentRecord]) -> Vec<(String, Self)> {
        let threads = segments.iter().flat_map(|segment| &segment.threads);
        let found = threads.flat_map(|thread| {
            let found = Self::of_thread(thread).into_iter();
            found.map(|finding| (thread.name.clone(), finding))
        });
        found.collect()
    }

    /// Those that a run has recorded of a thread.
    pub(crate) fn of_thread(thread: &ThreadRecord) -> Vec<Self> {
        let found = thread.effective.details.get("findings").cloned();
        // Those of a later version may be of kinds that this one does not know.
        found
            .and_then(|found| serde_json::from_value(found).ok())
            .unwrap_or_default()
    }

    /// The time that it costs in all, in nanoseconds, of a thread with this number of cycles.
    pub fn lost_ns(&self, cycles: u64) -> u64 {
        let times = match self {
            Self::SleepsFor { .. } => cycles,
            Self::WallClock { gaps, .. } | Self::ExecutorClock { gaps, .. } => *gaps,
            Self::AskedForLater { times, .. }
            | Self::SleepCut { times, .. }
            | Self::CaughtUp { times, .. }
            | Self::WaitsInCycle { times, .. }
            | Self::WokenLate { times, .. } => *times,
            Self::Moves { .. }
            | Self::StartsOthers { .. }
            | Self::TimerWheel
            | Self::RanPassed { .. }
            | Self::LeftOut { .. } => 0,
        };
        self.size_ns().saturating_mul(times)
    }

    /// The time that it costs a cycle at worst, in nanoseconds.
    pub fn size_ns(&self) -> u64 {
        match self {
            Self::Moves { .. }
            | Self::StartsOthers { .. }
            | Self::TimerWheel
            | Self::RanPassed { .. }
            | Self::LeftOut { .. } => 0,
            Self::SleepsFor {
                work_ns,
                latency_ns,
                ..
            } => work_ns + latency_ns,
            Self::SleepCut { early_ns, .. } => *early_ns,
            Self::WaitsInCycle { wait_ns, .. } => *wait_ns,
            Self::WokenLate { longest_ns, .. }
            | Self::CaughtUp { longest_ns, .. }
            | Self::AskedForLater { longest_ns, .. }
            | Self::WallClock { longest_ns, .. }
            | Self::ExecutorClock { longest_ns, .. } => *longest_ns,
        }
    }

    /// Whether it is about the executor that a thread runs.
    pub(super) fn is_of_executor(&self) -> bool {
        matches!(self, Self::ExecutorClock { .. })
    }

    /// Whether it rests on there being no event of other cycles: where events are missing, those may have run.
    pub(super) fn needs_all_events(&self) -> bool {
        matches!(
            self,
            Self::AskedForLater { .. }
                | Self::CaughtUp { .. }
                | Self::RanPassed { .. }
                | Self::LeftOut { .. }
        )
    }

    /// The finding and its fix, in one line.
    pub fn with_fix(&self) -> String {
        match self.fix() {
            Some(fix) => format!("{self} → {fix}"),
            None => self.to_string(),
        }
    }

    /// The fix, if there is one.
    pub fn fix(&self) -> Option<&'static str> {
        let row = match self {
            Self::SleepsFor {
                is_time_out: true, ..
            } => &fix::TIME_OUT_FROM_DUE_TIME,
            Self::SleepsFor { .. } => &fix::ABSOLUTE_SLEEP,
            Self::WallClock { .. } => &fix::MONOTONIC_CLOCK,
            Self::ExecutorClock { .. } => &fix::NO_CLOCK_STEPS,
            Self::WokenLate {
                by: WakerKind::Thread | WakerKind::Threads,
                ..
            } => &fix::WATCH_WAKER,
            Self::WokenLate { .. } => &fix::WATCH_SENDER,
            Self::WaitsInCycle { call, ended_by, .. } => match ended_by {
                WaitEnds::DelayedAck => &fix::NO_DELAY,
                WaitEnds::Kernel if ["read", "readv", "ioctl"].contains(&&**call) => {
                    &fix::ASK_DEVICE_AHEAD
                }
                WaitEnds::Thread if call.starts_with("futex") => &fix::LOCK_IN_EACH_CYCLE,
                _ => &fix::ASK_AHEAD,
            },
            Self::SleepCut { .. } => &fix::SLEEP_AGAIN,
            Self::StartsOthers { .. } => &fix::ONE_TIMER_THREAD,
            Self::AskedForLater { .. }
            | Self::Moves { .. }
            | Self::TimerWheel
            | Self::CaughtUp { .. }
            | Self::RanPassed { .. }
            | Self::LeftOut { .. } => return None,
        };
        Some(row.words)
    }
}

#[cfg(test)]
mod tests;
