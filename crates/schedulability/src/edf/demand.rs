//! The processor-demand test: in no stretch of time may jobs that are released and due within it
//! need more than it holds. Checked at few points, downwards from the longest busy stretch.
//!
//! Baruah, Rosier and Howell (1990); Zhang and Burns, "Schedulability analysis for real-time systems
//! with EDF scheduling" (QPA, IEEE TC 2009); blocking after Baruah (2006).

use crate::arithmetic::against_one;
use std::cmp::Ordering;

/// A sporadic task as the test sees it. Times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemandTask {
    /// The most CPU time of a job; above 0.
    pub execution_ns: u64,
    /// The shortest time between due times; above 0.
    pub period_ns: u64,
    /// From due time to deadline.
    pub deadline_ns: u64,
    /// The longest delay from the due time to the release.
    pub jitter_ns: u64,
    /// The longest stretch in which it can't be preempted, or holds what others wait for. A job waits
    /// for 1 ns less: the stretch has begun before the job is released.
    pub blocks_ns: u64,
}

impl DemandTask {
    /// The most that its jobs need which are released and due within `length_ns`.
    #[inline]
    fn demand(&self, length_ns: u64) -> Option<u64> {
        let reach = length_ns.checked_add(self.jitter_ns)?;
        match reach.checked_sub(self.deadline_ns) {
            None => Some(0),
            Some(beyond) => (beyond / self.period_ns)
                .checked_add(1)?
                .checked_mul(self.execution_ns),
        }
    }

    /// The last instant before `length_ns` at which a deadline can lie.
    #[inline]
    fn deadline_before(&self, length_ns: u64) -> Option<u64> {
        let first = self.deadline_ns.saturating_sub(self.jitter_ns);
        let beyond = length_ns.checked_sub(1)?.checked_sub(first)?;
        // The first deadlines of a task with more jitter than deadline lie at 0, all of them.
        let earliest = self.jitter_ns.saturating_sub(self.deadline_ns);
        let steps = beyond.checked_add(earliest)? / self.period_ns;
        Some((steps * self.period_ns + first).saturating_sub(earliest))
    }
}

/// Result of the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Every job is done by its deadline.
    Holds,
    /// A stretch of this many nanoseconds is shorter than its demand.
    Misses {
        /// The stretch.
        length_ns: u64,
        /// The demand in it.
        needed_ns: u64,
    },
    /// The tasks need more than the whole CPU.
    Overload,
    /// The sums don't fit 64 bits, or the busy stretch does not end in reasonable time.
    Unknown,
}

/// Rounds after which the longest busy stretch is given up.
const MOST_ROUNDS: u32 = 1_000_000;

/// Far above what sums in floating point are wrong by.
const MARGIN: f64 = 1e-9;

/// Whether all jobs are done by their deadlines under EDF on one CPU.
pub fn demand_holds(tasks: &[DemandTask]) -> Verdict {
    demand_holds_behind(tasks, 0)
}

/// As [`demand_holds`], where something outside the set, such as the kernel, can hold the CPU for up to
/// `section_ns` without being preempted: like a task with a deadline after all others.
pub fn demand_holds_behind(tasks: &[DemandTask], section_ns: u64) -> Verdict {
    let (mut density, mut share, mut ahead, mut blocks_ns) = (0.0, 0.0, 0.0, section_ns);
    for task in tasks {
        let (execution, period) = (task.execution_ns as f64, task.period_ns as f64);
        let window_ns = task
            .deadline_ns
            .min(task.period_ns)
            .saturating_sub(task.jitter_ns);
        density += execution / window_ns as f64;
        let own = execution / period;
        share += own;
        let early = (task.period_ns as f64 + task.jitter_ns as f64) - task.deadline_ns as f64;
        ahead += own * early.max(0.0);
        blocks_ns = task.blocks_ns.max(blocks_ns);
    }
    // Cheap and common: if every job can count against the shorter of period and deadline.
    if density <= 1.0 - MARGIN && blocks_ns == 0 {
        return Verdict::Holds;
    }
    let longest_ns = match share <= 1.0 - MARGIN {
        // Demand in t is at most t · ΣU + Σ max(0, T + J − D) · U: beyond the t at which that and the
        // longest blocking are t, nothing can be missed (Baruah, Rosier and Howell 1990).
        true => Some(((ahead + blocks_ns as f64) / (1.0 - share) * (1.0 + 1e-6)) as u64)
            .filter(|longest_ns| *longest_ns < u64::MAX / 4)
            .and_then(|longest_ns| longest_ns.checked_add(1)),
        false => {
            let shares = tasks.iter().map(|task| (task.execution_ns, task.period_ns));
            match against_one(shares) {
                Ordering::Greater => return Verdict::Overload,
                _ => busy_stretch(tasks, blocks_ns),
            }
        }
    };
    longest_ns
        .and_then(|longest_ns| downwards(tasks, longest_ns, blocks_ns > 0, section_ns))
        .unwrap_or(Verdict::Unknown)
}

/// The longest stretch in which the CPU has work all the time.
fn busy_stretch(tasks: &[DemandTask], most_blocking: u64) -> Option<u64> {
    let mut reached = most_blocking;
    for task in tasks {
        reached = reached.checked_add(task.execution_ns)?;
    }
    for _ in 0..MOST_ROUNDS {
        let mut next = most_blocking;
        for task in tasks {
            let jobs = reached
                .checked_add(task.jitter_ns)?
                .div_ceil(task.period_ns);
            next = next.checked_add(jobs.checked_mul(task.execution_ns)?)?;
        }
        if next <= reached {
            return Some(reached);
        }
        reached = next;
    }
    None
}

/// QPA: from the end of the busy stretch down to the first deadline.
fn downwards(
    tasks: &[DemandTask],
    longest_ns: u64,
    blocks: bool,
    section_ns: u64,
) -> Option<Verdict> {
    let first = tasks
        .iter()
        .map(|task| task.deadline_ns.saturating_sub(task.jitter_ns))
        .min()?;
    let before = |length: u64| {
        tasks
            .iter()
            .filter_map(|task| task.deadline_before(length))
            .max()
    };
    let Some(mut length) = before(longest_ns.checked_add(1)?) else {
        return Some(Verdict::Holds);
    };
    loop {
        let mut needed = if blocks {
            blocking(tasks, length, section_ns)
        } else {
            0
        };
        for task in tasks {
            needed = needed.checked_add(task.demand(length)?)?;
        }
        if needed > length {
            return Some(Verdict::Misses {
                length_ns: length,
                needed_ns: needed,
            });
        }
        if length <= first {
            return Some(Verdict::Holds);
        }
        length = match needed < length {
            true if needed < first => first,
            // With blocking the demand falls where a deadline is passed: step, don't leap over it.
            true if blocks => needed.max(before(length)?),
            true => needed,
            false => before(length)?,
        };
    }
}

/// What jobs with later deadlines can hold back: the longest stretch of a task whose deadline is
/// beyond `length_ns`, or a section, less the nanosecond in which it began.
fn blocking(tasks: &[DemandTask], length_ns: u64, section_ns: u64) -> u64 {
    let later = tasks.iter().filter(|task| task.deadline_ns > length_ns);
    let longest_ns = later.map(|task| task.blocks_ns).max().unwrap_or(0);
    longest_ns.max(section_ns).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Random;

    fn task(execution_ns: u64, period_ns: u64, deadline_ns: u64) -> DemandTask {
        DemandTask {
            execution_ns,
            period_ns,
            deadline_ns,
            jitter_ns: 0,
            blocks_ns: 0,
        }
    }

    #[test]
    fn the_pair_of_the_kernels_documentation() {
        // Density above 1 and schedulable; then utilization 0.6, admitted, and 60 needed in 50.
        let first = [task(50, 100, 50), task(10, 100, 100)];
        assert_eq!(demand_holds(&first), Verdict::Holds);
        let second = [task(50, 100, 50), task(10, 100, 50)];
        let misses = Verdict::Misses {
            length_ns: 50,
            needed_ns: 60,
        };
        assert_eq!(demand_holds(&second), misses);
    }

    #[test]
    fn a_whole_cpu_is_enough_and_more_is_not() {
        let thirds = [task(1, 3, 3), task(2, 6, 6), task(3, 9, 9)];
        assert_eq!(demand_holds(&thirds), Verdict::Holds);
        let more = [task(1, 3, 3), task(2, 6, 6), task(4, 9, 9)];
        assert_eq!(demand_holds(&more), Verdict::Overload);
    }

    #[test]
    fn a_stretch_that_can_t_be_preempted_counts_until_its_own_deadline() {
        let mut tasks = [task(2, 10, 4), task(4, 40, 40)];
        assert_eq!(demand_holds(&tasks), Verdict::Holds);
        tasks[1].blocks_ns = 3;
        assert_eq!(demand_holds(&tasks), Verdict::Holds);
        tasks[1].blocks_ns = 4;
        let misses = Verdict::Misses {
            length_ns: 4,
            needed_ns: 5,
        };
        assert_eq!(demand_holds(&tasks), misses);
    }

    #[test]
    fn a_section_holds_up_the_task_with_the_latest_deadline_too() {
        let only = [task(5, 20, 6)];
        assert_eq!(demand_holds_behind(&only, 2), Verdict::Holds);
        let misses = Verdict::Misses {
            length_ns: 6,
            needed_ns: 7,
        };
        assert_eq!(demand_holds_behind(&only, 3), misses);
    }

    #[test]
    fn every_point_agrees_with_a_test_of_all_points() {
        // All small sets of two and three tasks, jitter and blocking included.
        let mut random = Random::new(7, 0, 0);
        let mut next = |below: u64| random.bits() % below;
        let mut verdicts = [0_u32; 2];
        for _ in 0..20_000 {
            let tasks: Vec<DemandTask> = (0..2 + next(2))
                .map(|_| {
                    let period_ns = 2 + next(11);
                    let execution_ns = 1 + next(period_ns.min(5));
                    DemandTask {
                        execution_ns,
                        period_ns,
                        deadline_ns: execution_ns + next(2 * period_ns),
                        jitter_ns: next(4),
                        blocks_ns: next(3) * next(2),
                    }
                })
                .collect();
            let section_ns = next(4) * next(2);
            let all_points = (0..2000).all(|length| {
                let needed: u64 = tasks
                    .iter()
                    .map(|task| task.demand(length).expect("small"))
                    .sum();
                let first = tasks
                    .iter()
                    .any(|task| task.deadline_ns.saturating_sub(task.jitter_ns) <= length);
                !first || needed + blocking(&tasks, length, section_ns) <= length
            });
            match demand_holds_behind(&tasks, section_ns) {
                Verdict::Holds => {
                    assert!(all_points, "{tasks:?}");
                    verdicts[0] += 1;
                }
                // A little more than the CPU shows only far beyond the points tried; and with the CPU
                // filled, blocking alone can keep the busy stretch from ending.
                Verdict::Unknown | Verdict::Overload => {}
                _ => {
                    assert!(!all_points, "{tasks:?}");
                    verdicts[1] += 1;
                }
            }
        }
        assert!(verdicts.iter().all(|count| *count > 500), "{verdicts:?}");
    }
}
