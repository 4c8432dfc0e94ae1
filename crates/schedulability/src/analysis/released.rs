//! Tasks that release each other: a job of one is released by the end of another's, as late as that
//! can be. All times count from the due time of the first.
//!
//! Tindell and Clark, "Holistic schedulability analysis for distributed hard real-time systems"
//! (1994): each response is the jitter of what it releases, until nothing changes.

use super::{Analysis, Counterexample, NotAnalysed, Outcome, Question, analyse_timed};
use crate::task::{Impossible, Task};

/// Rounds after which jitters that still grow are given up.
const MOST_ROUNDS: usize = 1000;
/// Give up if a jitter exceeds this number of periods: the CPU never becomes idle.
const MOST_PERIODS: u64 = 1000;

/// For each task the place of the one that releases it.
///
/// # Errors
/// A name that no task has, or a circle.
pub(super) fn predecessors(question: &Question<'_>) -> Result<Vec<Option<usize>>, NotAnalysed> {
    let place_of = |name: &str| question.tasks.iter().position(|task| task.name == name);
    let mut found = Vec::with_capacity(question.tasks.len());
    for task in question.tasks {
        let Some(name) = &task.after else {
            found.push(None);
            continue;
        };
        let Some(place) = place_of(name) else {
            return Err(NotAnalysed::NoSuchTask {
                task: task.name.clone(),
                after: name.clone(),
            });
        };
        found.push(Some(place));
    }
    for place in 0..found.len() {
        let mut at = place;
        for _ in 0..=found.len() {
            match found[at] {
                Some(before) => at = before,
                None => break,
            }
        }
        if found[at].is_some() {
            return Err(NotAnalysed::Circle(question.tasks[place].name.clone()));
        }
    }
    Ok(found)
}

/// The analysis with each task as late as what releases it.
pub(super) fn analyse_released(
    question: &Question<'_>,
    predecessors: &[Option<usize>],
) -> Result<Analysis, NotAnalysed> {
    let mut tasks: Vec<Task> = question.tasks.to_vec();
    for place in 0..tasks.len() {
        let mut first = place;
        while let Some(before) = predecessors[first] {
            first = before;
        }
        if first != place {
            tasks[place].arrivals = tasks[first].arrivals.clone();
            tasks[place].offset_ns = None;
        }
    }
    for _ in 0..MOST_ROUNDS {
        let timed = Question {
            tasks: &tasks,
            ..question.clone()
        };
        let analysis = analyse_timed(&timed, Counterexample::Unwanted)?;
        let mut changed = false;
        let mut unbounded = false;
        let mut next = tasks.clone();
        for (place, before) in predecessors.iter().enumerate() {
            let Some(before) = before else { continue };
            let Some(late_ns) = analysis.tasks[*before].bound.response_ns else {
                unbounded = true;
                continue;
            };
            // On another CPU the wake-up goes by an interrupt between processors.
            let told_ns = match (tasks[*before].cpu == tasks[place].cpu, question.overheads) {
                (false, Some(overheads)) => overheads.costs(tasks.len()).ipi_ns,
                _ => 0,
            };
            let own_ns = question.tasks[place].jitter_ns;
            let jitter_ns = late_ns
                .checked_add(told_ns)
                .and_then(|jitter| jitter.checked_add(own_ns))
                .ok_or(Impossible::Overflow)?;
            let most = tasks[place].period_ns().saturating_mul(MOST_PERIODS);
            unbounded |= jitter_ns > most;
            changed |= jitter_ns > tasks[place].jitter_ns;
            next[place].jitter_ns = jitter_ns.max(tasks[place].jitter_ns);
        }
        if unbounded {
            return Ok(without_bounds(analysis, &tasks, predecessors));
        }
        if !changed {
            return Ok(Analysis {
                outcome: not_refuted(analysis.outcome),
                ..analysis
            });
        }
        tasks = next;
    }
    let timed = Question {
        tasks: &tasks,
        ..question.clone()
    };
    let analysis = analyse_timed(&timed, Counterexample::Unwanted)?;
    Ok(without_bounds(analysis, &tasks, predecessors))
}

/// No job may be as late as its predecessor's bound has it: a miss by it refutes nothing.
fn not_refuted(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::NotSchedulable(crate::Refuted::Response { .. }) => Outcome::NotProvable,
        other => other,
    }
}

/// The result of a growing jitter: no bound for anything that it can affect.
fn without_bounds(
    mut analysis: Analysis,
    tasks: &[Task],
    predecessors: &[Option<usize>],
) -> Analysis {
    let touched: Vec<bool> = (0..tasks.len())
        .map(|place| {
            let released = predecessors.iter().enumerate();
            released
                .filter(|(_, before)| before.is_some())
                .any(|(other, _)| {
                    other == place
                        || tasks[other].cpu == tasks[place].cpu
                            && tasks[other].priority > tasks[place].priority
                })
        })
        .collect();
    for (answer, touched) in analysis.tasks.iter_mut().zip(touched) {
        if touched {
            answer.schedulable = false;
            answer.bound.response_ns = None;
            answer.bound.made_of.clear();
        }
    }
    analysis.outcome = not_refuted(analysis.outcome).and(Outcome::NotProvable);
    analysis
}
