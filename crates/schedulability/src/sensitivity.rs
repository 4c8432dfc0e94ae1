//! How far a set is from its limit: the longest execution and the shortest period of each task with
//! which all still hold. These are what a loop is designed with.

use crate::analysis::{NotAnalysed, Outcome, Question, prove};
use crate::task::{Arrivals, Task};

/// Limits of one task's parameters, all others unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The longest execution with which every task holds, in nanoseconds; `None`: not even the
    /// shortest does.
    pub longest_execution_ns: Option<u64>,
    /// The shortest period with which every task holds, in nanoseconds, the deadline never beyond
    /// it; `None`: none up to ten times its own.
    pub shortest_period_ns: Option<u64>,
}

/// The limits of each task, found by halving: the tests only get harder with more execution and
/// shorter periods.
///
/// # Errors
/// As [`prove`].
pub fn limits(question: &Question<'_>) -> Result<Vec<Limits>, NotAnalysed> {
    // A question that is wrong in itself is not to be taken for one that doesn't hold.
    prove(question)?;
    let mut tasks = question.tasks.to_vec();
    let mut found = Vec::with_capacity(tasks.len());
    for place in 0..tasks.len() {
        let own = tasks[place].clone();
        let mut holds_with = |task: Task| {
            tasks[place] = task;
            // Another period meets the others at other offsets: what holds at any of them is asked.
            let any_offset: Vec<Task>;
            let moved = tasks[place].arrivals != own.arrivals;
            let tasks = if moved && tasks.iter().any(|task| task.offset_ns.is_some()) {
                let without = tasks.iter().cloned().map(|task| Task {
                    offset_ns: None,
                    ..task
                });
                any_offset = without.collect();
                &any_offset
            } else {
                &tasks[..]
            };
            let changed = Question {
                tasks,
                ..question.clone()
            };
            // A task that can't be is one with which the set does not hold.
            prove(&changed).is_ok_and(|analysis| analysis.outcome == Outcome::Schedulable)
        };
        let most_ns = own.deadline_ns.saturating_sub(own.suspension_ns);
        let longest_execution_ns = greatest(1, most_ns, |execution_ns| {
            holds_with(Task {
                execution_ns,
                non_preemptive_ns: scaled_stretch(&own, execution_ns),
                ..own.clone()
            })
        });
        let period_ns = own.period_ns();
        let shortest_period_ns = match own.arrivals {
            // It comes as often as what releases it.
            _ if own.after.is_some() => None,
            Arrivals::Distances(_) => None,
            Arrivals::Sporadic(_) => {
                let longest = period_ns.saturating_mul(10);
                // The greatest cut of the period, from the longest down.
                greatest(0, longest - 1, |cut| {
                    let period_ns = longest - cut;
                    let deadline_ns = if own.deadline_ns >= own.period_ns() {
                        period_ns.max(own.deadline_ns.min(period_ns))
                    } else {
                        own.deadline_ns.min(period_ns)
                    };
                    holds_with(Task {
                        arrivals: Arrivals::Sporadic(period_ns),
                        deadline_ns,
                        ..own.clone()
                    })
                })
                .map(|cut| longest - cut)
            }
        };
        tasks[place] = own;
        found.push(Limits {
            longest_execution_ns,
            shortest_period_ns,
        });
    }
    Ok(found)
}

/// A task that can't be preempted at all stays one.
fn scaled_stretch(task: &Task, execution_ns: u64) -> u64 {
    if task.non_preemptive_ns == task.execution_ns {
        execution_ns
    } else {
        task.non_preemptive_ns.min(execution_ns)
    }
}

/// The greatest number from `least` to `most` for which `holds` says yes, when it says yes up to
/// some number and no beyond.
fn greatest(least: u64, most: u64, mut holds: impl FnMut(u64) -> bool) -> Option<u64> {
    if least > most || !holds(least) {
        return None;
    }
    let (mut yes, mut no) = (least, most.saturating_add(1));
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) {
            yes = middle
        } else {
            no = middle
        }
    }
    Some(yes)
}
