//! Scheduling policies, each with its own parameter and no other, and the other choices that
//! decide how a loop waits. Types only: setting and reading them back is the loop library's work.

use crate::duration::exact_ascii;
use std::fmt;

/// A Linux scheduling policy with the parameters that belong to it. A deadline loop can't carry a
/// FIFO priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "policy", rename_all = "kebab-case"))]
pub enum Policy {
    /// `SCHED_OTHER`, the default time-sharing policy.
    Other {
        /// −20 (most favoured) to 19.
        nice: i8,
    },
    /// `SCHED_BATCH`.
    Batch {
        /// −20 (most favoured) to 19.
        nice: i8,
    },
    /// `SCHED_IDLE`.
    Idle,
    /// `SCHED_FIFO`.
    Fifo {
        /// 1 (lowest) to 99.
        priority: u8,
    },
    /// `SCHED_RR`.
    RoundRobin {
        /// 1 (lowest) to 99.
        priority: u8,
    },
    /// `SCHED_DEADLINE`. Deadline and period are nanoseconds, like the runtime.
    Deadline {
        /// CPU time reserved in each period, in nanoseconds.
        runtime_ns: u64,
        /// Relative deadline by which the runtime is given, in nanoseconds.
        deadline_ns: u64,
        /// Period of the reservation, in nanoseconds.
        period_ns: u64,
    },
    /// `SCHED_FIFO` on EVL, the core of Xenomai 4; in Linux the thread has `SCHED_FIFO` at the same priority.
    EvlFifo {
        /// 1 (lowest) to 99.
        priority: u8,
    },
    /// `SCHED_FIFO` on Cobalt, the core of Xenomai 3; in Linux the thread has `SCHED_FIFO` at the same priority.
    CobaltFifo {
        /// 1 (lowest) to 99.
        priority: u8,
    },
}

impl Policy {
    /// Whether it is one of a real-time core beside Linux's own scheduler, whose timers expire early and
    /// whose threads may switch into Linux.
    pub fn is_of_a_core(&self) -> bool {
        matches!(self, Self::EvlFifo { .. } | Self::CobaltFifo { .. })
    }

    /// The policy that Linux itself has for such a thread: its own, but for one of a core.
    #[must_use]
    pub fn in_linux(self) -> Self {
        match self {
            Self::EvlFifo { priority } | Self::CobaltFifo { priority } => Self::Fifo { priority },
            own => own,
        }
    }

    /// Whether the kernel ignores timer slack for it: FIFO, RR, DEADLINE and those of a core.
    pub fn is_real_time(&self) -> bool {
        matches!(
            self,
            Self::Fifo { .. }
                | Self::RoundRobin { .. }
                | Self::Deadline { .. }
                | Self::EvlFifo { .. }
                | Self::CobaltFifo { .. }
        )
    }

    /// With all of its parameters, exactly and in ASCII, for a file that is read back without
    /// knowing the loop's period: `DEADLINE 400 us/4 ms/4 ms`.
    pub fn in_full(&self) -> String {
        match self {
            Self::Deadline {
                runtime_ns,
                deadline_ns,
                period_ns,
            } => {
                let [runtime, deadline, period] =
                    [runtime_ns, deadline_ns, period_ns].map(|ns| exact_ascii(*ns));
                format!("DEADLINE {runtime}/{deadline}/{period}")
            }
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Other { nice } => write!(f, "OTHER nice {nice}"),
            Self::Batch { nice } => write!(f, "BATCH nice {nice}"),
            Self::Idle => write!(f, "IDLE"),
            Self::Fifo { priority } => write!(f, "FIFO {priority}"),
            Self::RoundRobin { priority } => write!(f, "RR {priority}"),
            Self::EvlFifo { priority } => write!(f, "EVL FIFO {priority}"),
            Self::CobaltFifo { priority } => write!(f, "COBALT FIFO {priority}"),
            Self::Deadline {
                runtime_ns,
                deadline_ns,
                period_ns,
            } => {
                let micros = |ns: &u64| *ns as f64 / 1_000.0;
                write!(f, "DEADLINE {} µs", micros(runtime_ns))?;
                // A deadline of one period goes without saying.
                match deadline_ns == period_ns {
                    true => Ok(()),
                    false => write!(f, "/{} µs/{} µs", micros(deadline_ns), micros(period_ns)),
                }
            }
        }
    }
}

/// How the loop is woken at its due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum WakeUp {
    /// `clock_nanosleep` to an absolute time.
    #[default]
    ClockNanosleep,
    /// `read` on a `timerfd` armed at an absolute time.
    Timerfd,
    /// A futex that another thread of the same policy wakes at the due time.
    Futex,
}

/// What a loop does when a cycle's work runs into the next due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Overrun {
    /// Go on at the next due time in the future; the due times passed meanwhile are skipped
    /// periods.
    #[default]
    Skip,
    /// Run the missed cycles at once, one after the other, until the loop has caught up.
    CatchUp,
    /// End the loop at the first overrun.
    Stop,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_called_as_a_scenario_names_it() {
        let deadline = |deadline_ns| Policy::Deadline {
            runtime_ns: 400_000,
            deadline_ns,
            period_ns: 4_000_000,
        };
        for (policy, text) in [
            (Policy::Other { nice: -19 }, "OTHER nice -19"),
            (Policy::Batch { nice: 5 }, "BATCH nice 5"),
            (Policy::Idle, "IDLE"),
            (Policy::Fifo { priority: 80 }, "FIFO 80"),
            (Policy::RoundRobin { priority: 1 }, "RR 1"),
            (Policy::EvlFifo { priority: 80 }, "EVL FIFO 80"),
            (Policy::CobaltFifo { priority: 80 }, "COBALT FIFO 80"),
        ] {
            assert_eq!(
                (policy.to_string(), policy.in_full()),
                (text.into(), text.into())
            );
        }
        assert_eq!(deadline(4_000_000).to_string(), "DEADLINE 400 µs");
        assert_eq!(
            deadline(2_000_000).to_string(),
            "DEADLINE 400 µs/2000 µs/4000 µs"
        );
        assert_eq!(deadline(4_000_000).in_full(), "DEADLINE 400 us/4 ms/4 ms");
    }
}
