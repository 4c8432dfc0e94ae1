//! The overheads of one kernel as a sweep uses them: costs for each number of tasks, and what they
//! do to the tasks that share a queue.
//!
//! The accounting is that of [`overheads`](crate::overheads), in floating point with a margin far
//! above its rounding ([`MARGIN`]), since what is asked is only whether a sum stays below a limit.

use super::generate::RandomTask;
use crate::analysis::Overheads;
use crate::overheads::Costs;

/// How far below its limit a sum in floating point must stay to count as below. Sums of a thousand
/// terms are right to 1e-12.
pub const MARGIN: f64 = 1e-9;

/// A kernel's costs, with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Costs with as many tasks as the place says; with more, those of the last.
    by_tasks: Vec<Costs>,
    cache_delay_ns: u64,
}

impl Profile {
    /// No overheads.
    pub fn ideal() -> Self {
        Self {
            name: "ideal".into(),
            by_tasks: vec![Costs::default()],
            cache_delay_ns: 0,
        }
    }

    /// Those of `overheads`, for up to `tasks` tasks.
    pub fn new(name: impl Into<String>, overheads: &dyn Overheads, tasks: usize) -> Self {
        Self {
            name: name.into(),
            by_tasks: (0..=tasks).map(|tasks| overheads.costs(tasks)).collect(),
            // One delay for all policies, those that move jobs among them.
            cache_delay_ns: overheads.cache_delay_ns(0, true),
        }
    }

    /// Its costs with this number of tasks.
    pub fn costs(&self, tasks: usize) -> &Costs {
        &self.by_tasks[tasks.min(self.by_tasks.len() - 1)]
    }

    /// The cache-related delay of a job among this number of tasks: that of the others' working sets.
    pub fn cache_delay_ns(&self, tasks: usize) -> u64 {
        if tasks > 1 { self.cache_delay_ns } else { 0 }
    }
}

/// What overheads make of the tasks of one queue under earliest deadline first.
#[derive(Debug, Clone, Copy)]
pub struct Inflation {
    /// 1 / s: what interrupts leave of the CPU, inverted.
    stretch: f64,
    /// Added cost of each job, before it is stretched.
    job_ns: f64,
    /// Added cost of each job, after it is stretched.
    beside_ns: f64,
    /// By how much periods and deadlines are shorter.
    event_ns: f64,
    /// The longest section in which the kernel can't be preempted, stretched.
    pub section_ns: f64,
}

impl Inflation {
    /// For `tasks` tasks whose rates (1 / period, per nanosecond) add up to `rates`; releases come on
    /// the task's CPU, or `anywhere`. `None`: interrupts take all but a thousandth of the CPU.
    pub fn new(profile: &Profile, tasks: usize, rates: f64, anywhere: bool) -> Option<Self> {
        let costs = profile.costs(tasks);
        let of = |ns: u64| ns as f64;
        let tick_ns = if costs.tick_period_ns == 0 {
            0.0
        } else {
            of(costs.tick_ns)
        };
        let tick = tick_ns / of(costs.tick_period_ns.max(1));
        let release = of(costs.release_ns) * rates;
        let left = 1.0 - tick - release;
        if left < 1e-3 {
            return None;
        }
        let event_ns = of(costs.event_ns);
        let together_ns = tasks as f64 * of(costs.release_ns);
        let preemption_ns = (tick_ns + event_ns * (tick + release) + together_ns) / left;
        let told_ns = if anywhere { of(costs.ipi_ns) } else { 0.0 };
        Some(Self {
            stretch: 1.0 / left,
            job_ns: 2.0 * (of(costs.scheduling_ns) + of(costs.switch_ns))
                + of(profile.cache_delay_ns(tasks)),
            beside_ns: 2.0 * preemption_ns + told_ns,
            event_ns,
            section_ns: of(costs.section_ns) / left,
        })
    }

    /// A task's execution, in nanoseconds.
    pub fn execution_ns(&self, task: &RandomTask) -> f64 {
        (task.execution_ns as f64 + self.job_ns) * self.stretch + self.beside_ns
    }

    /// A task's period and deadline, in nanoseconds; 0 or negative if nothing is left.
    pub fn period_ns(&self, task: &RandomTask) -> f64 {
        task.period_ns as f64 - self.event_ns
    }
}

/// Nanoseconds in whole numbers, above the exact value.
pub fn rounded_up(ns: f64) -> u64 {
    (ns * (1.0 + 1e-12) + 1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overheads::{Releases, inflate_edf};
    use crate::task::Task;

    #[test]
    fn it_is_the_accounting_of_whole_numbers() {
        let costs = Costs {
            event_ns: 10_000,
            release_ns: 5_000,
            scheduling_ns: 4_000,
            switch_ns: 2_000,
            ipi_ns: 3_000,
            tick_ns: 2_000,
            tick_period_ns: 1_000_000,
            section_ns: 7_000,
        };
        let set = [(1_000_000, 10_000_000), (2_000_000, 20_000_000)];
        let tasks = set.map(|(execution_ns, period_ns)| Task::new("t", execution_ns, period_ns));
        let rates = set.iter().map(|(_, period)| 1.0 / *period as f64).sum();
        let profile = Profile::new("measured", &costs, 4);
        for (releases, anywhere) in [(Releases::Local, false), (Releases::Anywhere, true)] {
            let inflated = inflate_edf(&tasks, &[0, 0], &costs, releases).expect("fits");
            let (exact, section_ns) = (inflated.tasks, inflated.section_ns);
            let found = Inflation::new(&profile, 2, rates, anywhere).expect("room is left");
            for (task, exact) in set.iter().zip(&exact) {
                let task = RandomTask {
                    execution_ns: task.0,
                    period_ns: task.1,
                };
                let apart = exact.execution_ns as f64 - found.execution_ns(&task);
                assert!((0.0..6.0).contains(&apart), "{apart}");
                assert_eq!(found.period_ns(&task), exact.period_ns() as f64);
                assert!((section_ns as f64 - found.section_ns).abs() <= 1.0);
            }
        }
    }
}
