//! Earliest deadline first on one CPU: processor demand decides, responses are told beside it.

use super::super::{Outcome, Refuted, TaskAnswer, releases_of};
use super::refutation::refuted;
use super::{GroupAnswer, bare, within_its_deadline};
use crate::bound::Bound;
use crate::edf::{self, DemandTask, Verdict};
use crate::overheads::{Costs, inflate_edf};
use crate::simulate::Rule;
use crate::task::{Impossible, Task};

/// `seen` is what the scheduler sees of `tasks`: the same, or by SCHED_DEADLINE's clock.
pub(super) fn edf_on_one(
    seen: &[Task],
    tasks: &[Task],
    costs: &Costs,
    delays: &[u64],
) -> Result<(GroupAnswer, Vec<Task>), Impossible> {
    let all: Vec<usize> = (0..tasks.len()).collect();
    let inflated = inflate_edf(seen, delays, costs, releases_of(1))?;
    let holds = demand(&inflated)? == Verdict::Holds;
    let unchecked = within_its_deadline(&inflated);
    let responses = edf::responses(&unchecked, &all)?;
    let answers = all.iter().map(|&place| {
        let response_ns = responses.as_ref().and_then(|found| found[place]);
        // The deadline was brought forward by the timer's delay: the response counts it again.
        let since_due_ns = tasks[place].jitter_ns - seen[place].jitter_ns;
        let response_ns = response_ns.map(|response| {
            response
                .saturating_add(costs.event_ns)
                .saturating_add(since_due_ns)
        });
        let bound = Bound {
            task: place,
            response_ns,
            deadline_ns: tasks[place].deadline_ns,
            made_of: Vec::new(),
        };
        TaskAnswer {
            schedulable: holds || bound.holds(),
            tardiness_ns: bound.late_ns().filter(|_| !holds),
            bound,
            parameters: None,
        }
    });
    let answers: Vec<TaskAnswer> = answers.collect();
    let outcome = match holds {
        true => Outcome::Schedulable,
        false => {
            let bare: Vec<Task> = tasks.iter().map(bare).collect();
            match demand(&bare)? {
                Verdict::Overload => Outcome::NotSchedulable(Refuted::Overload),
                // With known offsets the worst may never come together.
                Verdict::Misses { .. } if tasks.iter().any(|task| task.offset_ns.is_some()) => {
                    refuted(tasks, &all, 1, Rule::EarliestDeadline)
                }
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
    let answer = GroupAnswer {
        tasks: answers,
        outcome,
    };
    Ok((answer, inflated))
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
