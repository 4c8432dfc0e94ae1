//! Fixed priorities on one CPU: exact if nothing blocks or sleeps.

use super::super::{Outcome, Refuted, TaskAnswer, releases_of};
use super::{GroupAnswer, bare, overloaded, within_its_deadline};
use crate::bound::{Bound, Part, What};
use crate::fixed_priority;
use crate::overheads::{Costs, inflate_fixed_priority};
use crate::task::{Impossible, Task};

pub(super) fn fixed_priority_on_one(
    tasks: &[Task],
    costs: &Costs,
    delays: &[u64],
) -> Result<GroupAnswer, Impossible> {
    let all: Vec<usize> = (0..tasks.len()).collect();
    let (inflated, interrupts) = inflate_fixed_priority(tasks, delays, costs, releases_of(1))?;
    // A job that doesn't fit even alone still has a response: the set as a whole is checked elsewhere.
    let unchecked = within_its_deadline(&inflated);
    let with_offsets = fixed_priority::responses_with_offsets(&unchecked, &interrupts)?;
    let mut bounds = match with_offsets {
        Some(bounds) => bounds,
        None => fixed_priority::responses(&unchecked, &all, &interrupts)?,
    };
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
            parameters: None,
        })
        .collect();
    let outcome = match answers.iter().all(|answer| answer.schedulable) {
        true => Outcome::Schedulable,
        // Without overheads, locks and sleep the analysis is exact: what fails there fails.
        false => {
            // A stretch that can't be preempted can save its own job, and so is not left out.
            let bare: Vec<Task> = tasks
                .iter()
                .map(|task| Task {
                    non_preemptive_ns: task.non_preemptive_ns,
                    ..bare(task)
                })
                .collect();
            let whole = bare.iter().any(|task| task.non_preemptive_ns > 0);
            let exact = match tasks.iter().any(|task| task.offset_ns.is_some()) {
                false => fixed_priority::responses(&bare, &all, &[])?,
                // With offsets what blocks need not come together with what it would block.
                true if whole => Vec::new(),
                // Without its offsets the set may miss what it never does with them.
                true => fixed_priority::responses_with_offsets(&bare, &[])?.unwrap_or_default(),
            };
            match exact.iter().find(|bound| !bound.holds()) {
                // A window that doesn't end is no overload: jitter on a CPU that is just full
                // is never caught up with.
                Some(bound) if bound.response_ns.is_none() => {
                    if overloaded(&bare) {
                        Outcome::NotSchedulable(Refuted::Overload)
                    } else {
                        Outcome::NotProvable
                    }
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

/// Splits what the job itself was charged into its own execution and the switches around it.
pub(in crate::analysis) fn own_apart(bound: &mut Bound, task: &Task, inflated: &Task) {
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
