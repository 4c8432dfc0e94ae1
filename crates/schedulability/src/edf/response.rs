//! Response times under EDF on one CPU: the worst job of each task needn't be released together
//! with all others, so every instant that can matter is tried.
//!
//! Spuri, "Analysis of deadline scheduled real-time systems" (INRIA RR-2772, 1996); George, Rivierre
//! and Spuri (INRIA RR-2966, 1996) for blocking.

use crate::arithmetic::{against_one, sum, times};
use crate::task::{Impossible, Task};
use std::cmp::Ordering;

/// Rounds of one equation after which it is given up.
const MOST_ROUNDS: u32 = 1_000_000;
/// Instants that are tried for one task before its response is left open: the demand test has the
/// verdict all the same.
const MOST_INSTANTS: u64 = 2_000_000;

/// The longest response of each of `tasks` (places in `set`), in their order, from due time to end;
/// `None` for a task whose bound takes too long to find. `None` for all where the CPU has more to do
/// than time.
///
/// # Errors
/// [`Impossible`]: a task that can't be, or times that overflow.
pub fn responses(set: &[Task], tasks: &[usize]) -> Result<Option<Vec<Option<u64>>>, Impossible> {
    for &place in tasks {
        let task = &set[place];
        task.check()?;
        if task.closest_ns() == 0 {
            return Err(Impossible::Burst {
                task: task.name.clone(),
            });
        }
    }
    let shares = tasks
        .iter()
        .map(|&place| (set[place].alone_ns(), set[place].closest_ns()));
    if against_one(shares) == Ordering::Greater {
        return Ok(None);
    }
    let Some(longest_ns) = busy_stretch(set, tasks)? else {
        return Ok(None);
    };
    let found: Result<Vec<_>, _> = tasks
        .iter()
        .map(|&place| longest(set, tasks, place, longest_ns))
        .collect();
    found.map(Some)
}

fn busy_stretch(set: &[Task], tasks: &[usize]) -> Result<Option<u64>, Impossible> {
    let most_blocking = tasks
        .iter()
        .map(|&place| blocks_ns(&set[place]))
        .max()
        .unwrap_or(0);
    let mut reached = most_blocking;
    for &place in tasks {
        reached = sum(reached, set[place].alone_ns())?;
    }
    for _ in 0..MOST_ROUNDS {
        let mut next = most_blocking;
        for &place in tasks {
            let task = &set[place];
            let jobs = sum(reached, task.jitter_ns)?.div_ceil(task.closest_ns());
            next = sum(next, times(jobs, task.alone_ns())?)?;
        }
        if next <= reached {
            return Ok(Some(reached));
        }
        reached = next;
    }
    Ok(None)
}

/// What a job with a later deadline can hold back.
fn blocks_ns(task: &Task) -> u64 {
    task.non_preemptive_ns
}

/// The longest response of one task over all instants at which its job's window can begin.
fn longest(
    set: &[Task],
    tasks: &[usize],
    place: usize,
    longest_ns: u64,
) -> Result<Option<u64>, Impossible> {
    let task = &set[place];
    let mut worst = 0;
    let mut instants = 0;
    for &other in tasks {
        let other = &set[other];
        // Where this job's deadline coincides with one of the other's.
        let mut deadline_ns = other.deadline_ns.saturating_sub(other.jitter_ns);
        loop {
            if let Some(due_ns) = deadline_ns.checked_sub(task.deadline_ns)
                && due_ns <= longest_ns
            {
                instants += 1;
                if instants > MOST_INSTANTS {
                    return Ok(None);
                }
                let end_ns = end_of(set, tasks, place, due_ns)?;
                let Some(end_ns) = end_ns else {
                    return Ok(None);
                };
                worst = worst.max(end_ns.saturating_sub(due_ns));
            }
            if deadline_ns > sum(longest_ns, task.deadline_ns)? {
                break;
            }
            deadline_ns = sum(deadline_ns, other.closest_ns())?;
        }
    }
    // The job released first, whatever the others' deadlines.
    let Some(end_ns) = end_of(set, tasks, place, 0)? else {
        return Ok(None);
    };
    worst = worst.max(end_ns);
    Ok(Some(worst.max(sum(task.alone_ns(), task.jitter_ns)?)))
}

/// When the work is done that comes before or with the deadline of a job due at `due_ns`.
fn end_of(
    set: &[Task],
    tasks: &[usize],
    place: usize,
    due_ns: u64,
) -> Result<Option<u64>, Impossible> {
    let task = &set[place];
    let deadline_ns = sum(due_ns, task.deadline_ns)?;
    let blocking_ns = tasks
        .iter()
        .filter(|&&other| other != place && set[other].deadline_ns > deadline_ns)
        .map(|&other| blocks_ns(&set[other]))
        .max()
        .unwrap_or(0);
    let fixed_ns = sum(blocking_ns, task.blocking_ns)?;
    let own_jobs = sum(due_ns, task.jitter_ns)? / task.closest_ns() + 1;
    let own_ns = times(own_jobs, task.alone_ns())?;
    let mut reached = sum(fixed_ns, own_ns)?;
    for _ in 0..MOST_ROUNDS {
        let mut next = sum(fixed_ns, own_ns)?;
        for &other in tasks.iter().filter(|&&other| other != place) {
            let other = &set[other];
            let Some(beyond) = sum(deadline_ns, other.jitter_ns)?.checked_sub(other.deadline_ns)
            else {
                continue;
            };
            let by_deadline = beyond / other.closest_ns() + 1;
            let released = sum(reached, other.jitter_ns)?.div_ceil(other.closest_ns());
            next = sum(next, times(by_deadline.min(released), other.alone_ns())?)?;
        }
        if next <= reached {
            return Ok(Some(reached));
        }
        reached = next;
    }
    Ok(None)
}
