//! Several CPUs under one queue: sufficient tests, then a search for a counterexample.

use super::super::{Outcome, TaskAnswer, releases_of};
use super::GroupAnswer;
use super::by_deadline::own_apart;
use super::refutation::refuted;
use crate::bound::{Bound, Part, What};
use crate::fixed_priority;
use crate::global::{self, GlobalTask, Order};
use crate::method::Method;
use crate::overheads::{Costs, inflate_edf};
use crate::simulate::Rule;
use crate::task::{Impossible, Task};

pub(super) fn on_several(
    tasks: &[Task],
    costs: &Costs,
    delays: &[u64],
    method: Method,
    cpus: u16,
) -> Result<(GroupAnswer, Vec<Task>), Impossible> {
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
    let shares = seen.as_ref().map_or_else(
        || vec![Vec::new(); tasks.len()],
        |seen| global::shares(seen, cpus, order, &found),
    );
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
                made_of: seen.as_ref().map_or_else(Vec::new, |seen| {
                    let by = shares[rank].iter().map(|&(other, ns)| (ranked[other], ns));
                    made_of(
                        &tasks[place],
                        seen[rank].execution_ns,
                        found[rank],
                        by,
                        costs,
                    )
                }),
            },
            schedulable: holds || (method.by_priority() && found[rank].is_some()),
            tardiness_ns: late.as_ref().map(|late| late[rank]),
            parameters: None,
        })
        .collect();
    answers.sort_by_key(|answer| answer.bound.task);
    let outcome = match holds {
        true => Outcome::Schedulable,
        false => refuted(tasks, &ranked, cpus, rule),
    };
    let answer = GroupAnswer {
        tasks: answers,
        outcome,
    };
    Ok((answer, inflated))
}

/// The pieces of a response: the job itself with what it is charged, and what keeps all CPUs busy.
fn made_of(
    task: &Task,
    charged_ns: u64,
    found_ns: Option<u64>,
    by: impl Iterator<Item = (usize, u64)>,
    costs: &Costs,
) -> Vec<Part> {
    let waiting: Vec<Part> = by
        .map(|(by, ns)| Part {
            what: What::Interference { by },
            ns,
        })
        .collect();
    let waited_ns: u64 = waiting.iter().map(|part| part.ns).sum();
    if found_ns != charged_ns.checked_add(waited_ns) {
        return Vec::new();
    }
    let part = |what, ns| Part { what, ns };
    let mut parts = vec![part(
        What::Own { earlier: 0 },
        charged_ns.saturating_sub(task.suspension_ns),
    )];
    own_apart(&mut parts, charged_ns.saturating_sub(task.alone_ns()));
    parts.push(part(What::Suspension, task.suspension_ns));
    parts.extend(waiting);
    parts.push(part(What::Jitter, task.jitter_ns));
    parts.push(part(What::Overhead("the timer"), costs.event_ns));
    parts.retain(|part| part.ns > 0);
    parts
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
