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
    /// When the job is due, from the beginning of the window in which all others are released together; if
    /// it is released late, before the window by at most its jitter.
    pub due_ns: i128,
    /// When it ends, from there.
    pub end_ns: u64,
}

/// The longest response of each of `tasks` (places in `set`), in their order, from due time to end;
/// `None` for a task whose bound takes too long to find. `None` for all where the CPU has more to do
/// than time.
///
/// # Errors
/// [`Impossible`]: a task that can't be, or times that overflow.
pub fn responses(set: &[Task], tasks: &[usize]) -> Result<Option<Vec<Option<u64>>>, Impossible> {
    let worst = worst_jobs(set, tasks, 0)?;
    let response = |found: Option<Worst>| found.map(|worst| worst.response_ns);
    Ok(worst.map(|all| all.into_iter().map(response).collect()))
}

/// As [`responses`], with the job of each, where something outside the set can hold the CPU for up to
/// `section_ns` without being preempted.
///
/// # Errors
/// As [`responses`].
pub fn worst_jobs(
    set: &[Task],
    tasks: &[usize],
    section_ns: u64,
) -> Result<Option<Vec<Option<Worst>>>, Impossible> {
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
    let Some(longest_ns) = busy_stretch(set, tasks, section_ns)? else {
        return Ok(None);
    };
    let found: Result<Vec<_>, _> = tasks
        .iter()
        .map(|&place| longest(set, tasks, place, (longest_ns, section_ns)))
        .collect();
    found.map(Some)
}

fn busy_stretch(set: &[Task], tasks: &[usize], section_ns: u64) -> Result<Option<u64>, Impossible> {
    let mut most_blocking = section_ns;
    for &place in tasks {
        let task = &set[place];
        most_blocking = most_blocking.max(sum(task.non_preemptive_ns, task.blocking_ns)?);
    }
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

/// The longest response of one task over all instants at which its job's window can begin.
fn longest(
    set: &[Task],
    tasks: &[usize],
    place: usize,
    (longest_ns, section_ns): (u64, u64),
) -> Result<Option<Worst>, Impossible> {
    let task = &set[place];
    let at = |due_ns: i128| -> Result<Option<Worst>, Impossible> {
        let Some(end_ns) = end_of(set, tasks, place, due_ns, section_ns)? else {
            return Ok(None);
        };
        let response_ns = (i128::from(end_ns) - due_ns).max(0);
        Ok(Some(Worst {
            response_ns: u64::try_from(response_ns).map_err(|_| Impossible::Overflow)?,
            due_ns,
            end_ns,
        }))
    };
    // Due before the window and released at its beginning: as late as its jitter allows.
    let earliest_ns = -i128::from(task.jitter_ns);
    let Some(mut worst) = at(earliest_ns)? else {
        return Ok(None);
    };
    let mut instants = 0;
    for &other in tasks {
        let other = &set[other];
        // The instants at which this job's deadline coincides with one of the other's.
        let first_ns = i128::from(other.deadline_ns) - i128::from(other.jitter_ns);
        let mut due_ns = first_ns - i128::from(task.deadline_ns);
        let period_ns = i128::from(other.closest_ns());
        if due_ns < earliest_ns {
            due_ns += (earliest_ns - due_ns) / period_ns * period_ns;
        }
        while due_ns <= i128::from(longest_ns) {
            if due_ns >= earliest_ns {
                instants += 1;
                if instants > MOST_INSTANTS {
                    return Ok(None);
                }
                let Some(found) = at(due_ns)? else {
                    return Ok(None);
                };
                if found.response_ns > worst.response_ns {
                    worst = found;
                }
            }
            due_ns += period_ns;
        }
    }
    Ok(Some(worst))
}

/// The parts of a worst response, which add up to it.
///
/// # Errors
/// [`Impossible::Overflow`].
pub fn made_of(
    set: &[Task],
    tasks: &[usize],
    place: usize,
    worst: &Worst,
    section_ns: u64,
) -> Result<Vec<Part>, Impossible> {
    let task = &set[place];
    let mut parts = Vec::new();
    let mut push = |what: What, ns: u64| {
        if ns > 0 {
            parts.push(Part { what, ns });
        }
    };
    let own_jobs = jobs_due_by(task, worst.due_ns)?;
    let earlier = own_jobs - 1;
    push(What::Own { earlier }, times(own_jobs, task.execution_ns)?);
    push(What::Suspension, times(own_jobs, task.suspension_ns)?);
    let deadline_ns = worst.due_ns + i128::from(task.deadline_ns);
    let blocking_ns = blocking_ns(set, tasks, place, deadline_ns, section_ns);
    push(What::Blocking, sum(blocking_ns, task.blocking_ns)?);
    for &by in tasks.iter().filter(|&&other| other != place) {
        let jobs = jobs_before(&set[by], deadline_ns, worst.end_ns)?;
        push(
            What::Preemption { by, jobs },
            times(jobs, set[by].alone_ns())?,
        );
    }
    let apart_ns = u64::try_from(worst.due_ns.unsigned_abs()).map_err(|_| Impossible::Overflow)?;
    if worst.due_ns < 0 {
        push(What::Jitter, apart_ns)
    } else {
        push(What::BeforeDue, apart_ns)
    }
    Ok(parts)
}

/// The longest stretch of a task with a later deadline, or the section, less the nanosecond in which it
/// began.
pub(crate) fn blocking_ns(
    set: &[Task],
    tasks: &[usize],
    place: usize,
    deadline_ns: i128,
    section_ns: u64,
) -> u64 {
    let later = tasks
        .iter()
        .filter(|&&other| other != place && i128::from(set[other].deadline_ns) > deadline_ns);
    let longest_ns = later.map(|&other| set[other].non_preemptive_ns).max();
    longest_ns.unwrap_or(0).max(section_ns).saturating_sub(1)
}

/// The number of a task's jobs due by this time after the window's beginning: none is due earlier than its
/// jitter before it.
pub(crate) fn jobs_due_by(task: &Task, due_ns: i128) -> Result<u64, Impossible> {
    let beyond = due_ns + i128::from(task.jitter_ns);
    if beyond < 0 {
        return Ok(0);
    }
    let jobs = beyond / i128::from(task.closest_ns()) + 1;
    u64::try_from(jobs).map_err(|_| Impossible::Overflow)
}

/// How many jobs of another task are released in a window, and have their deadline within it.
fn jobs_before(other: &Task, deadline_ns: i128, window_ns: u64) -> Result<u64, Impossible> {
    let by_deadline = jobs_due_by(other, deadline_ns - i128::from(other.deadline_ns))?;
    let released = sum(window_ns, other.jitter_ns)?.div_ceil(other.closest_ns());
    Ok(by_deadline.min(released))
}

/// When the work is done that comes before or with the deadline of a job due at `due_ns`.
fn end_of(
    set: &[Task],
    tasks: &[usize],
    place: usize,
    due_ns: i128,
    section_ns: u64,
) -> Result<Option<u64>, Impossible> {
    let task = &set[place];
    let deadline_ns = due_ns + i128::from(task.deadline_ns);
    let blocking_ns = blocking_ns(set, tasks, place, deadline_ns, section_ns);
    let fixed_ns = sum(blocking_ns, task.blocking_ns)?;
    let own_ns = times(jobs_due_by(task, due_ns)?, task.alone_ns())?;
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
