//! Response times under EDF on one CPU: the worst job of each task needn't be released together
//! with all others, so every instant that can matter is tried.
//!
//! Spuri, "Analysis of deadline scheduled real-time systems" (INRIA RR-2772, 1996); George, Rivierre
//! and Spuri (INRIA RR-2966, 1996) for blocking.

use crate::arithmetic::{against_one, sum, times};
use crate::bound::{Part, What};
use crate::task::{Impossible, Task};
use std::cmp::Ordering;

/// Rounds of one equation after which it is given up.
const MOST_ROUNDS: u32 = 1_000_000;
/// Instants that are tried for one task before its response is left open: the demand test has the
/// verdict all the same.
const MOST_INSTANTS: u64 = 2_000_000;

/// The longest response of a task, and the job that has it. Times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worst {
    /// From due time to end.
    pub response_ns: u64,
    /// When the job is due, and when it ends, from the beginning of the window in which all others are
    /// released together; `None`: the job runs alone, and only its jitter delays it.
    pub window: Option<(u64, u64)>,
}

/// The longest response of each of `tasks` (places in `set`), in their order, from due time to end;
/// `None` for a task whose bound takes too long to find. `None` for all where the CPU has more to do
/// than time.
///
/// # Errors
/// [`Impossible`]: a task that can't be, or times that overflow.
pub fn responses(set: &[Task], tasks: &[usize]) -> Result<Option<Vec<Option<u64>>>, Impossible> {
    let worst = worst_jobs(set, tasks)?;
    let response = |found: Option<Worst>| found.map(|worst| worst.response_ns);
    Ok(worst.map(|all| all.into_iter().map(response).collect()))
}

/// As [`responses`], with the job of each.
///
/// # Errors
/// As [`responses`].
pub fn worst_jobs(set: &[Task], tasks: &[usize]) -> Result<Option<Vec<Option<Worst>>>, Impossible> {
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
) -> Result<Option<Worst>, Impossible> {
    let task = &set[place];
    // The job released first, whatever the others' deadlines.
    let Some(end_ns) = end_of(set, tasks, place, 0)? else {
        return Ok(None);
    };
    let mut worst = Worst {
        response_ns: end_ns,
        window: Some((0, end_ns)),
    };
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
                let response_ns = end_ns.saturating_sub(due_ns);
                if response_ns > worst.response_ns {
                    worst = Worst {
                        response_ns,
                        window: Some((due_ns, end_ns)),
                    };
                }
            }
            if deadline_ns > sum(longest_ns, task.deadline_ns)? {
                break;
            }
            deadline_ns = sum(deadline_ns, other.closest_ns())?;
        }
    }
    let alone_ns = sum(task.alone_ns(), task.jitter_ns)?;
    if alone_ns > worst.response_ns {
        worst = Worst {
            response_ns: alone_ns,
            window: None,
        };
    }
    Ok(Some(worst))
}

/// What a worst response consists of: the pieces add up to it.
///
/// # Errors
/// [`Impossible::Overflow`].
pub fn made_of(
    set: &[Task],
    tasks: &[usize],
    place: usize,
    worst: &Worst,
) -> Result<Vec<Part>, Impossible> {
    let task = &set[place];
    let mut parts = Vec::new();
    let mut push = |what: What, ns: u64| {
        if ns > 0 {
            parts.push(Part { what, ns });
        }
    };
    let Some((due_ns, end_ns)) = worst.window else {
        push(What::Own { earlier: 0 }, task.execution_ns);
        push(What::Suspension, task.suspension_ns);
        push(What::Jitter, task.jitter_ns);
        return Ok(parts);
    };
    let own_jobs = own_jobs(task, due_ns)?;
    let earlier = own_jobs - 1;
    push(What::Own { earlier }, times(own_jobs, task.execution_ns)?);
    push(What::Suspension, times(own_jobs, task.suspension_ns)?);
    let deadline_ns = sum(due_ns, task.deadline_ns)?;
    let blocking_ns = blocking_ns(set, tasks, place, deadline_ns);
    push(What::Blocking, sum(blocking_ns, task.blocking_ns)?);
    for &by in tasks.iter().filter(|&&other| other != place) {
        let jobs = jobs_before(&set[by], deadline_ns, end_ns)?;
        push(
            What::Preemption { by, jobs },
            times(jobs, set[by].alone_ns())?,
        );
    }
    push(What::BeforeDue, due_ns);
    Ok(parts)
}

/// The longest stretch of a task with a later deadline.
pub(crate) fn blocking_ns(set: &[Task], tasks: &[usize], place: usize, deadline_ns: u64) -> u64 {
    let later = tasks
        .iter()
        .filter(|&&other| other != place && set[other].deadline_ns > deadline_ns);
    later
        .map(|&other| blocks_ns(&set[other]))
        .max()
        .unwrap_or(0)
}

/// The task's own jobs up to the one that is due so long after the window's beginning.
pub(crate) fn own_jobs(task: &Task, due_ns: u64) -> Result<u64, Impossible> {
    Ok(sum(due_ns, task.jitter_ns)? / task.closest_ns() + 1)
}

/// How many jobs of another task are released in a window, and have their deadline within it.
fn jobs_before(other: &Task, deadline_ns: u64, window_ns: u64) -> Result<u64, Impossible> {
    let Some(beyond) = sum(deadline_ns, other.jitter_ns)?.checked_sub(other.deadline_ns) else {
        return Ok(0);
    };
    let by_deadline = beyond / other.closest_ns() + 1;
    let released = sum(window_ns, other.jitter_ns)?.div_ceil(other.closest_ns());
    Ok(by_deadline.min(released))
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
    let blocking_ns = blocking_ns(set, tasks, place, deadline_ns);
    let fixed_ns = sum(blocking_ns, task.blocking_ns)?;
    let own_ns = times(own_jobs(task, due_ns)?, task.alone_ns())?;
    let mut reached = sum(fixed_ns, own_ns)?;
    for _ in 0..MOST_ROUNDS {
        let mut next = sum(fixed_ns, own_ns)?;
        for &other in tasks.iter().filter(|&&other| other != place) {
            let other = &set[other];
            let jobs = jobs_before(other, deadline_ns, reached)?;
            next = sum(next, times(jobs, other.alone_ns())?)?;
        }
        if next <= reached {
            return Ok(Some(reached));
        }
        reached = next;
    }
    Ok(None)
}
