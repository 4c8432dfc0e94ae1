//! The worst window under earliest deadline first: all other tasks released together at its beginning,
//! the task's own jobs so that the worst of them is due where Spuri's analysis found it the latest.

use super::{MOST_STRETCHES, Runs, Stretch, Window};
use crate::analysis::within_its_deadline;
use crate::arithmetic::{sum, times};
use crate::bound::{Bound, What};
use crate::edf;
use crate::overheads::{CacheDelays, Costs, Releases, inflate_edf};
use crate::sched_deadline;
use crate::task::{Impossible, Task};

/// Jobs of one task, by deadline. Deadlines may lie before the window's beginning.
struct Jobs {
    what: Runs,
    execution_ns: u64,
    period_ns: u64,
    /// When the first is due, and how long after that its deadline is.
    first_due_ns: i128,
    deadline_ns: u64,
    /// Jobs done, and what is left of the one under way.
    done: u64,
    left_ns: u64,
}

impl Jobs {
    fn due_ns(&self) -> i128 {
        self.first_due_ns + i128::from(self.done) * i128::from(self.period_ns)
    }

    fn released_ns(&self) -> u64 {
        u64::try_from(self.due_ns().max(0)).unwrap_or(u64::MAX)
    }

    fn until_ns(&self) -> i128 {
        self.due_ns() + i128::from(self.deadline_ns)
    }
}

/// The window of the bound's task among `tasks`, which share one CPU and are `members` of the set.
/// `None` where what was played through is not as long as the bound says.
pub(super) fn window(
    tasks: &[Task],
    (costs, delays): (&Costs, &CacheDelays),
    of_kernel: bool,
    members: &[usize],
    bound: &Bound,
) -> Result<Option<Window>, Impossible> {
    let Some(local) = members.iter().position(|&place| place == bound.task) else {
        return Ok(None);
    };
    let seen = if of_kernel {
        let late_ns = costs.wake_up_late_ns(tasks.len());
        let seen = tasks.iter();
        seen.map(|task| sched_deadline::seen(task, late_ns))
            .collect()
    } else {
        tasks.to_vec()
    };
    let inflated = inflate_edf(&seen, delays, costs, Releases::Local)?;
    let section_ns = inflated.section_ns;
    let inflated = within_its_deadline(&inflated.tasks);
    let all: Vec<usize> = (0..tasks.len()).collect();
    let since_due_ns = tasks[local].jitter_ns - seen[local].jitter_ns;
    let piece_ns = |what: &What| {
        let mut parts = bound.made_of.iter();
        let found = parts.find(|part| part.what == *what);
        found.map_or(0, |part| i128::from(part.ns))
    };
    // The jitter that the scheduler doesn't see is no part of the window.
    let late_ns = piece_ns(&What::Jitter) - i128::from(since_due_ns);
    let due_ns = piece_ns(&What::BeforeDue) - late_ns;
    let own = &inflated[local];
    let Some(last_own) = edf::jobs_due_by(own, due_ns)?.checked_sub(1) else {
        return Ok(None);
    };
    let deadline_ns = due_ns + i128::from(own.deadline_ns);
    let stretch_ns = edf::blocking_ns(&inflated, &all, local, deadline_ns, section_ns);
    let blocking_ns = sum(stretch_ns, own.blocking_ns)?;
    let others = all.iter().filter(|&&place| place != local).map(|&place| {
        let task = &inflated[place];
        jobs(members[place], task, -i128::from(task.jitter_ns))
    });
    let first_own = due_ns - i128::from(times(last_own, own.closest_ns())?);
    // Of equal deadlines its own comes last.
    let sources = others.chain([jobs(bound.task, own, first_own)]).collect();
    let Some(stretches) = played(sources, blocking_ns, last_own, deadline_ns)? else {
        return Ok(None);
    };
    let due_ns = due_ns - i128::from(sum(since_due_ns, costs.event_ns)?);
    let window = Window {
        task: bound.task,
        end_ns: stretches.last().map_or(0, |last| last.to_ns),
        due_ns,
        deadline_ns: due_ns + i128::from(bound.deadline_ns),
        stretches,
    };
    let as_long = bound.response_ns.map(i128::from) == Some(window.response_ns());
    Ok(as_long.then_some(window))
}

fn jobs(place: usize, task: &Task, first_due_ns: i128) -> Jobs {
    Jobs {
        what: Runs::Task(place),
        execution_ns: task.execution_ns,
        period_ns: task.closest_ns(),
        first_due_ns,
        deadline_ns: task.deadline_ns,
        done: 0,
        left_ns: 0,
    }
}

/// The earliest deadline first, until the last source's job of that number is done; jobs with deadlines
/// after its own never run before.
fn played(
    mut sources: Vec<Jobs>,
    blocking_ns: u64,
    last_own: u64,
    deadline_ns: i128,
) -> Result<Option<Vec<Stretch>>, Impossible> {
    let mut stretches: Vec<Stretch> = Vec::new();
    if blocking_ns > 0 {
        stretches.push(Stretch {
            what: Runs::Blocking,
            from_ns: 0,
            to_ns: blocking_ns,
        });
    }
    let mut now = blocking_ns;
    let own = sources.len() - 1;
    while stretches.len() <= MOST_STRETCHES {
        let before = |source: &Jobs| source.until_ns() <= deadline_ns;
        let ready = sources.iter().enumerate();
        let ready = ready.filter(|(_, source)| source.released_ns() <= now && before(source));
        let Some((running, _)) = ready.min_by_key(|(_, source)| source.until_ns()) else {
            // The window of a bound never falls silent.
            return Ok(None);
        };
        let later = sources.iter().map(Jobs::released_ns);
        let next = later.filter(|&released| released > now).min();
        let source = &mut sources[running];
        if source.left_ns == 0 {
            source.left_ns = source.execution_ns;
        }
        let end = sum(now, source.left_ns)?.min(next.unwrap_or(u64::MAX));
        source.left_ns -= end - now;
        match stretches.last_mut() {
            Some(last) if last.what == source.what => last.to_ns = end,
            _ => stretches.push(Stretch {
                what: source.what.clone(),
                from_ns: now,
                to_ns: end,
            }),
        }
        now = end;
        if source.left_ns == 0 {
            source.done = sum(source.done, 1)?;
            if running == own && source.done > last_own {
                return Ok(Some(stretches));
            }
        }
    }
    Ok(None)
}
