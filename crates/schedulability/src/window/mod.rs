//! The window in which a task responds the latest, simulated: what runs when, from the instant at which all
//! are released together to the end of the worst job. For one CPU, for which that instant is known; analyses of
//! several CPUs add up interference that no single schedule shows.

mod by_deadline;

use crate::analysis::{Analysis, NotAnalysed, Question};
use crate::arithmetic::sum;
use crate::bound::What;
use crate::fixed_priority::{blocking_ns, last_stretch_ns};
use crate::method::Method;
use crate::overheads::{Releases, inflate_fixed_priority};
use crate::task::{Arrivals, Impossible, Task};

/// Stretches after which a window is too long to be looked at.
const MOST_STRETCHES: usize = 2000;

/// Schedule of a CPU in the worst window of a task. Times are nanoseconds from its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Place of the task.
    pub task: usize,
    /// What runs, without gaps.
    pub stretches: Vec<Stretch>,
    /// When the worst job was due: before the window if it is released late.
    pub due_ns: i128,
    /// Its deadline.
    pub deadline_ns: i128,
    /// Its end.
    pub end_ns: u64,
}

/// Something that runs without a pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// What runs.
    pub what: Runs,
    /// From here.
    pub from_ns: u64,
    /// To here.
    pub to_ns: u64,
}

/// Work that a CPU runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runs {
    /// A task, by its place, with the switches around it.
    Task(usize),
    /// An interrupt.
    Interrupt(&'static str),
    /// A later task that can't be preempted, or the kernel.
    Blocking,
}

struct Source<'a> {
    what: Runs,
    execution_ns: u64,
    arrivals: &'a Arrivals,
    jitter_ns: u64,
    /// Jobs done, and what is left of the one under way.
    done: u64,
    left_ns: u64,
}

impl Source<'_> {
    fn release_ns(&self, job: u64) -> Result<u64, Impossible> {
        Ok(self
            .arrivals
            .shortest_for(job + 1)?
            .saturating_sub(self.jitter_ns))
    }
}

/// The worst window of a task of an analysed set; `None` where its analysis has no single worst
/// schedule (other policies; offsets, sleeps, reservations, tasks that release each other), and
/// where the task has no bound.
///
/// # Errors
/// As [`crate::analyse`].
pub fn worst_window(
    question: &Question<'_>,
    analysis: &Analysis,
    task: usize,
) -> Result<Option<Window>, NotAnalysed> {
    let own = &question.tasks[task];
    let size = question.method.cluster_size(question.cpus);
    let group = |task: &Task| {
        if question.cpus > size {
            task.cpu.unwrap_or(0) / size
        } else {
            0
        }
    };
    // The last cluster may have one CPU where others have more.
    let first = u32::from(group(own)) * u32::from(size);
    let on_one = size == 1 || u32::from(question.cpus).saturating_sub(first) == 1;
    let members: Vec<usize> = (0..question.tasks.len())
        .filter(|&place| group(&question.tasks[place]) == group(own))
        .collect();
    let plain = |task: &Task| {
        task.suspension_ns == 0
            && task.offset_ns.is_none()
            && task.after.is_none()
            && task.reservation.is_none()
    };
    if !on_one || !question.tasks.iter().all(plain) {
        return Ok(None);
    }
    let bound = &analysis.tasks[task].bound;
    let parts = &bound.made_of;
    let worst_job = parts.iter().find_map(|part| match part.what {
        What::Own { earlier } => Some(earlier),
        _ => None,
    });
    let Some(worst_job) = worst_job else {
        return Ok(None);
    };
    let tasks: Vec<Task> = members
        .iter()
        .map(|&place| question.tasks[place].clone())
        .collect();
    let (costs, delays) = question.costs_of(&tasks);
    if !question.method.by_priority() {
        let of_kernel = matches!(question.method, Method::Deadline(_));
        let found = by_deadline::window(&tasks, (&costs, &delays), of_kernel, &members, bound)?;
        return Ok(found);
    }
    let (inflated, interrupts) = inflate_fixed_priority(&tasks, &delays, &costs, Releases::Local)?;
    let Some(local) = members.iter().position(|&place| place == task) else {
        return Ok(None);
    };
    let mut order: Vec<usize> = (0..inflated.len())
        .filter(|&place| inflated[place].priority >= inflated[local].priority)
        .collect();
    order.sort_by_key(|&place| std::cmp::Reverse(inflated[place].priority));
    let own = &inflated[local];
    let later = inflated.iter().filter(|task| task.priority < own.priority);
    let blocking_ns = blocking_ns(own, later)?;
    let whole = last_stretch_ns(own, !interrupts.is_empty()) > 0;
    let interrupts = interrupts.iter().map(|interrupt| Source {
        what: Runs::Interrupt(interrupt.name),
        execution_ns: interrupt.execution_ns,
        arrivals: &interrupt.arrivals,
        jitter_ns: interrupt.jitter_ns,
        done: 0,
        left_ns: 0,
    });
    let by_priority = order.iter().map(|&place| Source {
        what: Runs::Task(members[place]),
        execution_ns: inflated[place].execution_ns,
        arrivals: &inflated[place].arrivals,
        jitter_ns: inflated[place].jitter_ns,
        done: 0,
        left_ns: 0,
    });
    let sources: Vec<Source<'_>> = interrupts.chain(by_priority).collect();
    let Some(stretches) = played(sources, blocking_ns, worst_job, whole)? else {
        return Ok(None);
    };
    let due = inflated[local].arrivals.shortest_for(worst_job + 1)?;
    let due_ns = i128::from(due) - i128::from(inflated[local].jitter_ns);
    Ok(Some(Window {
        task,
        end_ns: stretches.last().map_or(0, |last| last.to_ns),
        due_ns,
        deadline_ns: due_ns + i128::from(question.tasks[task].deadline_ns),
        stretches,
    }))
}

/// Everything released as early and as often as it can be; the last source is the task's own, and
/// its job of that number ends the window.
fn played(
    mut sources: Vec<Source<'_>>,
    blocking_ns: u64,
    worst_job: u64,
    whole: bool,
) -> Result<Option<Vec<Stretch>>, Impossible> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut push = |what: &Runs, from_ns: u64, to_ns: u64| {
        match stretches.last_mut() {
            Some(last) if last.what == *what => last.to_ns = to_ns,
            _ if from_ns < to_ns => stretches.push(Stretch {
                what: what.clone(),
                from_ns,
                to_ns,
            }),
            _ => {}
        }
        stretches.len()
    };
    push(&Runs::Blocking, 0, blocking_ns);
    let mut now = blocking_ns;
    let own = sources.len() - 1;
    loop {
        let mut running = None;
        for (place, source) in sources.iter().enumerate() {
            if source.left_ns > 0 || source.release_ns(source.done)? <= now {
                running = Some(place);
                break;
            }
        }
        // The window of a bound never falls silent.
        let Some(running) = running else {
            return Ok(None);
        };
        let mut until = u64::MAX;
        if !(whole && running == own) {
            for source in &sources[..running] {
                until = until.min(source.release_ns(source.done)?);
            }
        }
        let source = &mut sources[running];
        if source.left_ns == 0 {
            source.left_ns = source.execution_ns;
        }
        let end = sum(now, source.left_ns)?.min(until);
        source.left_ns -= end - now;
        let count = push(&source.what, now, end);
        now = end;
        if source.left_ns == 0 {
            source.done = sum(source.done, 1)?;
            if running == own && source.done > worst_job {
                return Ok(Some(stretches));
            }
        }
        if count > MOST_STRETCHES {
            return Ok(None);
        }
    }
}

impl Window {
    /// How long something runs in it, in nanoseconds.
    ///
    /// # Errors
    /// [`Impossible::Overflow`].
    pub fn ran_ns(&self, what: &Runs) -> Result<u64, Impossible> {
        let own = self
            .stretches
            .iter()
            .filter(|stretch| stretch.what == *what);
        own.map(|stretch| stretch.to_ns - stretch.from_ns)
            .try_fold(0, sum)
    }

    /// From due time to end: the bound.
    pub fn response_ns(&self) -> i128 {
        i128::from(self.end_ns) - self.due_ns
    }
}
