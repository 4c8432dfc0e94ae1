//! Several CPUs under one queue: sufficient tests, then a search for a counterexample.

use super::super::{Counterexample, Outcome, TaskAnswer, releases_of};
use super::GroupAnswer;
use super::by_deadline::own_apart;
use super::refutation::refuted;
use crate::bound::{Bound, Part, What};
use crate::fixed_priority;
use crate::global::{self, GlobalTask, Order};
use crate::matrix::Queue;
use crate::overheads::{Costs, inflate_edf};
use crate::sched_deadline::before_the_next_ns;
use crate::simulate::Rule;
use crate::task::{Impossible, Task};

/// `seen` is what the scheduler sees of `tasks`: the same, or by SCHED_DEADLINE's clock.
pub(super) fn on_several(
    seen: &[Task],
    tasks: &[Task],
    (costs, delays): (&Costs, &[u64]),
    queue: Queue,
    cpus: u16,
    search: Counterexample,
) -> Result<(GroupAnswer, Vec<Task>), Impossible> {
    let cpus = u32::from(cpus);
    let by_priority = queue == Queue::FixedOnSeveral;
    let (order, rule) = if by_priority {
        (Order::FixedPriority, Rule::FixedPriority)
    } else {
        (Order::EarliestDeadline, Rule::EarliestDeadline)
    };
    // The global tests take tasks in order of priority.
    let mut ranked: Vec<usize> = (0..tasks.len()).collect();
    if by_priority {
        ranked.sort_by_key(|&place| std::cmp::Reverse(tasks[place].priority));
        fixed_priority::distinct(tasks, &ranked)?;
    }
    let (scheduled, inflated) = (
        seen,
        inflate_edf(seen, delays, costs, releases_of(2))?.tasks,
    );
    let seen: Option<Vec<GlobalTask>> = ranked
        .iter()
        .map(|&place| {
            let mut task = GlobalTask::new(&inflated[place]).ok()?;
            // The kernel's deadline counts from the wake-up; any other scheduler's from the due time, which
            // precedes the release by at most the jitter and the timer's delay.
            if queue == Queue::EdfOnSeveral {
                let late_ns = inflated[place].jitter_ns.checked_add(costs.event_ns)?;
                task.latest_deadline_ns = task.deadline_ns.checked_add(late_ns)?;
            }
            Some(task)
        })
        .collect();
    let found = seen.as_ref().map_or_else(
        || vec![None; tasks.len()],
        |seen| global::responses(seen, cpus, order),
    );
    let dense = !by_priority
        && seen
            .as_ref()
            .is_some_and(|seen| global::density_holds(seen, cpus));
    let holds = dense || found.iter().all(Option::is_some);
    // Under EDF each bound rests on all others' deadlines being met.
    let found = if holds || by_priority {
        found
    } else {
        vec![None; tasks.len()]
    };
    let late = match (holds, by_priority, &seen) {
        (false, false, Some(seen)) if queue == Queue::DeadlineOnSeveral => {
            // Deadlines that are all earlier by the same order jobs in the same way.
            let earlier_ns = before_the_next_ns(costs.wake_up_late_ns(tasks.len()));
            let at_the_end: Vec<GlobalTask> = seen
                .iter()
                .map(|task| {
                    let deadline_ns = task.deadline_ns.saturating_add(earlier_ns);
                    GlobalTask {
                        deadline_ns,
                        latest_deadline_ns: deadline_ns,
                        ..*task
                    }
                })
                .collect();
            global::tardiness_bounds(&at_the_end, cpus)
        }
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
            schedulable: holds || (by_priority && found[rank].is_some()),
            // Counted from the period's end.
            tardiness_ns: late.as_ref().and_then(|late| {
                let before_ns = tasks[place]
                    .closest_ns()
                    .saturating_sub(tasks[place].deadline_ns);
                late[rank].checked_add(before_ns)
            }),
            parameters: None,
        })
        .collect();
    answers.sort_by_key(|answer| answer.bound.task);
    let outcome = if holds {
        Outcome::Schedulable
    } else {
        refuted(scheduled, tasks, &ranked, cpus, rule, search)
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
