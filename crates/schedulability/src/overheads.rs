//! The cost of the kernel's own work, added to a set of tasks: the resulting set is analysed as if
//! overheads were free, and a result for it holds for the tasks on that machine.
//!
//! Brandenburg, "Scheduling and Locking in Multiprocessor Real-Time Operating Systems" (2011),
//! chapter 3: preemption-centric accounting for EDF, jitter and pseudo-tasks for fixed priorities.
//! Costs are rounded up, periods and deadlines down.

use crate::arithmetic::{Share, sum, times};
use crate::fixed_priority::Interference;
use crate::task::{Arrivals, Impossible, Task};

/// Costs for a given number of tasks, in nanoseconds. Their sum is about the wake-up latency, which
/// is never added as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Costs {
    /// Δev: from the programmed expiry to the timer interrupt.
    pub event_ns: u64,
    /// Δrel: from the interrupt's entry to the end of the wake-up.
    pub release_ns: u64,
    /// Δsch: the scheduler's choice.
    pub scheduling_ns: u64,
    /// Δcxs: from the switch to the first instruction of the thread.
    pub switch_ns: u64,
    /// Δipi: from one CPU's request to another's interrupt.
    pub ipi_ns: u64,
    /// Δtick: a timer tick.
    pub tick_ns: u64,
    /// Q: time between ticks; 0: no ticks.
    pub tick_period_ns: u64,
    /// B: the longest stretch in which the kernel can't be preempted.
    pub section_ns: u64,
}

impl Costs {
    /// Whether nothing but kernel sections costs anything.
    pub(crate) fn only_sections(&self) -> bool {
        let ticks = self.tick_ns > 0 && self.tick_period_ns > 0;
        !ticks
            && self.event_ns == 0
            && self.release_ns == 0
            && self.scheduling_ns == 0
            && self.switch_ns == 0
            && self.ipi_ns == 0
    }

    /// The longest delay of a wake-up after its timer's expiry: Δev, after a tick and every release.
    pub(crate) fn wake_up_late_ns(&self, tasks: usize) -> u64 {
        let tick_ns = if self.tick_period_ns > 0 {
            self.tick_ns
        } else {
            0
        };
        let releases_ns = self.release_ns.saturating_mul(tasks as u64);
        self.event_ns
            .saturating_add(tick_ns)
            .saturating_add(releases_ns)
    }

    /// Δsch + Δcxs, twice: a job that preempts is switched to and away from.
    fn two_switches_ns(&self) -> Result<u64, Impossible> {
        times(2, sum(self.scheduling_ns, self.switch_ns)?)
    }
}

/// Cache-related delay after a preemption or migration, in nanoseconds, for each task's working set.
pub type CacheDelays = [u64];

/// How interrupts of releases reach the CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Releases {
    /// On the CPU of the task itself: partitioned scheduling on stock Linux.
    Local,
    /// On any CPU, which then tells the one that shall run the job.
    Anywhere,
    /// All on one CPU that runs no tasks of the set.
    Dedicated,
}

/// The set for an analysis of earliest deadline first, one CPU's or a global one. `set` is what
/// shares the CPUs of one scheduler; `delays` has a cache delay for each of it.
///
/// e′ = (e + 2(Δsch + Δcxs) + Δcpd) / s + 2 c_pre + Δipi, p′ = p − Δev, d′ = d − Δev, with
/// s = 1 − Δtick/Q − ΣΔrel/p and c_pre = (Δtick + Δev·U_tick + n·Δrel + Δev·U_rel + ΣJ·Δrel/p) / s.
/// Δcpd of a task is the largest among the *others*. A job that is released late is interrupted for
/// late: the releases of a task with jitter J come closer together by J, which is the last term.
///
/// # Errors
/// [`Impossible::NothingLeft`] where interrupts take the whole CPU; otherwise overflows.
pub fn inflate_edf(
    set: &[Task],
    delays: &CacheDelays,
    costs: &Costs,
    releases: Releases,
) -> Result<Inflated, Impossible> {
    let tick = match costs.tick_period_ns {
        0 => Share::default(),
        period_ns => Share::up(costs.tick_ns, period_ns),
    };
    let (mut release, mut together_ns) = (Share::default(), 0);
    if releases != Releases::Dedicated {
        for task in set {
            let share = Share::up(costs.release_ns, task.closest_ns().max(1));
            release = release.plus(share);
            let late_ns = share.of_up(task.jitter_ns);
            together_ns = sum(together_ns, sum(costs.release_ns, late_ns)?)?;
        }
    }
    let left = Share::ONE.less(tick).less(release);
    if left == Share::default() {
        return Err(Impossible::NothingLeft);
    }
    let tick_ns = if costs.tick_period_ns == 0 {
        0
    } else {
        costs.tick_ns
    };
    let around_ns = sum(tick.of_up(costs.event_ns), release.of_up(costs.event_ns))?;
    let preemption_ns = left.divides_up(sum(sum(tick_ns, around_ns)?, together_ns)?)?;
    let told_ns = match releases {
        Releases::Local => 0,
        Releases::Anywhere => costs.ipi_ns,
        Releases::Dedicated => sum(costs.ipi_ns, costs.release_ns)?,
    };
    let beside_ns = sum(times(2, preemption_ns)?, told_ns)?;
    let inflated = set.iter().enumerate().map(|(place, task)| {
        let delay_ns = largest_of_others(delays, place);
        let job_ns = sum(sum(task.execution_ns, costs.two_switches_ns()?)?, delay_ns)?;
        let mut inflated = task.clone();
        inflated.execution_ns = sum(left.divides_up(job_ns)?, beside_ns)?;
        // A job that is never preempted holds the CPU from the switch to it on.
        inflated.non_preemptive_ns = if task.non_preemptive_ns == task.execution_ns {
            inflated.execution_ns
        } else {
            left.divides_up(task.non_preemptive_ns)?
        };
        inflated.blocking_ns = left.divides_up(task.blocking_ns)?;
        inflated.arrivals = earlier(&task.arrivals, costs.event_ns);
        inflated.deadline_ns = task.deadline_ns.saturating_sub(costs.event_ns);
        Ok(inflated)
    });
    Ok(Inflated {
        tasks: inflated.collect::<Result<_, Impossible>>()?,
        section_ns: left.divides_up(costs.section_ns)?,
    })
}

/// A set with its overheads put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inflated {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// The longest kernel section with the interrupts that come in it, in nanoseconds. It is part of
    /// no task: the one with the latest deadline waits for it as well.
    pub section_ns: u64,
}

/// The set and the interrupts for an analysis of fixed priorities on one CPU.
///
/// J += Δev + Δrel, e′ = e + 2(Δsch + Δcxs) + Δcpd; before all tasks come the tick (Δtick every Q,
/// late by Δev) and a release of each task (Δrel every p, late by the task's own J and Δev: a job that
/// is released late is interrupted for late).
///
/// # Errors
/// Sums that overflow.
pub fn inflate_fixed_priority(
    set: &[Task],
    delays: &CacheDelays,
    costs: &Costs,
    releases: Releases,
) -> Result<(Vec<Task>, Vec<Interference>), Impossible> {
    let told_ns = match releases {
        Releases::Local => 0,
        Releases::Anywhere | Releases::Dedicated => costs.ipi_ns,
    };
    let late_ns = sum(sum(costs.event_ns, costs.release_ns)?, told_ns)?;
    let mut interrupts = Vec::new();
    if costs.tick_period_ns > 0 && costs.tick_ns > 0 {
        interrupts.push(Interference {
            name: "timer tick",
            execution_ns: costs.tick_ns,
            arrivals: Arrivals::Sporadic(costs.tick_period_ns),
            jitter_ns: costs.event_ns,
        });
    }
    let mut inflated = Vec::with_capacity(set.len());
    for (place, task) in set.iter().enumerate() {
        let delay_ns = largest_of_others(delays, place);
        let mut task = task.clone();
        let own_jitter_ns = task.jitter_ns;
        task.jitter_ns = sum(own_jitter_ns, late_ns)?;
        let whole = task.non_preemptive_ns == task.execution_ns;
        let overhead_ns = sum(costs.two_switches_ns()?, delay_ns)?;
        task.execution_ns = sum(task.execution_ns, overhead_ns)?;
        if whole {
            task.non_preemptive_ns = task.execution_ns;
        }
        // The section has begun before the job is released: 1 ns at least is over.
        task.blocking_ns = sum(task.blocking_ns, costs.section_ns.saturating_sub(1))?;
        if costs.release_ns > 0 && releases != Releases::Dedicated {
            interrupts.push(Interference {
                name: "release interrupts",
                execution_ns: costs.release_ns,
                arrivals: task.arrivals.clone(),
                jitter_ns: sum(own_jitter_ns, costs.event_ns)?,
            });
        }
        inflated.push(task);
    }
    Ok((inflated, interrupts))
}

/// A job's cache is disturbed by others, and what it lost of its own is in their delay.
fn largest_of_others(delays: &CacheDelays, place: usize) -> u64 {
    let others = delays
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != place);
    others.map(|(_, delay)| *delay).max().unwrap_or(0)
}

fn earlier(arrivals: &Arrivals, by_ns: u64) -> Arrivals {
    match arrivals {
        Arrivals::Sporadic(period_ns) => Arrivals::Sporadic(period_ns.saturating_sub(by_ns)),
        Arrivals::Distances(list) => Arrivals::Distances(
            list.iter()
                .map(|distance| distance.saturating_sub(by_ns))
                .collect(),
        ),
    }
}
