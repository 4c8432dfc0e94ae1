//! Placement of tasks on CPUs: by decreasing utilization, each on the CPU that it fits. Each placement repeats the
//! whole inflated test, since overheads grow with the number of tasks.

use crate::analysis::{NotAnalysed, Outcome, Question, prove};
use crate::arithmetic::{Share, utilization};
use crate::fixed_priority::{Unassignable, assign};
use crate::method::Method;
use crate::overheads::{Releases, inflate_fixed_priority};
use crate::task::Task;

/// Which of the CPUs on which a task fits is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The first.
    First,
    /// The one that is fullest.
    Best,
    /// The one that is emptiest.
    Worst,
}

/// Why tasks were not placed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPlaced {
    /// A task fits on no CPU next to those already placed.
    #[error("{0}: fits on no CPU next to the tasks placed before it; give more CPUs or less work")]
    NoRoom(String),
    /// A task that can't be moved by itself.
    #[error(
        "{0}: is released by another task or runs in a reservation; give CPUs and priorities by hand \
         for such a set"
    )]
    Tied(String),
    /// The question is wrong in itself.
    #[error(transparent)]
    NotAnalysed(#[from] NotAnalysed),
}

/// The tasks with CPUs, and, under fixed priorities, with priorities from `lowest_priority` up.
/// Tasks that have a CPU keep it.
///
/// # Errors
/// [`NotPlaced`].
pub fn place(
    question: &Question<'_>,
    fit: Fit,
    lowest_priority: u32,
) -> Result<Vec<Task>, NotPlaced> {
    let tied = |task: &&Task| task.after.is_some() || task.reservation.is_some();
    if let Some(task) = question.tasks.iter().find(tied) {
        return Err(NotPlaced::Tied(task.name.clone()));
    }
    let mut order: Vec<usize> = (0..question.tasks.len()).collect();
    order.sort_by_cached_key(|&place| {
        let task = &question.tasks[place];
        std::cmp::Reverse(Share::up(task.execution_ns, task.period_ns().max(1)))
    });
    let mut placed: Vec<(usize, Task)> = Vec::new();
    // Pinned tasks are placed first.
    order.sort_by_cached_key(|&place| question.tasks[place].cpu.is_none());
    let size = question.method.cluster_size(question.cpus);
    for place in order {
        let task = &question.tasks[place];
        let mut candidates: Vec<u16> = match task.cpu {
            Some(cpu) => vec![cpu],
            None => (0..question.cpus).step_by(usize::from(size)).collect(),
        };
        let filled = |cpu: u16| {
            let there = placed
                .iter()
                .filter(|(_, other)| other.cpu.map(|cpu| cpu / size) == Some(cpu / size));
            utilization(there.map(|(_, other)| other))
        };
        match fit {
            Fit::First => {}
            Fit::Best => candidates.sort_by_cached_key(|&cpu| std::cmp::Reverse(filled(cpu))),
            Fit::Worst => candidates.sort_by_cached_key(|&cpu| filled(cpu)),
        }
        let mut found = None;
        for cpu in candidates {
            if let Some(tasks) = tried(question, &placed, task, cpu, lowest_priority)? {
                found = Some((cpu, tasks));
                break;
            }
        }
        let Some((cpu, priorities)) = found else {
            return Err(NotPlaced::NoRoom(task.name.clone()));
        };
        let mut task = task.clone();
        task.cpu = Some(cpu);
        placed.push((place, task));
        for (name, priority) in priorities {
            for (_, task) in placed.iter_mut().filter(|(_, task)| task.name == name) {
                task.priority = priority;
            }
        }
    }
    placed.sort_by_cached_key(|(place, _)| *place);
    Ok(placed.into_iter().map(|(_, task)| task).collect())
}

/// Priorities by name, found for the tasks of one CPU.
type Priorities = Vec<(String, u32)>;

/// Whether a task fits on a CPU with the tasks already there; the priorities with which it does.
fn tried(
    question: &Question<'_>,
    placed: &[(usize, Task)],
    task: &Task,
    cpu: u16,
    lowest_priority: u32,
) -> Result<Option<Priorities>, NotPlaced> {
    let size = question.method.cluster_size(question.cpus);
    let beside = placed
        .iter()
        .map(|(_, other)| other.clone())
        .filter(|other| other.cpu.map(|cpu| cpu / size) == Some(cpu / size));
    let mut tasks: Vec<Task> = beside.chain([task.clone()]).collect();
    for task in &mut tasks {
        task.cpu = Some(cpu);
    }
    if question.method == Method::PartitionedFixedPriority
        && !prioritized(question, &mut tasks, lowest_priority)?
    {
        return Ok(None);
    }
    let alone = Question {
        tasks: &tasks,
        ..question.clone()
    };
    let holds = prove(&alone)?.outcome == Outcome::Schedulable;
    let priorities = tasks
        .iter()
        .map(|task| (task.name.clone(), task.priority))
        .collect();
    Ok(holds.then_some(priorities))
}

/// Gives the tasks of one CPU priorities with which they hold, overheads included.
fn prioritized(
    question: &Question<'_>,
    tasks: &mut [Task],
    lowest_priority: u32,
) -> Result<bool, NotPlaced> {
    let (costs, delays) = question.costs_of(tasks);
    let inflated = inflate_fixed_priority(tasks, &delays, &costs, Releases::Local);
    let (mut inflated, interrupts) = inflated.map_err(NotAnalysed::Impossible)?;
    // The timer's delay is in the jitter: a job that no longer fits holds on no CPU.
    if inflated.iter().any(|task| task.check().is_err()) {
        return Ok(false);
    }
    let all: Vec<usize> = (0..inflated.len()).collect();
    match assign(&mut inflated, &all, &interrupts, lowest_priority) {
        Ok(()) => {
            for (task, inflated) in tasks.iter_mut().zip(&inflated) {
                task.priority = inflated.priority;
            }
            Ok(true)
        }
        Err(Unassignable::NoOrder(_)) => Ok(false),
        Err(Unassignable::Impossible(error)) => Err(NotAnalysed::Impossible(error).into()),
    }
}
