//! Fixed priorities on one CPU if some tasks share a clock and have offsets on it: jobs that can't arrive
//! together are not counted together.
//!
//! Palencia and González Harbour, "Schedulability analysis for tasks with static and dynamic offsets"
//! (RTSS 1998), with all tasks that have an offset as one transaction over their common period. The
//! worst window begins where some job of the transaction is released as late as it may be: each of
//! these instants is tried, so that the bound is exact for tasks that neither block nor sleep.

use super::response::{Interference, blocking_ns, distinct};
use crate::arithmetic::{against_one, greatest_common_divisor, sum, times};
use crate::bound::{Bound, Part, What};
use crate::task::{Arrivals, Impossible, Task};
use std::cmp::Ordering;

/// Instants tried for one task; a transaction with more is left to the analysis without offsets.
const MOST_INSTANTS: u128 = 20_000;
/// Rounds of one window, and jobs in it, after which it is given up.
const MOST_ROUNDS: u64 = 100_000;

/// What runs before a task.
struct Source<'a> {
    what: What,
    execution_ns: u64,
    jitter_ns: u64,
    release: Release<'a>,
}

enum Release<'a> {
    /// Due at these times of the common clock.
    Clock { offset_ns: u64, period_ns: u64 },
    /// Any time.
    Free(&'a Arrivals),
}

/// The bounds of all tasks of one CPU, in the tasks' order; `None` where offsets bring nothing or
/// their common period holds too many jobs to be tried: then [`super::responses`] has the answer.
///
/// # Errors
/// As [`super::responses`].
pub fn responses_with_offsets(
    set: &[Task],
    interference: &[Interference],
) -> Result<Option<Vec<Bound>>, Impossible> {
    if !set.iter().any(|task| clock_of(task).is_some()) {
        return Ok(None);
    }
    let mut order: Vec<usize> = (0..set.len()).collect();
    order.sort_by_key(|&place| std::cmp::Reverse(set[place].priority));
    distinct(set, &order)?;
    let Some(common_ns) = common_period(set) else {
        return Ok(None);
    };
    let mut before: Vec<Source<'_>> = interference
        .iter()
        .map(|source| Source {
            what: What::Overhead(source.name),
            execution_ns: source.execution_ns,
            jitter_ns: source.jitter_ns,
            release: Release::Free(&source.arrivals),
        })
        .collect();
    let mut bounds: Vec<Option<Bound>> = vec![None; set.len()];
    let mut instants = 0;
    for (rank, &place) in order.iter().enumerate() {
        let task = &set[place];
        task.check()?;
        if task.suspension_ns > 0 {
            return Ok(None);
        }
        if let Some((_, period_ns)) = clock_of(task) {
            instants += u128::from(common_ns / period_ns);
        }
        if instants > MOST_INSTANTS {
            return Ok(None);
        }
        let later = order[rank + 1..].iter().map(|&later| &set[later]);
        let blocking_ns = blocking_ns(task, later)?;
        let worst = longest(task, blocking_ns, &before, common_ns)?;
        bounds[place] = Some(Bound {
            task: place,
            response_ns: worst.as_ref().map(|worst| worst.response_ns),
            deadline_ns: task.deadline_ns,
            made_of: worst.map_or_else(Vec::new, |worst| worst.made_of),
        });
        before.push(Source {
            // How many of its jobs is counted in each window again.
            what: What::Preemption { by: place, jobs: 0 },
            execution_ns: task.execution_ns,
            jitter_ns: task.jitter_ns,
            release: release_of(task),
        });
    }
    Ok(Some(bounds.into_iter().flatten().collect()))
}

fn clock_of(task: &Task) -> Option<(u64, u64)> {
    match (&task.arrivals, task.offset_ns) {
        (Arrivals::Sporadic(period_ns), Some(offset_ns)) if *period_ns > 0 => {
            Some((offset_ns, *period_ns))
        }
        _ => None,
    }
}

fn release_of(task: &Task) -> Release<'_> {
    match clock_of(task) {
        Some((offset_ns, period_ns)) => Release::Clock {
            offset_ns,
            period_ns,
        },
        None => Release::Free(&task.arrivals),
    }
}

fn common_period(set: &[Task]) -> Option<u64> {
    let mut common = 1_u128;
    for (_, period_ns) in set.iter().filter_map(clock_of) {
        let period_ns = u128::from(period_ns);
        common = common.checked_mul(period_ns / greatest_common_divisor(common, period_ns))?;
        u64::try_from(common).ok()?;
    }
    u64::try_from(common).ok()
}

struct Worst {
    response_ns: u64,
    made_of: Vec<Part>,
}

/// The longest response over all instants at which the window can begin; `None` where the CPU
/// never comes to rest.
fn longest(
    task: &Task,
    blocking_ns: u64,
    before: &[Source<'_>],
    common_ns: u64,
) -> Result<Option<Worst>, Impossible> {
    let shares = before
        .iter()
        .map(|source| (source.execution_ns, source.period_ns()))
        .chain([(task.execution_ns, task.period_ns())]);
    if against_one(shares) == Ordering::Greater {
        return Ok(None);
    }
    let own = release_of(task);
    let clocks = before
        .iter()
        .map(|source| (&source.release, source.jitter_ns))
        .chain([(&own, task.jitter_ns)]);
    let mut instants: Vec<u64> = Vec::new();
    for (release, jitter_ns) in clocks {
        if let Release::Clock {
            offset_ns,
            period_ns,
        } = release
        {
            let first = sum(offset_ns % period_ns, jitter_ns)?;
            for job in 0..common_ns / period_ns {
                instants.push(sum(first, times(job, *period_ns)?)? % common_ns);
            }
        }
    }
    instants.sort_unstable();
    instants.dedup();
    if instants.is_empty() {
        instants.push(0);
    }
    let mut worst: Option<Worst> = None;
    for &instant_ns in &instants {
        let window = Window {
            task,
            own: &own,
            blocking_ns,
            before,
            starts_ns: i128::from(instant_ns),
        };
        match window.longest()? {
            None => return Ok(None),
            Some(found) => {
                if worst
                    .as_ref()
                    .is_none_or(|worst| found.response_ns > worst.response_ns)
                {
                    worst = Some(found);
                }
            }
        }
    }
    Ok(worst)
}

impl Source<'_> {
    fn period_ns(&self) -> u64 {
        match &self.release {
            Release::Clock { period_ns, .. } => *period_ns,
            Release::Free(Arrivals::Sporadic(period_ns)) => *period_ns,
            Release::Free(Arrivals::Distances(list)) => list
                .last()
                .map_or(1, |last| (last / list.len() as u64).max(1)),
        }
    }

    /// Jobs that can run in a window of that length from that instant of the clock.
    fn jobs(&self, starts_ns: i128, length_ns: u64) -> Result<u64, Impossible> {
        match &self.release {
            Release::Free(arrivals) => arrivals.within(length_ns, self.jitter_ns),
            Release::Clock {
                offset_ns,
                period_ns,
            } => {
                let first = job_from(
                    *offset_ns,
                    *period_ns,
                    starts_ns - i128::from(self.jitter_ns),
                );
                let end = job_from(*offset_ns, *period_ns, starts_ns + i128::from(length_ns));
                u64::try_from((end - first).max(0)).map_err(|_| Impossible::Overflow)
            }
        }
    }
}

/// The number of the first job that is due at `at_ns` or later, the clock running both ways.
fn job_from(offset_ns: u64, period_ns: u64, at_ns: i128) -> i128 {
    let (beyond, period) = (at_ns - i128::from(offset_ns), i128::from(period_ns));
    -(-beyond).div_euclid(period)
}

struct Window<'a> {
    task: &'a Task,
    own: &'a Release<'a>,
    blocking_ns: u64,
    before: &'a [Source<'a>],
    starts_ns: i128,
}

impl Window<'_> {
    /// The longest response of the task's jobs in this window; 0 if it has none.
    fn longest(&self) -> Result<Option<Worst>, Impossible> {
        let mut worst = Worst {
            response_ns: 0,
            made_of: Vec::new(),
        };
        let first = match self.due(1)? {
            due if due > 0 => u64::try_from(due).map_err(|_| Impossible::Overflow)?,
            _ => 0,
        };
        // The CPU is at rest before the task's first job: another window has that.
        if first > 0 {
            match self.end(0, self.blocking_ns.max(1))? {
                None => return Ok(None),
                Some(rest_ns) if rest_ns < first => return Ok(Some(worst)),
                Some(_) => {}
            }
        }
        let mut from_ns = 0;
        for job in 1..MOST_ROUNDS {
            let due_ns = self.due(job)?;
            if job > 1 && due_ns >= i128::from(from_ns) {
                return Ok(Some(worst));
            }
            let Some(end_ns) = self.end(job, from_ns)? else {
                return Ok(None);
            };
            from_ns = end_ns;
            let response_ns = u64::try_from(i128::from(end_ns) - due_ns).unwrap_or(0);
            if response_ns > worst.response_ns {
                worst = Worst {
                    response_ns,
                    made_of: self.parts(job, end_ns, due_ns)?,
                };
            }
        }
        Ok(None)
    }

    /// When the `job`-th of the task's jobs that can be in this window is due, from its start.
    fn due(&self, job: u64) -> Result<i128, Impossible> {
        let jitter = i128::from(self.task.jitter_ns);
        match self.own {
            Release::Free(arrivals) => Ok(i128::from(arrivals.shortest_for(job)?) - jitter),
            Release::Clock {
                offset_ns,
                period_ns,
            } => {
                let first = job_from(*offset_ns, *period_ns, self.starts_ns - jitter);
                let number = first + i128::from(job) - 1;
                Ok(number * i128::from(*period_ns) + i128::from(*offset_ns) - self.starts_ns)
            }
        }
    }

    /// When `jobs` of the task and all that comes before them are done.
    fn end(&self, jobs: u64, from_ns: u64) -> Result<Option<u64>, Impossible> {
        let own_ns = sum(self.blocking_ns, times(jobs, self.task.execution_ns)?)?;
        let mut reached_ns = own_ns.max(from_ns);
        for _ in 0..MOST_ROUNDS {
            let mut next_ns = own_ns;
            for source in self.before {
                let jobs = source.jobs(self.starts_ns, reached_ns)?;
                next_ns = sum(next_ns, times(jobs, source.execution_ns)?)?;
            }
            if next_ns <= reached_ns {
                return Ok(Some(match jobs {
                    0 => next_ns,
                    _ => reached_ns,
                }));
            }
            reached_ns = next_ns;
        }
        Ok(None)
    }

    fn parts(&self, job: u64, end_ns: u64, due_ns: i128) -> Result<Vec<Part>, Impossible> {
        let mut parts = vec![Part {
            what: What::Own { earlier: job - 1 },
            ns: times(job, self.task.execution_ns)?,
        }];
        let mut push = |what, ns| {
            if ns > 0 {
                parts.push(Part { what, ns });
            }
        };
        push(What::Blocking, self.blocking_ns);
        for source in self.before {
            let jobs = source.jobs(self.starts_ns, end_ns)?;
            let what = match &source.what {
                What::Preemption { by, .. } => What::Preemption { by: *by, jobs },
                other => other.clone(),
            };
            push(what, times(jobs, source.execution_ns)?);
        }
        let late = |ns: i128| u64::try_from(ns.max(0)).unwrap_or(u64::MAX);
        push(What::Jitter, late(-due_ns));
        push(What::BeforeDue, late(due_ns));
        Ok(parts)
    }
}
