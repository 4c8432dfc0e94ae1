//! Bounds on response times by what others can do within a job's window: at most as much as they
//! have, and only where all CPUs are busy at once.
//!
//! Bertogna and Cirinei, "Response-time analysis for globally scheduled symmetric multiprocessor
//! platforms" (RTSS 2007), iterated over slack; for fixed priorities with at most M − 1 carried-in
//! jobs after Guan, Stigge, Yi and Yu (RTSS 2009).

use super::{GlobalTask, window};

/// Which job comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The one with the earliest deadline.
    EarliestDeadline,
    /// The one whose task stands first in the list.
    FixedPriority,
}

/// Rounds after which slack that still grows is taken as it is: it is right at each round.
const MOST_ROUNDS: u32 = 1000;

/// A bound on each task's response, in nanoseconds; `None` for a task for which none below its
/// deadline was found. The bounds hold only if there is one for every task before it (fixed
/// priorities) or for all (earliest deadline first).
pub fn responses(tasks: &[GlobalTask], cpus: u32, order: Order) -> Vec<Option<u64>> {
    match order {
        Order::FixedPriority => fixed_priority(tasks, cpus),
        Order::EarliestDeadline => earliest_deadline(tasks, cpus),
    }
}

/// How much of each response that [`responses`] found is due to which other task: its place, and its
/// part in nanoseconds. With the task's own execution they add up to the response. Empty where the
/// response is not the last one that was worked out for it.
pub fn shares(
    tasks: &[GlobalTask],
    cpus: u32,
    order: Order,
    found: &[Option<u64>],
) -> Vec<Vec<(usize, u64)>> {
    let left = |place: usize| {
        found[place].map_or(0, |response| {
            tasks[place].deadline_ns.saturating_sub(response)
        })
    };
    let of = |place: usize| -> Option<Vec<(usize, u64)>> {
        let (task, response_ns) = (&tasks[place], found[place]?);
        let mut most_ns = Vec::new();
        let others: Vec<usize> = match order {
            Order::FixedPriority => {
                let before = (0..place).map(|other| Some((tasks[other], found[other]?)));
                let before: Vec<(GlobalTask, u64)> = before.collect::<Option<_>>()?;
                limited_carry_in(task, &before, cpus, response_ns, &mut most_ns)?;
                (0..place).collect()
            }
            Order::EarliestDeadline => {
                let others = (0..tasks.len()).filter(|&other| other != place);
                for other in others.clone() {
                    let work = workload(&tasks[other], left(other), response_ns)?;
                    let until = until_deadline(&tasks[other], left(other), task.latest_deadline_ns);
                    most_ns.push(work.min(until));
                }
                others.collect()
            }
        };
        let waited_ns = response_ns.checked_sub(task.execution_ns)?;
        let most = most_ns.iter().map(|most| *most.min(&(waited_ns + 1)));
        let together_ns = most.clone().try_fold(0_u64, u64::checked_add)?;
        if together_ns / u64::from(cpus) != waited_ns {
            return None;
        }
        let parts = most.map(|most_ns| most_ns / u64::from(cpus));
        let mut parts: Vec<(usize, u64)> = others.into_iter().zip(parts).collect();
        // Each is rounded down by less than the sum is.
        let told_ns: u64 = parts.iter().map(|part| part.1).sum();
        if let Some(largest) = parts.iter_mut().max_by_key(|part| part.1) {
            largest.1 += waited_ns - told_ns;
        }
        Some(parts)
    };
    (0..tasks.len())
        .map(|place| of(place).unwrap_or_default())
        .collect()
}

/// From the highest priority down: what comes before is bounded already.
fn fixed_priority(tasks: &[GlobalTask], cpus: u32) -> Vec<Option<u64>> {
    let mut found: Vec<Option<u64>> = Vec::with_capacity(tasks.len());
    for (rank, task) in tasks.iter().enumerate() {
        let before: Option<Vec<(GlobalTask, u64)>> = (0..rank)
            .map(|other| Some((tasks[other], found[other]?)))
            .collect();
        found.push(before.and_then(|before| {
            below_deadline(task, cpus, |window_ns, most_ns| {
                limited_carry_in(task, &before, cpus, window_ns, most_ns)
            })
        }));
    }
    found
}

/// All others interfere; the slack before their deadlines tightens their next bound, until nothing changes.
fn earliest_deadline(tasks: &[GlobalTask], cpus: u32) -> Vec<Option<u64>> {
    let mut slack: Vec<u64> = vec![0; tasks.len()];
    let mut found: Vec<Option<u64>> = vec![None; tasks.len()];
    for _ in 0..MOST_ROUNDS {
        let mut changed = false;
        for (place, task) in tasks.iter().enumerate() {
            let others = || {
                tasks
                    .iter()
                    .zip(&slack)
                    .enumerate()
                    .filter(move |(other, _)| *other != place)
                    .map(|(_, (other, slack))| (other, *slack))
            };
            let response = below_deadline(task, cpus, |window_ns, most_ns| {
                for (other, slack) in others() {
                    let work = workload(other, slack, window_ns)?;
                    let window_ns = task.latest_deadline_ns;
                    most_ns.push(work.min(until_deadline(other, slack, window_ns)));
                }
                Some(())
            });
            let left = response.map_or(0, |response| task.deadline_ns - response);
            changed |= left > slack[place] || (response.is_some() && found[place].is_none());
            slack[place] = slack[place].max(left);
            found[place] = response;
        }
        if !changed {
            break;
        }
    }
    found
}

/// The least R = C + ⌊I(R) / M⌋, if it is within the deadline. `fill` pushes the most that each other
/// task does in a window.
fn below_deadline(
    task: &GlobalTask,
    cpus: u32,
    fill: impl Fn(u64, &mut Vec<u64>) -> Option<()>,
) -> Option<u64> {
    let mut most_ns = Vec::new();
    let mut reached = task.execution_ns;
    while reached <= task.deadline_ns {
        most_ns.clear();
        fill(reached, &mut most_ns)?;
        let next = window::next(task.execution_ns, cpus, reached, &most_ns)?;
        if next == reached {
            return Some(reached);
        }
        reached = next;
    }
    None
}

/// The most that a task does in a window of `window_ns`, its first job ending as late as its slack
/// allows.
#[inline]
pub(super) fn workload(task: &GlobalTask, slack_ns: u64, window_ns: u64) -> Option<u64> {
    let reach = window_ns
        .checked_add(task.deadline_ns)?
        .checked_sub(task.execution_ns)?
        .saturating_sub(slack_ns);
    let jobs = reach / task.period_ns;
    let rest = reach % task.period_ns;
    jobs.checked_mul(task.execution_ns)?
        .checked_add(rest.min(task.execution_ns))
}

/// The maximum that a task executes before the end of a window that ends with the other job's deadline:
/// under EDF only jobs with earlier deadlines interfere. It grows with the window, so the latest deadline
/// covers all.
#[inline]
pub(super) fn until_deadline(task: &GlobalTask, slack_ns: u64, window_ns: u64) -> u64 {
    let jobs = match window_ns.checked_sub(task.deadline_ns) {
        None => 0,
        Some(beyond) => beyond / task.period_ns + 1,
    };
    let whole = jobs.saturating_mul(task.execution_ns);
    // The deadline of the job before those lies so far into the window.
    let carried = window_ns.saturating_sub(jobs.saturating_mul(task.period_ns));
    whole.saturating_add(carried.saturating_sub(slack_ns).min(task.execution_ns))
}

/// The most that each does with at most M − 1 jobs carried in: those that add most. In a longer window
/// the same ones carried in do no less.
fn limited_carry_in(
    task: &GlobalTask,
    before: &[(GlobalTask, u64)],
    cpus: u32,
    window_ns: u64,
    most_ns: &mut Vec<u64>,
) -> Option<()> {
    let free_ns = window_ns.checked_sub(task.execution_ns)?.checked_add(1)?;
    let mut more: Vec<(u64, usize, u64)> = Vec::with_capacity(before.len());
    for (place, (other, response_ns)) in before.iter().enumerate() {
        let fresh = not_carried(other, window_ns)?;
        let carried = carried(other, *response_ns, window_ns)?.max(fresh);
        most_ns.push(fresh);
        more.push((carried.min(free_ns) - fresh.min(free_ns), place, carried));
    }
    more.sort_unstable_by(|a, b| b.cmp(a));
    for (_, place, carried) in more.iter().take(cpus.saturating_sub(1) as usize) {
        most_ns[*place] = *carried;
    }
    Some(())
}

/// The most of a task that is released first at the window's start.
fn not_carried(task: &GlobalTask, window_ns: u64) -> Option<u64> {
    let rest = window_ns % task.period_ns;
    (window_ns / task.period_ns)
        .checked_mul(task.execution_ns)?
        .checked_add(rest.min(task.execution_ns))
}

/// The most of a task of which one job is under way at the window's start, and ends as late as its
/// response allows.
fn carried(task: &GlobalTask, response_ns: u64, window_ns: u64) -> Option<u64> {
    let Some(beyond) = window_ns.checked_sub(task.execution_ns) else {
        return Some(window_ns);
    };
    let late = task.period_ns.saturating_sub(response_ns);
    let rest = (beyond % task.period_ns).saturating_sub(late);
    (beyond / task.period_ns)
        .checked_add(1)?
        .checked_mul(task.execution_ns)?
        .checked_add(rest.min(task.execution_ns))
}
