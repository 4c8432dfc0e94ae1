//! Several CPUs under one queue: sufficient tests, then a search for a counterexample.

use super::super::{Outcome, TaskAnswer, releases_of};
use super::GroupAnswer;
use super::refutation::refuted;
use crate::bound::Bound;
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
