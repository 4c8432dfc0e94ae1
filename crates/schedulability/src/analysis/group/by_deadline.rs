//! Earliest deadline first on one CPU: processor demand decides, responses are told beside it.

use super::super::{Outcome, Refuted, TaskAnswer, releases_of};
use super::refutation::refuted;
use super::{GroupAnswer, bare, within_its_deadline};
use crate::bound::{Bound, Part, What};
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
    let worst = edf::worst_jobs(&unchecked, &all)?;
    let answers = all.iter().map(|&place| {
        let worst = worst.as_ref().and_then(|found| found[place]);
        // The deadline was brought forward by the timer's delay: the response counts it again.
        let since_due_ns = tasks[place].jitter_ns - seen[place].jitter_ns;
        let response_ns = worst.map(|worst| {
            worst
                .response_ns
                .saturating_add(costs.event_ns)
                .saturating_add(since_due_ns)
        });
        let mut made_of = match &worst {
            None => Vec::new(),
            Some(worst) => edf::made_of(&unchecked, &all, place, worst)?,
        };
        if !made_of.is_empty() {
            let charged_ns = unchecked[place].execution_ns - tasks[place].execution_ns;
            own_apart(&mut made_of, charged_ns);
            made_of.push(Part {
                what: What::Jitter,
                ns: since_due_ns,
            });
            made_of.push(Part {
                what: What::Overhead("the timer"),
                ns: costs.event_ns,
            });
            made_of.retain(|part| part.ns > 0);
        }
        let bound = Bound {
            task: place,
            response_ns,
            deadline_ns: tasks[place].deadline_ns,
            made_of,
        };
        Ok(TaskAnswer {
            schedulable: holds || bound.holds(),
            tardiness_ns: bound.late_ns().filter(|_| !holds),
            bound,
            parameters: None,
        })
    });
    let answers: Vec<TaskAnswer> = answers.collect::<Result<_, Impossible>>()?;
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

/// Splits what each own job was charged into its execution and the overheads put on it.
pub(super) fn own_apart(parts: &mut Vec<Part>, charged_ns: u64) {
    let own = parts.iter_mut().find_map(|part| match part.what {
        What::Own { earlier } => Some((part, earlier + 1)),
        _ => None,
    });
    let Some((part, jobs)) = own else {
        return;
    };
    let ns = charged_ns.saturating_mul(jobs).min(part.ns);
    part.ns -= ns;
    parts.push(Part {
        what: What::Overhead("switches, interrupts and cold caches"),
        ns,
    });
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
