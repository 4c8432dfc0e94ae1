//! The budgets of CPU time that the loops' threads can run out of, and the timers that fill them up again. Facts of
//! the machine show which budgets there are; the events show when one was used up.

use std::collections::VecDeque;
use wakepath_timeline::{Budget, KernelEvent, What};

/// Callbacks that fill up a group's CPU quota (`kernel/sched/fair.c`).
const QUOTA_TIMERS: [&str; 2] = ["sched_cfs_period_timer", "sched_cfs_slack_timer"];

/// Callback that fills up a reservation, a DEADLINE thread's or the fair server's (`kernel/sched/deadline.c`).
pub(crate) const RESERVATION_TIMER: &str = "dl_task_timer";

/// The longest period in which a quota can be granted (`max_bw_quota_period_us`, `kernel/sched/core.c`), in nanoseconds.
pub(crate) const LONGEST_QUOTA_PERIOD_NS: u64 = 1_000_000_000;

/// Refills that are kept: one in 100 ms by default, in a window of seconds.
const MOST_REFILLS: usize = 4096;

/// Budgets of the loops' threads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Budgets {
    /// The quota of a control group that stopped its ordinary threads while the events were recorded.
    pub quota: Option<Quota>,
    /// The budget that stops FIFO and RR threads; `None` if it is unknown which of several does.
    pub real_time: Option<Budget>,
}

/// A CPU quota that was used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// Whose.
    pub budget: Budget,
    /// Whether it was used up in at least half of its periods.
    pub is_usual: bool,
    /// CPU time in each period, in nanoseconds, if known.
    pub granted_ns: Option<u64>,
}

impl Quota {
    /// Whether a thread has used it up that ran for `ran_ns` since the last refill. Three quarters are enough: the kernel
    /// looks at ticks, and time run past the quota is missing in the next period.
    pub(crate) fn is_used_up(&self, ran_ns: u64) -> bool {
        self.granted_ns
            .is_some_and(|granted_ns| granted_ns > 0 && ran_ns >= granted_ns - granted_ns / 4)
    }
}

impl Budgets {
    /// The budget that a thread of this priority can run out of, on the kernel's own scale
    /// (`include/linux/sched/prio.h`).
    pub(crate) fn of_priority(&self, priority: i32) -> Option<&Budget> {
        match priority {
            ..0 => Some(&Budget::Reservation),
            0..100 => self.real_time.as_ref(),
            _ => self.quota.as_ref().map(|quota| &quota.budget),
        }
    }

    /// Whether a thread of this priority that is ready while its CPU idles must have been stopped by a budget: that
    /// of its group, which is known to be short.
    pub(crate) fn explains_idle(&self, priority: i32) -> bool {
        matches!(
            self.of_priority(priority),
            Some(Budget::CpuQuota { .. } | Budget::GroupRealTime { .. })
        )
    }
}

/// The instants at which budgets of one kind were filled up, on any CPU.
#[derive(Debug)]
pub(crate) struct Refills {
    timers: &'static [&'static str],
    at_ns: VecDeque<u64>,
}

impl Refills {
    /// Of control groups' quotas.
    pub(crate) fn of_quotas() -> Self {
        Self::by(&QUOTA_TIMERS)
    }

    /// Of DEADLINE threads' reservations.
    pub(crate) fn of_reservations() -> Self {
        Self::by(&[RESERVATION_TIMER])
    }

    fn by(timers: &'static [&'static str]) -> Self {
        let at_ns = VecDeque::new();
        Self { timers, at_ns }
    }

    pub(crate) fn event(&mut self, event: &KernelEvent) {
        if let What::TimerExpiryEntry { function, .. } = &event.what
            && self.timers.contains(&&**function)
        {
            if self.at_ns.len() == MOST_REFILLS {
                self.at_ns.pop_front();
            }
            self.at_ns.push_back(event.at_ns);
        }
    }

    /// The last one after an instant and up to another.
    pub(crate) fn last_in(&self, after_ns: u64, to_ns: u64) -> Option<u64> {
        let mut latest = self.at_ns.iter().rev().copied();
        latest
            .find(|&at_ns| at_ns <= to_ns)
            .filter(|&at_ns| at_ns > after_ns)
    }
}
