//! The tasks that share one queue: a CPU's under partitioned scheduling, a cluster's, or all. The
//! submodules analyse each kind of queue.

mod by_deadline;
mod by_priority;
mod refutation;
mod several;

pub(super) use by_priority::own_apart;

use super::{Counterexample, NotAnalysed, Outcome, Question, Refuted, TaskAnswer, renumbered};
use crate::arithmetic::{against_one, sum, times};
use crate::matrix::Queue;
use crate::overheads::Costs;
use crate::sched_deadline::{self, Parameters};
use crate::task::{Arrivals, Impossible, Task};
use by_deadline::edf_on_one;
use by_priority::fixed_priority_on_one;
use several::on_several;
use std::cmp::Ordering;

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

    pub(super) fn analyse(
        &self,
        question: &Question<'_>,
        search: Counterexample,
    ) -> Result<GroupAnswer, NotAnalysed> {
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
        let answer = match Queue::new(question.method, self.cpus) {
            Queue::FixedOnOne => fixed_priority_on_one(&tasks, &costs, &delays)?,
            Queue::EdfOnOne => edf_on_one(&tasks, &tasks, (&costs, &delays), search, false)?.0,
            Queue::DeadlineOnOne => by_kernel(&tasks, (&costs, &delays), |seen| {
                edf_on_one(seen, &tasks, (&costs, &delays), search, true)
            })?,
            queue @ Queue::DeadlineOnSeveral => by_kernel(&tasks, (&costs, &delays), |seen| {
                on_several(seen, &tasks, (&costs, &delays), queue, self.cpus, search)
            })?,
            queue @ (Queue::FixedOnSeveral | Queue::EdfOnSeveral) => {
                on_several(&tasks, &tasks, (&costs, &delays), queue, self.cpus, search)?.0
            }
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

/// Under SCHED_DEADLINE a job runs in a reservation of its own.
///
/// Where all deadlines are met, each wake-up finds the last deadline in the past and begins a new budget:
/// plain EDF. That holds as well where jobs are late and still end before their threads' next wake-ups. A
/// later job leaves its budget's rest to the next one, with the old deadline; and later than a period after
/// its deadline it is given one counted from now (`replenish_dl_entity`): up to there lateness on several
/// CPUs is bounded as that of budgets that are all used. Runtimes must be what jobs need: with less, a
/// thread is throttled and its budgets begin anywhere, and nothing in its queue is proved.
fn by_kernel(
    tasks: &[Task],
    (costs, delays): (&Costs, &[u64]),
    analysed: impl FnOnce(&[Task]) -> Result<(GroupAnswer, Vec<Task>), Impossible>,
) -> Result<GroupAnswer, Impossible> {
    let late_ns = costs.wake_up_late_ns(tasks.len());
    let seen: Vec<Task> = tasks
        .iter()
        .map(|task| sched_deadline::seen(task, late_ns))
        .collect();
    let (mut answer, inflated) = analysed(&seen)?;
    let mut parameters = Vec::with_capacity(tasks.len());
    for (place, task) in tasks.iter().enumerate() {
        let cold_ns = fetched_again(&seen, place, delays[place], late_ns)?;
        let needed_ns = sum(inflated[place].execution_ns, cold_ns)?;
        parameters.push(Parameters::new(task, needed_ns, late_ns));
    }
    let throttled = parameters
        .iter()
        .any(|asked| asked.runtime_ns < asked.needed_ns);
    let within_a_period = |place: usize, found: &TaskAnswer| {
        let asked = &parameters[place];
        let most_ns = match (found.bound.response_ns, found.tardiness_ns) {
            (Some(response_ns), _) => response_ns.saturating_sub(tasks[place].jitter_ns),
            // Of a set without stretches that can't be preempted.
            (None, Some(tardiness_ns)) => tardiness_ns,
            (None, None) => u64::MAX,
        };
        most_ns < asked.period_ns && asked.runtime_ns == inflated[place].execution_ns
    };
    let missed = answer.outcome != Outcome::Schedulable
        && !(answer.tasks.iter().enumerate()).all(|(place, found)| within_a_period(place, found));
    for (found, parameters) in answer.tasks.iter_mut().zip(parameters) {
        if throttled || missed {
            found.bound.response_ns = None;
            found.bound.made_of.clear();
            found.tardiness_ns = None;
            found.schedulable = false;
        }
        found.parameters = Some(parameters);
    }
    if throttled {
        answer.outcome = answer.outcome.and(Outcome::NotProvable);
    }
    Ok(answer)
}

/// Cache reloads of a job after preemptions, in nanoseconds. The analysis charges them to the preempting
/// jobs, but the kernel takes them from the preempted job's runtime. Each job with an earlier deadline
/// preempts at most one other.
fn fetched_again(
    seen: &[Task],
    place: usize,
    delay_ns: u64,
    late_ns: u64,
) -> Result<u64, Impossible> {
    let mut jobs = 0;
    if delay_ns > 0 {
        let window_ns = seen[place].deadline_ns;
        for (_, other) in seen.iter().enumerate().filter(|(other, _)| *other != place) {
            jobs = sum(jobs, other.arrivals.within(window_ns, late_ns)?)?;
        }
    }
    times(jobs, delay_ns)
}

/// Whether the tasks need more than one CPU; exact if that can be computed.
fn overloaded(tasks: &[Task]) -> bool {
    let shares = tasks.iter().map(|task| match &task.arrivals {
        Arrivals::Sporadic(period_ns) => (task.execution_ns, *period_ns),
        Arrivals::Distances(list) => (
            task.execution_ns.saturating_mul(list.len() as u64),
            list.last().map_or(1, |last| *last),
        ),
    });
    let whole = tasks.iter().all(|task| {
        let jobs = match &task.arrivals {
            Arrivals::Sporadic(_) => 1,
            Arrivals::Distances(list) => list.len() as u64,
        };
        task.execution_ns.checked_mul(jobs).is_some()
    });
    whole && against_one(shares) == Ordering::Greater
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
