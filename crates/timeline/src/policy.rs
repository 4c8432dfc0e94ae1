//! Scheduling policies, each with its own parameter and no other, and the other choices that
//! decide how a loop waits. Types only: setting and reading them back is the loop library's work.

use crate::duration::exact_ascii;
use crate::{LitmusPlugin, LitmusTask};
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
        /// Relative deadline for the runtime, in nanoseconds.
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
    /// LITMUS^RT's P-FP: fixed priorities, on one CPU.
    LitmusPFp {
        /// 1 (highest) to 511.
        priority: u16,
        /// The CPU; `None`: the one to which the loop is pinned.
        partition: Option<u16>,
        /// Its jobs.
        task: LitmusTask,
    },
    /// LITMUS^RT's PSN-EDF: earliest deadline first, on one CPU.
    LitmusPsnEdf {
        /// The CPU; `None`: the one to which the loop is pinned.
        partition: Option<u16>,
        /// Its jobs.
        task: LitmusTask,
    },
    /// LITMUS^RT's GSN-EDF: earliest deadline first, on all CPUs.
    LitmusGsnEdf {
        /// Its jobs.
        task: LitmusTask,
    },
    /// LITMUS^RT's C-EDF: earliest deadline first, on the CPUs of a cluster.
    LitmusCEdf {
        /// A CPU of the cluster; `None`: the one to which the loop is pinned.
        partition: Option<u16>,
        /// Its jobs.
        task: LitmusTask,
    },
}

impl Policy {
    /// Whether it is a policy of a real-time core, whether the core runs alongside Linux's own
    /// scheduler or replaces it.
    pub fn is_of_a_core(&self) -> bool {
        self.is_of_a_co_kernel() || self.of_litmus().is_some()
    }

    /// Whether it belongs to a core whose threads can switch into Linux, and whose timers expire
    /// early.
    pub fn is_of_a_co_kernel(&self) -> bool {
        matches!(self, Self::EvlFifo { .. } | Self::CobaltFifo { .. })
    }

    /// The plugin of LITMUS^RT that it is of, and its jobs; `None` for all others.
    pub fn of_litmus(&self) -> Option<(LitmusPlugin, LitmusTask)> {
        match *self {
            Self::LitmusPFp { task, .. } => Some((LitmusPlugin::PFp, task)),
            Self::LitmusPsnEdf { task, .. } => Some((LitmusPlugin::PsnEdf, task)),
            Self::LitmusGsnEdf { task } => Some((LitmusPlugin::GsnEdf, task)),
            Self::LitmusCEdf { task, .. } => Some((LitmusPlugin::CEdf, task)),
            _ => None,
        }
    }

    /// The CPU that a policy of LITMUS^RT names for itself.
    pub fn litmus_partition(&self) -> Option<u16> {
        match *self {
            Self::LitmusPFp { partition, .. }
            | Self::LitmusPsnEdf { partition, .. }
            | Self::LitmusCEdf { partition, .. } => partition,
            _ => None,
        }
    }

    /// The same for a loop of this period, in nanoseconds: fills in what a policy of LITMUS^RT
    /// leaves open.
    #[must_use]
    pub fn of_a_loop(mut self, period_ns: u64) -> Self {
        if let Self::LitmusPFp { task, .. }
        | Self::LitmusPsnEdf { task, .. }
        | Self::LitmusGsnEdf { task }
        | Self::LitmusCEdf { task, .. } = &mut self
        {
            *task = task.of_a_loop(period_ns);
        }
        self
    }

    /// Linux's own policy for such a thread: the policy itself, except for a core's. LITMUS^RT
    /// schedules its threads alone; Linux had them as OTHER before.
    #[must_use]
    pub fn in_linux(self) -> Self {
        match self {
            Self::EvlFifo { priority } | Self::CobaltFifo { priority } => Self::Fifo { priority },
            litmus if litmus.of_litmus().is_some() => Self::Other { nice: 0 },
            own => own,
        }
    }

    /// The nearest of Linux's own policies: the policy itself, except for a core's.
    #[must_use]
    pub fn nearest_in_linux(self) -> Self {
        match (self, self.of_litmus()) {
            // Its highest priority is 1.
            (Self::LitmusPFp { priority, .. }, _) => Self::Fifo {
                priority: 99 - priority.saturating_sub(1).min(98) as u8,
            },
            (_, Some((_, task))) => match (task.budget_ns, task.period_ns) {
                (Some(runtime_ns), Some(period_ns)) => Self::Deadline {
                    runtime_ns,
                    deadline_ns: task.deadline_ns.unwrap_or(period_ns),
                    period_ns,
                },
                _ => Self::Fifo { priority: 50 },
            },
            (own, None) => own.in_linux(),
        }
    }

    /// Whether the kernel ignores timer slack for it: FIFO, RR, DEADLINE and those of a core.
    pub fn is_real_time(&self) -> bool {
        matches!(
            self,
            Self::Fifo { .. } | Self::RoundRobin { .. } | Self::Deadline { .. }
        ) || self.is_of_a_core()
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
            other => other.litmus_text(true).unwrap_or_else(|| other.to_string()),
        }
    }

    /// `LITMUS P-FP 10, partition 1, budget 400 µs`.
    fn litmus_text(&self, ascii: bool) -> Option<String> {
        let (plugin, task) = self.of_litmus()?;
        let mut text = format!("LITMUS {plugin}");
        if let Self::LitmusPFp { priority, .. } = self {
            text += &format!(" {priority}");
        }
        if let Some(cpu) = self.litmus_partition() {
            text += &format!(", partition {cpu}");
        }
        Some(text + &task.told(ascii))
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
                // A deadline equal to the period is the default.
                if deadline_ns == period_ns {
                    Ok(())
                } else {
                    write!(f, "/{} µs/{} µs", micros(deadline_ns), micros(period_ns))
                }
            }
            Self::LitmusPFp { .. }
            | Self::LitmusPsnEdf { .. }
            | Self::LitmusGsnEdf { .. }
            | Self::LitmusCEdf { .. } => f.write_str(&self.litmus_text(false).unwrap_or_default()),
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

/// Behaviour of a loop when a cycle's work runs into the next due time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Overrun {
    /// Continue at the next due time in the future; the due times passed by then are skipped
    /// periods.
    #[default]
    Skip,
    /// Run the missed cycles at once, one after the other, until the loop has caught up.
    CatchUp,
    /// End the loop at the first overrun.
    Stop,
}

impl fmt::Display for Overrun {
    /// The word in a scenario.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Skip => "skip",
            Self::CatchUp => "catch-up",
            Self::Stop => "stop",
        })
    }
}

impl Overrun {
    /// The one that a scenario calls so.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Skip, Self::CatchUp, Self::Stop]
            .into_iter()
            .find(|of| of.to_string() == word)
    }
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
        let first = Policy::LitmusPFp {
            priority: 10,
            partition: Some(1),
            task: LitmusTask {
                budget_ns: Some(400_000),
                release: crate::JobRelease::Sleep,
                ..LitmusTask::default()
            },
        };
        let told = "LITMUS P-FP 10, partition 1, budget 400 µs, release sleep";
        assert_eq!(first.to_string(), told);
        assert_eq!(first.in_full(), told.replace("µs", "us"));
        let all = Policy::LitmusGsnEdf {
            task: LitmusTask::default(),
        };
        assert_eq!(all.to_string(), "LITMUS GSN-EDF");
        assert_eq!(deadline(4_000_000).to_string(), "DEADLINE 400 µs");
        assert_eq!(
            deadline(2_000_000).to_string(),
            "DEADLINE 400 µs/2000 µs/4000 µs"
        );
        assert_eq!(deadline(4_000_000).in_full(), "DEADLINE 400 us/4 ms/4 ms");
    }

    #[test]
    fn each_policy_of_litmus_has_one_of_linux_that_comes_nearest() {
        let priority = |priority| Policy::LitmusPFp {
            priority,
            partition: None,
            task: LitmusTask::default(),
        };
        assert_eq!(
            priority(1).nearest_in_linux(),
            Policy::Fifo { priority: 99 }
        );
        assert_eq!(
            priority(511).nearest_in_linux(),
            Policy::Fifo { priority: 1 }
        );
        let edf = Policy::LitmusGsnEdf {
            task: LitmusTask::default(),
        };
        assert_eq!(edf.nearest_in_linux(), Policy::Fifo { priority: 50 });
        assert_eq!(edf.in_linux(), Policy::Other { nice: 0 });
        let reserved = edf.of_a_loop(4_000_000).nearest_in_linux();
        assert_eq!(
            reserved,
            Policy::Deadline {
                runtime_ns: 4_000_000,
                deadline_ns: 4_000_000,
                period_ns: 4_000_000
            }
        );
        assert!(edf.is_of_a_core() && edf.is_real_time());
    }
}
