//! Earliest deadline first on one CPU: processor demand decides, and responses are reported as well.

use super::super::{Counterexample, Outcome, Refuted, TaskAnswer, releases_of};
use super::refutation::refuted;
use super::{GroupAnswer, bare, overloaded, within_its_deadline};
use crate::bound::{Bound, Part, What};
use crate::edf::{self, DemandTask, Servers, Verdict};
use crate::overheads::{Costs, inflate_edf};
use crate::simulate::Rule;
use crate::task::{Arrivals, Impossible, Server, Task};

/// `seen` is what the scheduler sees of `tasks`: the same, or by SCHED_DEADLINE's clock.
pub(super) fn edf_on_one(
    seen: &[Task],
    tasks: &[Task],
    (costs, delays): (&Costs, &[u64]),
    search: Counterexample,
    by_kernel: bool,
) -> Result<(GroupAnswer, Vec<Task>), Impossible> {
    let all: Vec<usize> = (0..tasks.len()).collect();
    let inflated = inflate_edf(seen, delays, costs, releases_of(1))?;
    let (inflated, section_ns) = (inflated.tasks, inflated.section_ns);
    let mut servers = Servers::default();
    for reservation in inflated.iter().filter_map(constant_bandwidth) {
        servers.add(reservation, section_ns, by_kernel);
    }
    let plain = inflated
        .iter()
        .filter(|task| constant_bandwidth(task).is_none());
    let plain = demand(plain)?;
    let holds = servers.demand_holds(&plain, section_ns)? == Verdict::Holds;
    let unchecked = within_its_deadline(&inflated);
    // Budgets of a constant-bandwidth server are no sporadic jobs: only the demand is known then.
    let worst = if servers.any() {
        None
    } else {
        edf::worst_jobs(&unchecked, &all, section_ns)?
    };
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
            Some(worst) => edf::made_of(&unchecked, &all, place, worst, section_ns)?,
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
        let late_ns = servers.late_ns(&plain, section_ns);
        let served = constant_bandwidth(&tasks[place]).filter(|own| late_ns < own.period_ns);
        let bound = Bound {
            task: place,
            response_ns: match served {
                Some(own) if holds => own.period_ns.checked_add(late_ns),
                _ => response_ns,
            },
            deadline_ns: tasks[place].deadline_ns,
            made_of,
        };
        let in_time = match constant_bandwidth(&tasks[place]) {
            Some(_) => served.is_some(),
            None => true,
        };
        Ok(TaskAnswer {
            schedulable: holds && in_time || bound.holds(),
            tardiness_ns: bound.late_ns().filter(|_| !holds),
            bound,
            parameters: None,
        })
    });
    let answers: Vec<TaskAnswer> = answers.collect::<Result<_, Impossible>>()?;
    let outcome = if holds {
        Outcome::Schedulable
    } else {
        not_held(tasks, &all, search)?
    };
    let answer = GroupAnswer {
        tasks: answers,
        outcome,
    };
    Ok((answer, inflated))
}

/// Of a set whose demand is not shown to hold: whether some schedule misses even without what only
/// delays it. EDF misses only what every other order of jobs misses too (Dertouzos 1974), so that the
/// demand of the tasks' own deadlines refutes SCHED_DEADLINE as well.
fn not_held(tasks: &[Task], all: &[usize], search: Counterexample) -> Result<Outcome, Impossible> {
    if overloaded(tasks) {
        return Ok(Outcome::NotSchedulable(Refuted::Overload));
    }
    // As often as their shortest distance tells, bursts never come.
    let sporadic = |task: &Task| matches!(task.arrivals, Arrivals::Sporadic(_));
    if !tasks.iter().all(sporadic) {
        return Ok(Outcome::NotProvable);
    }
    let bare: Vec<Task> = tasks.iter().map(bare).collect();
    Ok(match edf::demand_holds(&demand(bare.iter())?) {
        Verdict::Overload => Outcome::NotSchedulable(Refuted::Overload),
        // With known offsets the worst may never come together.
        Verdict::Misses { .. } if tasks.iter().any(|task| task.offset_ns.is_some()) => {
            refuted(tasks, tasks, all, 1, Rule::EarliestDeadline, search)
        }
        Verdict::Misses {
            length_ns,
            needed_ns,
        } => Outcome::NotSchedulable(Refuted::Demand {
            length_ns,
            needed_ns,
        }),
        Verdict::Holds | Verdict::Unknown => Outcome::NotProvable,
    })
}

fn constant_bandwidth(task: &Task) -> Option<&crate::task::Reservation> {
    let reservation = task.reservation.as_ref();
    reservation.filter(|own| own.server == Server::ConstantBandwidth)
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

fn demand<'a>(tasks: impl Iterator<Item = &'a Task>) -> Result<Vec<DemandTask>, Impossible> {
    tasks
        .map(|task| {
            if task.closest_ns() == 0 {
                return Err(Impossible::Burst {
                    task: task.name.clone(),
                });
            }
            Ok(DemandTask {
                // Waiting that the others' sections don't explain counts as the job's own.
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
        .collect()
}
