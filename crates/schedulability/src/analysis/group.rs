//! The tasks that share one queue: a CPU's under partitioned scheduling, a cluster's, or all.

use super::{NotAnalysed, Outcome, Question, Refuted, TaskAnswer, releases_of, renumbered};
use crate::arithmetic::{Share, utilization};
use crate::bound::{Bound, Part, What};
use crate::edf::{self, DemandTask, Verdict};
use crate::fixed_priority;
use crate::global::{self, GlobalTask, Order};
use crate::method::Method;
use crate::overheads::{Costs, inflate_edf, inflate_fixed_priority};
use crate::simulate::{Rule, play};
use crate::task::{Impossible, Task};

/// How long a set is played in search of a counterexample, in jobs of all tasks.
const JOBS_PLAYED: u64 = 20_000;

pub(super) struct Group {
    members: Vec<usize>,
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
        let groups = members
            .into_iter()
            .enumerate()
            .map(|(number, members)| Self {
                members,
                // The last cluster may be smaller.
                cpus: size.min(question.cpus.max(1) - number as u16 * size),
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
                let delay = |task: &Task| overheads.cache_delay_ns(task.working_set_bytes);
                (
                    overheads.costs(tasks.len()),
                    tasks.iter().map(delay).collect(),
                )
            }
        };
        let answer = match (question.method, self.cpus) {
            (Method::PartitionedFixedPriority, _) | (Method::GlobalFixedPriority, 1) => {
                fixed_priority_on_one(&tasks, &costs, &delays)?
            }
            (Method::PartitionedEdf, _) | (_, 1) => edf_on_one(&tasks, &costs, &delays)?,
            (method, cpus) => on_several(&tasks, &costs, &delays, method, cpus)?,
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
            Outcome::NotSchedulable(Refuted::Played { task, deadline_ns }) => {
                Outcome::NotSchedulable(Refuted::Played {
                    task: self.members[task],
                    deadline_ns,
                })
            }
            other => other,
        };
        GroupAnswer {
            tasks: answer.tasks.into_iter().map(task).collect(),
            outcome,
        }
    }
}

fn fixed_priority_on_one(
    tasks: &[Task],
    costs: &Costs,
    delays: &[u64],
) -> Result<GroupAnswer, Impossible> {
    let all: Vec<usize> = (0..tasks.len()).collect();
    let (inflated, interrupts) = inflate_fixed_priority(tasks, delays, costs, releases_of(1))?;
    // A job that no longer fits by itself has a response all the same: its check is the set's own.
    let unchecked = within_its_deadline(&inflated);
    let mut bounds = fixed_priority::responses(&unchecked, &all, &interrupts)?;
    for bound in &mut bounds {
        bound.deadline_ns = tasks[bound.task].deadline_ns;
        own_apart(bound, &tasks[bound.task], &inflated[bound.task]);
    }
    let answers: Vec<TaskAnswer> = bounds
        .into_iter()
        .map(|bound| TaskAnswer {
            schedulable: bound.holds(),
            bound,
            tardiness_ns: None,
        })
        .collect();
    let outcome = match answers.iter().all(|answer| answer.schedulable) {
        true => Outcome::Schedulable,
        // Without overheads, blocking and sleeping the analysis is exact: what fails there fails.
        false => {
            let bare: Vec<Task> = tasks.iter().map(bare).collect();
            let exact = fixed_priority::responses(&bare, &all, &[])?;
            match exact.iter().find(|bound| !bound.holds()) {
                Some(bound) if bound.response_ns.is_none() => {
                    Outcome::NotSchedulable(Refuted::Overload)
                }
                Some(bound) => Outcome::NotSchedulable(Refuted::Response { task: bound.task }),
                None => Outcome::NotProvable,
            }
        }
    };
    Ok(GroupAnswer {
        tasks: answers,
        outcome,
    })
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
fn within_its_deadline(inflated: &[Task]) -> Vec<Task> {
    let stretched = inflated.iter().map(|task| Task {
        deadline_ns: task.deadline_ns.max(task.alone_ns()),
        ..task.clone()
    });
    stretched.collect()
}

/// Splits what the job itself was charged into its own execution and the switches around it.
fn own_apart(bound: &mut Bound, task: &Task, inflated: &Task) {
    let charged = inflated.execution_ns - task.execution_ns;
    let late = inflated.jitter_ns - task.jitter_ns;
    let section = inflated.blocking_ns - task.blocking_ns;
    let mut apart = Vec::new();
    for part in &mut bound.made_of {
        let (taken, name) = match part.what {
            What::Own { earlier } => (charged * (earlier + 1), "switches and cold caches"),
            What::Jitter => (late, "timer and wake-up"),
            What::Blocking => (section, "kernel sections"),
            _ => continue,
        };
        let taken = taken.min(part.ns);
        part.ns -= taken;
        apart.push(Part {
            what: What::Overhead(name),
            ns: taken,
        });
    }
    bound.made_of.extend(apart);
    bound.made_of.retain(|part| part.ns > 0);
}

fn edf_on_one(tasks: &[Task], costs: &Costs, delays: &[u64]) -> Result<GroupAnswer, Impossible> {
    let all: Vec<usize> = (0..tasks.len()).collect();
    let inflated = inflate_edf(tasks, delays, costs, releases_of(1))?;
    let holds = demand(&inflated)? == Verdict::Holds;
    let unchecked = within_its_deadline(&inflated);
    let responses = edf::responses(&unchecked, &all)?;
    let answers = all.iter().map(|&place| {
        let response_ns = responses.as_ref().and_then(|found| found[place]);
        // The deadline was brought forward by the timer's delay: the response counts it again.
        let response_ns = response_ns.map(|response| response.saturating_add(costs.event_ns));
        let bound = Bound {
            task: place,
            response_ns,
            deadline_ns: tasks[place].deadline_ns,
            made_of: Vec::new(),
        };
        TaskAnswer {
            schedulable: holds || bound.holds(),
            bound,
            tardiness_ns: None,
        }
    });
    let answers: Vec<TaskAnswer> = answers.collect();
    let outcome = match holds {
        true => Outcome::Schedulable,
        false => {
            let bare: Vec<Task> = tasks.iter().map(bare).collect();
            match demand(&bare)? {
                Verdict::Overload => Outcome::NotSchedulable(Refuted::Overload),
                Verdict::Misses {
                    length_ns,
                    needed_ns,
                } => Outcome::NotSchedulable(Refuted::Demand {
                    length_ns,
                    needed_ns,
                }),
                Verdict::Holds | Verdict::Unknown => Outcome::NotProvable,
            }
        }
    };
    Ok(GroupAnswer {
        tasks: answers,
        outcome,
    })
}

fn demand(tasks: &[Task]) -> Result<Verdict, Impossible> {
    let demand: Result<Vec<DemandTask>, Impossible> = tasks
        .iter()
        .map(|task| {
            if task.closest_ns() == 0 {
                return Err(Impossible::Burst {
                    task: task.name.clone(),
                });
            }
            Ok(DemandTask {
                // What a job waits for beyond others' stretches counts as its own.
                execution_ns: task
                    .alone_ns()
                    .checked_add(task.blocking_ns)
                    .ok_or(Impossible::Overflow)?,
                period_ns: task.closest_ns(),
                deadline_ns: task.deadline_ns,
                jitter_ns: task.jitter_ns,
                blocks_ns: task.non_preemptive_ns,
            })
        })
        .collect();
    Ok(edf::demand_holds(&demand?))
}

fn on_several(
    tasks: &[Task],
    costs: &Costs,
    delays: &[u64],
    method: Method,
    cpus: u16,
) -> Result<GroupAnswer, Impossible> {
    let cpus = u32::from(cpus);
    let (order, rule) = match method.by_priority() {
        true => (Order::FixedPriority, Rule::FixedPriority),
        false => (Order::EarliestDeadline, Rule::EarliestDeadline),
    };
    // The global tests take tasks in order of priority.
    let mut ranked: Vec<usize> = (0..tasks.len()).collect();
    if method.by_priority() {
        ranked.sort_by_key(|&place| std::cmp::Reverse(tasks[place].priority));
        fixed_priority::distinct(tasks, &ranked)?;
    }
    let inflated = inflate_edf(tasks, delays, costs, releases_of(2))?;
    let seen: Option<Vec<GlobalTask>> = ranked
        .iter()
        .map(|&place| GlobalTask::of(&without_sections(&inflated[place], &tasks[place])).ok())
        .collect();
    let found = seen.as_ref().map_or_else(
        || vec![None; tasks.len()],
        |seen| global::responses(seen, cpus, order),
    );
    let dense = !method.by_priority()
        && seen
            .as_ref()
            .is_some_and(|seen| global::density_holds(seen, cpus));
    let holds = dense || found.iter().all(Option::is_some);
    let late = match (holds, method.by_priority(), &seen) {
        (false, false, Some(seen)) => global::tardiness_bounds(seen, cpus),
        _ => None,
    };
    let mut answers: Vec<TaskAnswer> = ranked
        .iter()
        .enumerate()
        .map(|(rank, &place)| TaskAnswer {
            bound: Bound {
                task: place,
                response_ns: found[rank].map(|response| {
                    response
                        .saturating_add(costs.event_ns)
                        .saturating_add(tasks[place].jitter_ns)
                }),
                deadline_ns: tasks[place].deadline_ns,
                made_of: Vec::new(),
            },
            schedulable: holds || (method.by_priority() && found[rank].is_some()),
            tardiness_ns: late.as_ref().map(|late| late[rank]),
        })
        .collect();
    answers.sort_by_key(|answer| answer.bound.task);
    let outcome = match holds {
        true => Outcome::Schedulable,
        false => refuted(tasks, &ranked, cpus, rule),
    };
    Ok(GroupAnswer {
        tasks: answers,
        outcome,
    })
}

/// The kernel's own sections are charged to EDF's tasks as stretches, which the global tests don't
/// know: a job waits for at most one of them on each CPU, which its execution is charged with.
fn without_sections(inflated: &Task, task: &Task) -> Task {
    let section_ns = inflated
        .non_preemptive_ns
        .saturating_sub(task.non_preemptive_ns);
    Task {
        execution_ns: inflated.execution_ns.saturating_add(section_ns),
        non_preemptive_ns: task.non_preemptive_ns,
        ..inflated.clone()
    }
}

/// More work than CPUs, or a miss when all are released together; else nothing is known.
fn refuted(tasks: &[Task], ranked: &[usize], cpus: u32, rule: Rule) -> Outcome {
    let a_hair = Share::up(1, 1 << 50);
    if utilization(tasks) > Share::ONE.times(u64::from(cpus)).plus(a_hair) {
        return Outcome::NotSchedulable(Refuted::Overload);
    }
    let periodic: Option<Vec<GlobalTask>> = ranked
        .iter()
        .map(|&place| {
            let task = Task {
                jitter_ns: 0,
                ..bare(&tasks[place])
            };
            GlobalTask::of(&task).ok()
        })
        .collect();
    let Some(periodic) = periodic else {
        return Outcome::NotProvable;
    };
    let shortest = periodic
        .iter()
        .map(|task| task.period_ns)
        .min()
        .unwrap_or(1);
    let longest = periodic
        .iter()
        .map(|task| task.period_ns)
        .max()
        .unwrap_or(1);
    let until = shortest
        .saturating_mul(JOBS_PLAYED / periodic.len().max(1) as u64)
        .max(longest.saturating_mul(2));
    let played = play(&periodic, &[], cpus, rule, until, true);
    match played.first_miss {
        Some(miss) => Outcome::NotSchedulable(Refuted::Played {
            task: ranked[miss.task],
            deadline_ns: miss.deadline_ns,
        }),
        None => Outcome::NotProvable,
    }
}
