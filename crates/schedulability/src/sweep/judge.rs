//! Whether a random set holds, under each policy with each kernel's overheads: the analyses of this
//! crate in the forms that ask for no memory, tests in the order of their cost.

use super::generate::RandomTask;
use super::partition::Partition;
use super::profile::{Inflation, MARGIN, Profile, rounded_up};
use crate::edf::{DemandTask, Verdict, demand_holds_behind};
use crate::fixed_priority::{QuickTask, Windows};
use crate::global::{GlobalTask, Slacks};
use crate::method::Method;

/// Judges sets one after the other.
#[derive(Debug, Default)]
pub struct Judge {
    partition: Partition,
    one: OneCpu,
    several: Several,
    rooms: Vec<u16>,
    all: Vec<usize>,
}

impl Judge {
    /// Whether the set holds on `cpus` CPUs: under partitioned and clustered policies, whether
    /// worst-fit decreasing finds a placement that does. `set` is in order of decreasing
    /// utilization. Under fixed priorities those with shorter periods come first, which is the best
    /// order where all releases lag alike (Zuhily and Burns, "Optimal (D−J)-monotonic priority
    /// assignment", 2007).
    pub fn holds(
        &mut self,
        set: &[RandomTask],
        method: Method,
        cpus: u16,
        profile: &Profile,
    ) -> bool {
        let size = method.cluster_size(cpus);
        self.rooms.clear();
        for first in (0..cpus.max(1)).step_by(usize::from(size)) {
            self.rooms.push(size.min(cpus.max(1) - first));
        }
        let (one, several) = (&mut self.one, &mut self.several);
        let mut fits = |queue: &[usize], cpus: u16| match (method.by_priority(), cpus) {
            (true, _) => one.fixed_priority(set, queue, profile),
            (false, 1) => one.earliest_deadline(set, queue, profile),
            (false, _) => several.earliest_deadline(set, queue, cpus, profile),
        };
        if self.rooms.len() == 1 {
            self.all.clear();
            self.all.extend(0..set.len());
            return fits(&self.all, self.rooms[0]);
        }
        self.partition.found(set, &self.rooms, fits)
    }
}

fn rates(set: &[RandomTask], queue: &[usize]) -> f64 {
    let rate = |task: &usize| 1.0 / set[*task].period_ns as f64;
    queue.iter().map(rate).sum()
}

#[derive(Debug, Default)]
struct OneCpu {
    windows: Windows,
    by_period: Vec<(u64, u64)>,
    quickly: Vec<bool>,
    demand: Vec<DemandTask>,
}

impl OneCpu {
    /// Deadlines are the periods' ends, inflated or not: the sum of utilizations decides, but where
    /// the kernel has sections that can't be preempted.
    fn earliest_deadline(
        &mut self,
        set: &[RandomTask],
        queue: &[usize],
        profile: &Profile,
    ) -> bool {
        let rates = rates(set, queue);
        let Some(inflation) = Inflation::new(profile, queue.len(), rates, false) else {
            return queue.is_empty();
        };
        let (mut sum, mut shortest_ns) = (0.0, f64::INFINITY);
        for task in queue {
            let period_ns = inflation.period_ns(&set[*task]);
            if period_ns <= 0.0 {
                return false;
            }
            sum += inflation.execution_ns(&set[*task]) / period_ns;
            shortest_ns = shortest_ns.min(period_ns);
        }
        if sum > 1.0 - MARGIN {
            return false;
        }
        if sum + inflation.section_ns / shortest_ns <= 1.0 - MARGIN {
            return true;
        }
        self.demand.clear();
        self.demand.extend(queue.iter().map(|task| {
            let period_ns = inflation.period_ns(&set[*task]) as u64;
            DemandTask {
                execution_ns: rounded_up(inflation.execution_ns(&set[*task])),
                period_ns,
                deadline_ns: period_ns,
                jitter_ns: 0,
                blocks_ns: 0,
            }
        }));
        demand_holds_behind(&self.demand, rounded_up(inflation.section_ns)) == Verdict::Holds
    }

    /// First a bound on each response that takes one division (Davis and Burns, "Response time upper
    /// bounds for fixed priority real-time systems", RTSS 2008; Bini and others 2009), then, for
    /// tasks that it leaves open, the response itself.
    fn fixed_priority(&mut self, set: &[RandomTask], queue: &[usize], profile: &Profile) -> bool {
        let costs = profile.costs(queue.len());
        let late_ns = costs.event_ns + costs.release_ns;
        let job_ns =
            2 * (costs.scheduling_ns + costs.switch_ns) + profile.cache_delay_ns(queue.len());
        self.by_period.clear();
        let task = |task: &usize| (set[*task].period_ns, set[*task].execution_ns + job_ns);
        self.by_period.extend(queue.iter().map(task));
        self.by_period.sort_unstable();
        let ticks = costs.tick_ns > 0 && costs.tick_period_ns > 0;
        let (event, release, section) = (
            costs.event_ns as f64,
            costs.release_ns as f64,
            costs.section_ns as f64,
        );
        // Of what comes before: Σ U, and Σ C (1 − U) + U J.
        let (mut share, mut work) = (0.0, 0.0);
        let mut before = |execution: f64, period: f64, jitter: f64| {
            let own = execution / period;
            share += own;
            work += execution * (1.0 - own) + own * jitter;
            (share, work)
        };
        if ticks {
            before(costs.tick_ns as f64, costs.tick_period_ns as f64, event);
        }
        if costs.release_ns > 0 {
            for (period_ns, _) in &self.by_period {
                before(release, *period_ns as f64, event);
            }
        }
        self.quickly.clear();
        let (mut left, mut done) = before(0.0, 1.0, 0.0);
        left = 1.0 - left;
        for (period_ns, execution_ns) in &self.by_period {
            let (execution, period) = (*execution_ns as f64, *period_ns as f64);
            let most = (period - late_ns as f64) * left;
            self.quickly
                .push(left > 0.0 && execution + section + done <= most * (1.0 - MARGIN));
            let (share, work) = before(execution, period, late_ns as f64);
            (left, done) = (1.0 - share, work);
        }
        if left < -MARGIN {
            return false;
        }
        if self.quickly.iter().all(|quickly| *quickly) {
            return true;
        }
        self.windows.clear();
        if ticks {
            self.windows
                .add(costs.tick_ns, costs.tick_period_ns, costs.event_ns);
        }
        if costs.release_ns > 0 {
            for (period_ns, _) in &self.by_period {
                self.windows
                    .add(costs.release_ns, *period_ns, costs.event_ns);
            }
        }
        self.by_period
            .iter()
            .zip(&self.quickly)
            .all(|((period_ns, execution_ns), quickly)| {
                if *quickly {
                    self.windows.add(*execution_ns, *period_ns, late_ns);
                    return true;
                }
                let task = QuickTask {
                    execution_ns: *execution_ns,
                    period_ns: *period_ns,
                    deadline_ns: *period_ns,
                    jitter_ns: late_ns,
                    blocking_ns: costs.section_ns.saturating_sub(1),
                };
                self.windows.next(&task).is_some()
            })
    }
}

#[derive(Debug, Default)]
struct Several {
    tasks: Vec<GlobalTask>,
    slacks: Slacks,
}

impl Several {
    fn earliest_deadline(
        &mut self,
        set: &[RandomTask],
        queue: &[usize],
        cpus: u16,
        profile: &Profile,
    ) -> bool {
        let rates = rates(set, queue);
        let Some(inflation) = Inflation::new(profile, queue.len(), rates, true) else {
            return queue.is_empty();
        };
        // No test of several CPUs knows of sections in which the kernel can't be preempted.
        if inflation.section_ns > 0.0 {
            return queue.is_empty();
        }
        let execution_ns = |task: &RandomTask| inflation.execution_ns(task);
        let (mut sum, mut largest) = (0.0_f64, 0.0_f64);
        for task in queue {
            let share = execution_ns(&set[*task]) / inflation.period_ns(&set[*task]);
            if !(0.0..=1.0 - MARGIN).contains(&share) {
                return false;
            }
            sum += share;
            largest = largest.max(share);
        }
        let all = f64::from(cpus);
        if queue.len() <= usize::from(cpus) || sum <= all - (all - 1.0) * largest - MARGIN {
            return true;
        }
        if sum > all {
            return false;
        }
        self.tasks.clear();
        self.tasks.extend(queue.iter().map(|task| {
            let period_ns = inflation.period_ns(&set[*task]) as u64;
            GlobalTask {
                execution_ns: rounded_up(execution_ns(&set[*task])),
                period_ns,
                deadline_ns: period_ns,
                latest_deadline_ns: period_ns,
            }
        }));
        self.slacks.hold(&self.tasks, u32::from(cpus))
    }
}
