//! The commands that lead on from a run: what would decide it, what would say why it failed, what
//! to do with one that passed.

use super::{Matter, Next, Word, causes::nearest_explained, machine::worst_check};
use crate::next_step::{NextCommand, again, doctor, steps_of, takes, traced, trial, with_duration};
use wakepath_archive::{MeasuringVerb, RunOption, shell_word};
use wakepath_assess::Assessment;
use wakepath_explain::Explanation;
use wakepath_verdict::Outcome;

/// So many are shown.
const MOST: usize = 5;

pub(super) fn steps(
    assessment: &Assessment,
    explanation: Option<&Explanation>,
    matters: &[Matter],
) -> Vec<Next> {
    let mut steps = Vec::new();
    if !assessment.cache_delays.is_empty() {
        // A value of an option can't be left out, as a run that is the latest can.
        let run = shell_word(&assessment.run.directory);
        steps.push(text(
            format!("wakepath schedulability tasks.toml --overheads {run}"),
            "puts what is lost of the caches into the bounds of your tasks",
        ));
    }
    match assessment.outcome {
        Outcome::Failed => {
            let worst = matters.first().filter(|_| explanation.is_some());
            steps.extend(why(assessment, explanation, worst));
            steps.extend(worst_check(assessment).map(|id| {
                let command = format!("{} --explain {}", doctor(assessment), shell_word(&id));
                text(
                    command,
                    "the most serious problem on this machine, and its fix",
                )
            }));
            steps.extend(trial(assessment).map(|command| {
                text(
                    command,
                    "tries each change for this loop and measures whether it helps; takes about 3 \
                     min for each",
                )
            }));
        }
        Outcome::Undecided => {
            // If no command can repeat it, as for an import, the verdict's own reasons explain the next
            // step.
            let typed = steps_of(assessment).into_iter();
            let typed = typed.filter_map(|step| Some((step.command?, step.what, step.of)));
            for (command, what, of) in typed.take(2) {
                let what = format!("{what} ({of})");
                steps.push(match command {
                    NextCommand::Explain { .. } => of_run("wakepath explain", "", what),
                    NextCommand::Measure(_) | NextCommand::MeasureAsRoot(_) => {
                        text(command.to_string(), what)
                    }
                });
            }
        }
        Outcome::Passed => steps.extend(alone(assessment)),
        Outcome::Invalid | Outcome::VirtualTime | Outcome::NotJudged => {}
    }
    steps.truncate(MOST - 2);
    steps.push(of_run(
        "wakepath report",
        "--open",
        "the report, with all figures, in the browser",
    ));
    steps.push(of_run(
        "wakepath show",
        "--details",
        "every figure, reason and caution",
    ));
    steps
}

/// Why cycles were late: told where the run was traced, else asked by a run that is.
fn why(
    assessment: &Assessment,
    explanation: Option<&Explanation>,
    worst: Option<&Matter>,
) -> Option<Next> {
    if explanation.is_some() {
        let what = match worst {
            Some(matter) => format!("why cycles were late: {}", matter.what),
            None => "why cycles were late".to_owned(),
        };
        let policy = explanation.and_then(|of| nearest_explained(assessment, of));
        let policy = policy.map(|policy| format!("--policy {}", shell_word(&policy)));
        return Some(of_run(
            "wakepath explain",
            &policy.unwrap_or_default(),
            what,
        ));
    }
    let (command, ns) = traced(assessment)?;
    Some(text(
        command.to_string(),
        format!(
            "run again with tracing, to see why cycles are late; takes {}",
            takes(ns)
        ),
    ))
}

/// A run of a hundred seconds is a first look: the chosen policy, for longer.
fn alone(assessment: &Assessment) -> Option<Next> {
    let recommendation = assessment.overall.recommendation.as_ref()?;
    let own = again(assessment)?.without(&[RunOption::Trace]);
    let own = match own.verb {
        MeasuringVerb::Check => own.with(RunOption::Policy, recommendation.policy.to_string()),
        MeasuringVerb::Run | MeasuringVerb::Record => own,
    };
    Some(text(
        with_duration(own, "1h").to_string(),
        "confirm for an hour before relying on it, ideally under your own load",
    ))
}

fn text(command: impl Into<String>, what: impl Into<String>) -> Next {
    Next {
        words: vec![Word::Text(command.into())],
        what: what.into(),
    }
}

fn of_run(command: &str, options: &str, what: impl Into<String>) -> Next {
    let mut words = vec![Word::Text(command.to_owned()), Word::Run];
    if !options.is_empty() {
        words.push(Word::Text(options.to_owned()));
    }
    Next {
        words,
        what: what.into(),
    }
}
