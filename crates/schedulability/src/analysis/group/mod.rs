//! The tasks that share one queue: a CPU's under partitioned scheduling, a cluster's, or all. How each
//! kind of queue is analysed is beside it.

mod by_deadline;
mod by_priority;
mod refutation;
mod several;

pub(super) use by_priority::own_apart;

use super::{NotAnalysed, Outcome, Question, Refuted, TaskAnswer, renumbered};
use crate::method::Method;
use crate::overheads::Costs;
use crate::sched_deadline::Parameters;
use crate::task::{Arrivals, Impossible, Task};
use by_deadline::edf_on_one;
use by_priority::fixed_priority_on_one;
use several::on_several;

pub(super) struct Group {
    members: Vec<usize>,
    first_cpu: u16,
    cpus: u16,
}

/// A group's answer, tasks in the set's numbering.
pub(super) struct GroupAnswer {
    pub(super) tasks: Vec<TaskAnswer>,
    pub(super) outcome: Outcome,
}

impl Group {
    /// The groups of a question, those without tasks left out.
    pub(super) fn all(question: &Question<'_>) -> Result<Vec<Self>, NotAnalysed> {
        let size = question.method.cluster_size(question.cpus);
        let count = question.cpus.max(1).div_ceil(size);
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); usize::from(count)];
        for (place, task) in question.tasks.iter().enumerate() {
            let cpu = match task.cpu {
                Some(cpu) => cpu,
                None if count == 1 => 0,
                None => {
                    return Err(NotAnalysed::NoCpu {
                        task: task.name.clone(),
                        method: question.method,
                    });
                }
            };
            if cpu >= question.cpus.max(1) {
                return Err(NotAnalysed::NoSuchCpu {
                    task: task.name.clone(),
                    cpu,
                    last: question.cpus.max(1) - 1,
                });
            }
            members[usize::from(cpu / size)].push(place);
        }
        let groups = members.into_iter().enumerate().map(|(number, members)| {
            let first_cpu = number as u16 * size;
            Self {
                members,
                first_cpu,
                // The last cluster may be smaller.
                cpus: size.min(question.cpus.max(1) - first_cpu),
            }
        });
        Ok(groups.filter(|group| !group.members.is_empty()).collect())
    }

    pub(super) fn analyse(&self, question: &Question<'_>) -> Result<GroupAnswer, NotAnalysed> {
        let tasks: Vec<Task> = self
            .members
            .iter()
            .map(|&place| question.tasks[place].clone())
            .collect();
        let (costs, delays) = match question.overheads {
            None => (Costs::default(), vec![0; tasks.len()]),
            Some(overheads) => {
                let moves = self.cpus > 1;
                let delay = |task: &Task| overheads.cache_delay_ns(task.working_set_bytes, moves);
                let cpus = self.first_cpu..self.first_cpu + self.cpus;
                (
                    overheads.costs_on(cpus, tasks.len()),
                    tasks.iter().map(delay).collect(),
                )
            }
        };
        let answer = match (question.method, self.cpus) {
            (Method::PartitionedFixedPriority, _) | (Method::GlobalFixedPriority, 1) => {
                fixed_priority_on_one(&tasks, &costs, &delays)?
            }
            (Method::Deadline(_), 1) => by_kernel(&tasks, |tasks| {
                edf_on_one(&from_wake_up(tasks), tasks, &costs, &delays)
            })?,
            (Method::PartitionedEdf, _) | (_, 1) => edf_on_one(&tasks, &tasks, &costs, &delays)?.0,
            (Method::Deadline(_), cpus) => by_kernel(&tasks, |tasks| {
                on_several(tasks, &costs, &delays, question.method, cpus)
            })?,
            (method, cpus) => on_several(&tasks, &costs, &delays, method, cpus)?.0,
        };
        Ok(self.renumbered(answer))
    }

    fn renumbered(&self, answer: GroupAnswer) -> GroupAnswer {
        let task = |mut answer: TaskAnswer| {
            answer.bound = renumbered(answer.bound, &self.members);
            answer
        };
        let outcome = match answer.outcome {
            Outcome::NotSchedulable(Refuted::Response { task }) => {
                Outcome::NotSchedulable(Refuted::Response {
                    task: self.members[task],
                })
            }
            Outcome::NotSchedulable(Refuted::Played {
                task,
                deadline_ns,
                offsets_ns,
            }) => Outcome::NotSchedulable(Refuted::Played {
                task: self.members[task],
                deadline_ns,
                offsets_ns: offsets_ns
                    .into_iter()
                    .map(|(task, offset_ns)| (self.members[task], offset_ns))
                    .collect(),
            }),
            other => other,
        };
        GroupAnswer {
            tasks: answer.tasks.into_iter().map(task).collect(),
            outcome,
        }
    }
}

/// Under SCHED_DEADLINE a job runs in a reservation of its own: with a runtime below what it needs
/// it is throttled, and nothing is proved of it.
fn by_kernel(
    tasks: &[Task],
    analysed: impl FnOnce(&[Task]) -> Result<(GroupAnswer, Vec<Task>), Impossible>,
) -> Result<GroupAnswer, Impossible> {
    let (mut answer, inflated) = analysed(tasks)?;
    for (place, found) in answer.tasks.iter_mut().enumerate() {
        let (task, needed_ns) = (&tasks[place], inflated[place].execution_ns);
        let parameters = Parameters::of(task, needed_ns);
        if parameters.runtime_ns < needed_ns {
            found.schedulable = false;
            answer.outcome = answer.outcome.clone().and(Outcome::NotProvable);
        }
        found.parameters = Some(parameters);
    }
    Ok(answer)
}

/// The tasks as SCHED_DEADLINE sees them: its deadlines count from the wake-up, which lags by the
/// jitter, so that period and deadline are shorter by it.
pub(crate) fn from_wake_up(tasks: &[Task]) -> Vec<Task> {
    let seen = tasks.iter().map(|task| Task {
        arrivals: closer(&task.arrivals, task.jitter_ns),
        deadline_ns: task.deadline_ns.saturating_sub(task.jitter_ns),
        jitter_ns: 0,
        ..task.clone()
    });
    seen.collect()
}

fn closer(arrivals: &Arrivals, by_ns: u64) -> Arrivals {
    match arrivals {
        Arrivals::Sporadic(period_ns) => Arrivals::Sporadic(period_ns.saturating_sub(by_ns).max(1)),
        Arrivals::Distances(list) => Arrivals::Distances(
            list.iter()
                .map(|distance| distance.saturating_sub(by_ns).max(1))
                .collect(),
        ),
    }
}

/// The task without what only delays it in the worst case.
fn bare(task: &Task) -> Task {
    Task {
        blocking_ns: 0,
        suspension_ns: 0,
        non_preemptive_ns: 0,
        ..task.clone()
    }
}

/// The inflated tasks with deadlines that at least fit one job: whether the task's own deadline is
/// met is asked afterwards.
pub(crate) fn within_its_deadline(inflated: &[Task]) -> Vec<Task> {
    let stretched = inflated.iter().map(|task| Task {
        deadline_ns: task.deadline_ns.max(task.alone_ns()),
        ..task.clone()
    });
    stretched.collect()
}
