//! SCHED_DEADLINE as the kernel admits it: the parameters for a thread, and the kernel's own test of
//! utilization, computed as the kernel computes it. Admission proves no deadline.
//!
//! `__checkparam_dl`, `to_ratio`, `__dl_overflow` in kernel/sched (Linux 6.x).

use crate::task::{Arrivals, Server, Task};

/// The kernel's `BW_SHIFT`: bandwidths are counted in 2⁻²⁰ of a CPU.
pub const BANDWIDTH_BITS: u32 = 20;
/// The shortest runtime that the kernel takes, in nanoseconds (`1 << DL_SCALE`).
pub const SHORTEST_RUNTIME_NS: u64 = 1 << 10;

/// A thread's request to the kernel, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// CPU time in each period: the execution with what overheads add, rounded up, or what the
    /// task says.
    pub runtime_ns: u64,
    /// From the wake-up: the deadline less the jitter, and before the next wake-up (see
    /// [`Parameters::new`]).
    pub deadline_ns: u64,
    /// From one budget to the next: the period less the jitter.
    pub period_ns: u64,
    /// Execution of a job with its overheads: with a shorter runtime it is throttled.
    pub needed_ns: u64,
}

impl Parameters {
    /// For a task whose jobs take `needed_ns` with their overheads, and whose wake-ups are late by at most
    /// `late_ns`: by the timer and other interrupts.
    ///
    /// The kernel accepts no deadline beyond the period (sched_setattr(2): runtime ≤ deadline ≤ period). A
    /// thread that wakes at its old deadline, to the nanosecond, or before, keeps the rest of its old
    /// budget if that is small (`dl_entity_overflow`, in units of 1024 ns), and runs it before all others.
    /// So the deadline precedes the end of the period by that and 1 ns.
    pub fn new(task: &Task, needed_ns: u64, late_ns: u64) -> Self {
        Self {
            runtime_ns: task.runtime_ns.unwrap_or(needed_ns).max(1),
            deadline_ns: seen(task, late_ns).deadline_ns,
            period_ns: task.closest_ns().saturating_sub(task.jitter_ns),
            needed_ns,
        }
    }

    /// Why the kernel would refuse these parameters alone.
    pub fn refused(&self, limit: &KernelLimit) -> Option<Refused> {
        if self.runtime_ns < SHORTEST_RUNTIME_NS {
            return Some(Refused::RuntimeTooShort);
        }
        if self.deadline_ns < self.runtime_ns {
            return Some(Refused::RuntimeBeyondDeadline);
        }
        if self.period_ns < limit.shortest_period_ns || self.period_ns > limit.longest_period_ns {
            return Some(Refused::Period);
        }
        None
    }

    /// As the kernel counts it: runtime / period in 2⁻²⁰, rounded down.
    pub fn bandwidth(&self) -> u64 {
        ratio(self.period_ns, self.runtime_ns)
    }
}

/// By how much the deadline lies before the period's end where the task's own does not.
pub(crate) fn before_the_next_ns(late_ns: u64) -> u64 {
    late_ns.saturating_add(1)
}

/// A task as the kernel sees it: its deadline counts from the wake-up, which lags by the jitter, so that
/// period and deadline are shorter by it; the deadline as in [`Parameters::new`].
pub(crate) fn seen(task: &Task, late_ns: u64) -> Task {
    let mut seen = Task {
        deadline_ns: task.deadline_ns.saturating_sub(task.jitter_ns),
        arrivals: closer(&task.arrivals, task.jitter_ns),
        jitter_ns: 0,
        ..task.clone()
    };
    let period_ns = task.closest_ns().saturating_sub(task.jitter_ns);
    let reservation = task.reservation.as_ref();
    let latest_ns = match reservation.map(|own| own.server) {
        // Its budgets begin at any wake-up: counted with all that it may keep.
        Some(Server::ConstantBandwidth) => period_ns,
        _ => period_ns.saturating_sub(before_the_next_ns(late_ns)),
    };
    seen.deadline_ns = seen.deadline_ns.min(latest_ns);
    seen
}

fn closer(arrivals: &Arrivals, by_ns: u64) -> Arrivals {
    match arrivals {
        Arrivals::Sporadic(period_ns) => Arrivals::Sporadic(period_ns.saturating_sub(by_ns).max(1)),
        Arrivals::Distances(list) => Arrivals::Distances(
            list.iter()
                .map(|distance| distance.saturating_sub(by_ns).max(1))
                .collect(),
        ),
    }
}

/// Why the kernel refuses a thread's parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// A runtime below 1024 ns.
    RuntimeTooShort,
    /// A runtime longer than the deadline.
    RuntimeBeyondDeadline,
    /// A period that the kernel doesn't take.
    Period,
}

/// Limits of the kernel's admission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelLimit {
    /// Real-time threads' CPU time in each `period_ns`, in nanoseconds; `None`: no limit
    /// (`sched_rt_runtime_us` is −1).
    pub runtime_ns: Option<u64>,
    /// `sched_rt_period_us`, in nanoseconds.
    pub period_ns: u64,
    /// The kernel's reservation on each CPU for ordinary threads (`fair_server`): runtime and period in
    /// nanoseconds; `None`: nothing, as before Linux 6.12.
    pub server: Option<(u64, u64)>,
    /// `sched_deadline_period_min_us`, in nanoseconds.
    pub shortest_period_ns: u64,
    /// `sched_deadline_period_max_us`, in nanoseconds.
    pub longest_period_ns: u64,
}

impl Default for KernelLimit {
    /// Linux's own: 950 ms of each second, periods from 100 µs to 2²² µs, no server.
    fn default() -> Self {
        Self {
            runtime_ns: Some(950_000_000),
            period_ns: 1_000_000_000,
            server: None,
            shortest_period_ns: 100_000,
            longest_period_ns: (1 << 22) * 1000,
        }
    }
}

/// The kernel's answer for one root domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// Bandwidth that the threads ask for and the kernel's servers have, in 2⁻²⁰ of a CPU.
    pub needed: u64,
    /// Bandwidth that is admitted, in 2⁻²⁰ of a CPU; `None`: no limit.
    pub limit: Option<u64>,
    /// Threads refused for their parameters alone: place among those asked about, and why.
    pub refused: Vec<(usize, Refused)>,
}

impl Admission {
    /// Whether the kernel takes all of them.
    pub fn admitted(&self) -> bool {
        self.refused.is_empty() && self.limit.is_none_or(|limit| self.needed <= limit)
    }
}

/// Whether the kernel admits these threads together in a root domain of `cpus` CPUs of full capacity.
pub fn admission(threads: &[Parameters], cpus: u16, limit: &KernelLimit) -> Admission {
    let servers = limit.server.map_or(0, |(runtime_ns, period_ns)| {
        ratio(period_ns, runtime_ns).saturating_mul(u64::from(cpus))
    });
    let needed = threads.iter().fold(servers, |sum, thread| {
        sum.saturating_add(thread.bandwidth())
    });
    let refused = threads.iter().enumerate();
    Admission {
        needed,
        limit: limit
            .runtime_ns
            .map(|runtime_ns| ratio(limit.period_ns, runtime_ns).saturating_mul(u64::from(cpus))),
        refused: refused
            .filter_map(|(place, thread)| Some((place, thread.refused(limit)?)))
            .collect(),
    }
}

/// The kernel's `to_ratio`.
fn ratio(period_ns: u64, runtime_ns: u64) -> u64 {
    match period_ns {
        0 => 0,
        _ => u64::try_from((u128::from(runtime_ns) << BANDWIDTH_BITS) / u128::from(period_ns))
            .unwrap_or(u64::MAX),
    }
}
