//! The response-time analysis: busy windows, job by job, until the window closes.

use crate::arithmetic::{against_one, sum, times};
use crate::bound::{Bound, Part, What};
use crate::task::{Arrivals, Impossible, Task};
use std::cmp::Ordering;

/// Rounds after which a window that still grows is given up. Windows close after a few dozen.
const MOST_ROUNDS: u64 = 1_000_000;

/// Something that runs before every task, such as an interrupt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interference {
    /// Its name.
    pub name: &'static str,
    /// Execution time of each, in nanoseconds.
    pub execution_ns: u64,
    /// How often it comes.
    pub arrivals: Arrivals,
    /// How much it may lag, in nanoseconds.
    pub jitter_ns: u64,
}

/// A source of interference in the equations: a task of higher priority, or an [`Interference`].
struct Source<'a> {
    what: Origin,
    execution_ns: u64,
    arrivals: &'a Arrivals,
    jitter_ns: u64,
}

enum Origin {
    Task(usize),
    Overhead(&'static str),
}

/// The bounds of all tasks of one CPU, in the tasks' order.
///
/// `tasks` names places in `set`. A task that suspends itself interferes as if its jobs came with a
/// jitter of its response less its execution (Chen, Nelissen and Huang, "A unifying response time
/// analysis framework for dynamic self-suspending tasks", ECRTS 2016), whatever its deadline: jobs of one
/// task run one after the other, so that those begun before a window do no more in it.
///
/// # Errors
/// [`Impossible`]: a task that can't be, two of one priority, or times that overflow.
pub fn responses(
    set: &[Task],
    tasks: &[usize],
    interference: &[Interference],
) -> Result<Vec<Bound>, Impossible> {
    let mut order: Vec<usize> = tasks.to_vec();
    order.sort_by_key(|&place| std::cmp::Reverse(set[place].priority));
    distinct(set, &order)?;
    let mut before: Vec<Source<'_>> = interference
        .iter()
        .map(|source| Source {
            what: Origin::Overhead(source.name),
            execution_ns: source.execution_ns,
            arrivals: &source.arrivals,
            jitter_ns: source.jitter_ns,
        })
        .collect();
    let mut bounds: Vec<Bound> = Vec::with_capacity(order.len());
    // Once a task has no bound, its jitter has none, and neither has anything after it.
    let mut bounded = true;
    for (rank, &place) in order.iter().enumerate() {
        let task = &set[place];
        task.check()?;
        let after = order[rank + 1..].iter().map(|&later| &set[later]);
        let blocking_ns = blocking_ns(task, after)?;
        let response = if bounded {
            longest(task, blocking_ns, &before)?
        } else {
            None
        };
        let interferes_with = match (task.suspension_ns, &response) {
            (0, _) => Some(task.jitter_ns),
            (_, Some(longest)) => Some(longest.response_ns.saturating_sub(task.execution_ns)),
            (_, None) => None,
        };
        match interferes_with {
            Some(jitter_ns) => before.push(Source {
                what: Origin::Task(place),
                execution_ns: task.execution_ns,
                arrivals: &task.arrivals,
                jitter_ns,
            }),
            None => bounded = false,
        }
        bounds.push(Bound {
            task: place,
            response_ns: response.as_ref().map(|longest| longest.response_ns),
            deadline_ns: task.deadline_ns,
            made_of: response.map_or_else(Vec::new, |longest| longest.made_of),
        });
    }
    let place_in = |task: usize| tasks.iter().position(|&place| place == task);
    bounds.sort_by_key(|bound| place_in(bound.task));
    Ok(bounds)
}

/// How long a job waits for tasks after it: for their longest stretch that can't be preempted, less the
/// nanosecond in which it began before the job's release, and for what the task itself has.
pub(crate) fn blocking_ns<'a>(
    task: &Task,
    after: impl Iterator<Item = &'a Task>,
) -> Result<u64, Impossible> {
    let stretch_ns = after.map(|later| later.non_preemptive_ns).max();
    sum(task.blocking_ns, stretch_ns.unwrap_or(0).saturating_sub(1))
}

/// The stretch at a job's end in which nothing can preempt it any more: the whole of a non-preemptible job,
/// once it runs. Not if it sleeps, when others run, nor if there are interrupts, which can arrive at any
/// time.
pub(crate) fn last_stretch_ns(task: &Task, interrupts: bool) -> u64 {
    let whole = task.non_preemptive_ns == task.execution_ns;
    if whole && task.suspension_ns == 0 && !interrupts {
        task.execution_ns
    } else {
        0
    }
}

/// That no two tasks share a priority; `order` is sorted by it.
pub(crate) fn distinct(set: &[Task], order: &[usize]) -> Result<(), Impossible> {
    for two in order.windows(2) {
        let (first, second) = (&set[two[0]], &set[two[1]]);
        if first.priority == second.priority {
            return Err(Impossible::SamePriority {
                first: first.name.clone(),
                second: second.name.clone(),
                priority: first.priority,
            });
        }
    }
    Ok(())
}

struct Longest {
    response_ns: u64,
    made_of: Vec<Part>,
}

/// The longest response of a task after `before`; `None` if the CPU never becomes idle.
fn longest(
    task: &Task,
    blocking_ns: u64,
    before: &[Source<'_>],
) -> Result<Option<Longest>, Impossible> {
    let shares = before
        .iter()
        .map(|source| (source.execution_ns, period_of(source.arrivals)))
        .chain([(task.execution_ns, task.period_ns())]);
    if against_one(shares) == Ordering::Greater {
        return Ok(None);
    }
    let interrupts = before
        .iter()
        .any(|source| matches!(source.what, Origin::Overhead(_)));
    let last_stretch_ns = last_stretch_ns(task, interrupts);
    let Some(window_ns) = busy_window(task, blocking_ns, before)? else {
        return Ok(None);
    };
    let jobs = task.arrivals.within(window_ns, task.jitter_ns)?;
    if jobs > MOST_ROUNDS {
        return Ok(None);
    }
    let mut worst: Option<Longest> = None;
    let mut start_from = 0;
    for job in 1..=jobs {
        let Some(end_ns) = end_of(task, job, blocking_ns, last_stretch_ns, before, start_from)?
        else {
            return Ok(None);
        };
        start_from = end_ns - last_stretch_ns;
        let due_ns = task.arrivals.shortest_for(job)?;
        let response_ns = sum(end_ns, task.jitter_ns)?.saturating_sub(due_ns);
        if worst
            .as_ref()
            .is_none_or(|worst| response_ns > worst.response_ns)
        {
            let mut made_of = parts(task, job, blocking_ns, start_from, last_stretch_ns, before)?;
            if due_ns > 0 {
                let what = What::BeforeDue;
                made_of.push(Part { what, ns: due_ns });
            }
            worst = Some(Longest {
                response_ns,
                made_of,
            });
        }
    }
    Ok(worst)
}

fn period_of(arrivals: &Arrivals) -> u64 {
    match arrivals {
        Arrivals::Sporadic(period_ns) => *period_ns,
        Arrivals::Distances(list) => list
            .last()
            .map_or(1, |last| (last / list.len() as u64).max(1)),
    }
}

/// How long the CPU is busy at most with this task and those before it, once a job of a later task holds
/// it; `None` if it never becomes idle.
fn busy_window(
    task: &Task,
    blocking_ns: u64,
    before: &[Source<'_>],
) -> Result<Option<u64>, Impossible> {
    let mut reached_ns = sum(blocking_ns, task.alone_ns())?;
    for _ in 0..MOST_ROUNDS {
        let own = task.arrivals.within(reached_ns, task.jitter_ns)?;
        let mut next_ns = sum(blocking_ns, times(own, task.alone_ns())?)?;
        for source in before {
            next_ns = sum(next_ns, interference_ns(source, reached_ns, 0)?.1)?;
        }
        if next_ns <= reached_ns {
            return Ok(Some(reached_ns));
        }
        reached_ns = next_ns;
    }
    Ok(None)
}

/// The end of the `job`-th job of a window that begins with a release, with jobs before it done.
fn end_of(
    task: &Task,
    job: u64,
    blocking_ns: u64,
    last_stretch_ns: u64,
    before: &[Source<'_>],
    start_from: u64,
) -> Result<Option<u64>, Impossible> {
    let own_ns = times(job, task.alone_ns())?;
    let fixed_ns = sum(blocking_ns, own_ns - last_stretch_ns)?;
    let mut reached_ns = start_from.max(fixed_ns);
    for _ in 0..MOST_ROUNDS {
        let mut next_ns = fixed_ns;
        for source in before {
            next_ns = sum(
                next_ns,
                interference_ns(source, reached_ns, last_stretch_ns)?.1,
            )?;
        }
        if next_ns <= reached_ns {
            return Ok(Some(sum(reached_ns, last_stretch_ns)?));
        }
        reached_ns = next_ns;
    }
    Ok(None)
}

/// How many of a source's jobs run within a window, and how long they take. A job that starts its
/// last stretch must have seen all releases up to that very instant.
fn interference_ns(
    source: &Source<'_>,
    window_ns: u64,
    last_stretch_ns: u64,
) -> Result<(u64, u64), Impossible> {
    let jobs = match last_stretch_ns {
        0 => source.arrivals.within(window_ns, source.jitter_ns)?,
        _ => source.arrivals.within_closed(window_ns, source.jitter_ns)?,
    };
    Ok((jobs, times(jobs, source.execution_ns)?))
}

/// The pieces of a window up to the end of a job whose last stretch begins `start_ns` into it. They
/// add up to that end.
fn parts(
    task: &Task,
    job: u64,
    blocking_ns: u64,
    start_ns: u64,
    last_stretch_ns: u64,
    before: &[Source<'_>],
) -> Result<Vec<Part>, Impossible> {
    let mut parts = Vec::new();
    let mut push = |what, ns| {
        if ns > 0 {
            parts.push(Part { what, ns });
        }
    };
    push(
        What::Own { earlier: job - 1 },
        times(job, task.execution_ns)?,
    );
    push(What::Suspension, times(job, task.suspension_ns)?);
    push(What::Jitter, task.jitter_ns);
    push(What::Blocking, blocking_ns);
    for source in before {
        let (jobs, ns) = interference_ns(source, start_ns, last_stretch_ns)?;
        match source.what {
            Origin::Task(by) => push(What::Preemption { by, jobs }, ns),
            Origin::Overhead(name) => push(What::Overhead(name), ns),
        }
    }
    Ok(parts)
}
