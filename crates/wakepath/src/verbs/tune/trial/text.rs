//! A trial for a terminal: in short on one screen, or all of it.

use std::fmt::{Error, Write};
use wakepath_assess::Trial;
use wakepath_console::terminal::folded_for_people;
use wakepath_report::{Style, trial_before_and_after, trial_steps, trial_steps_in_short};

/// Steps and possible other causes in a short answer.
const STEPS_IN_SHORT: usize = 9;
const OTHERS_IN_SHORT: usize = 3;

/// Each step's effect, before and after, and how to keep what helps. `pairs` were measured of each step.
pub fn text(trial: &Trial, pairs: u32, all: bool) -> Result<String, Error> {
    let columns = Style::of_stdout().columns;
    Ok(folded_for_people(&laid_out(trial, pairs, all, columns)?))
}

fn laid_out(trial: &Trial, pairs: u32, all: bool, columns: Option<usize>) -> Result<String, Error> {
    let mut text = String::new();
    let steps_left = if all {
        text += &trial_steps(trial).to_terminal(columns);
        0
    } else {
        text += &trial_steps_in_short(trial, STEPS_IN_SHORT).to_terminal(columns);
        trial.steps.len().saturating_sub(STEPS_IN_SHORT)
    };
    text.push('\n');
    text += &trial_before_and_after(trial).to_terminal(columns);
    writeln!(text, "criterion: {}", trial.criterion)?;
    if all {
        writeln!(
            text,
            "\ndifferences with − without, mean of {pairs} pairs measured next to each other; the intervals \
             hold together with 95 % (Student's t over the pairs, Bonferroni over steps and figures); \
             runs of {}",
            trial.block
        )?
    } else {
        writeln!(
            text,
            "\ndifferences with − without: mean of {pairs} pairs of {} with 95 % intervals",
            trial.block
        )?
    }
    let shown = if all { usize::MAX } else { OTHERS_IN_SHORT };
    writeln!(text, "what else could have made a difference")?;
    for line in trial.confounders.iter().take(shown) {
        writeln!(text, "  {line}")?;
    }
    let others_left = trial.confounders.len().saturating_sub(shown);
    if trial.stays {
        writeln!(
            text,
            "what helps stays applied; shown by: wakepath tune status; taken back by: wakepath tune revert"
        )?
    } else {
        writeln!(
            text,
            "everything is taken back; --keep would leave what helps"
        )?
    }
    let left = [(steps_left, "steps"), (others_left, "possible causes")];
    let left = left.iter().filter(|(count, _)| *count > 0);
    let left: Vec<String> = left
        .map(|(count, what)| format!("{count} more {what}"))
        .collect();
    if !left.is_empty() {
        writeln!(text, "{}: the report, or tune trial --all", left.join(", "))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_assess::{TrialEffect, TrialRun, TriedStep};
    use wakepath_timeline::columns::{folded, width};

    fn run() -> TrialRun {
        TrialRun {
            run: "runs/1".into(),
            outcome: "undecided".into(),
            due: 10_000,
            missed: 123,
            p99_us: 12_345.6,
            max_us: 99_999.9,
        }
    }

    #[test]
    fn a_trial_of_many_steps_fits_one_screen_and_all_shows_each() {
        let effect = |mean: f64| TrialEffect {
            mean,
            interval: Some((mean - 1_000.5, mean + 1_000.5)),
        };
        let step = |number: usize| TriedStep {
            step: format!("lockup-detectors-{number:02}"),
            reason: "a reason that takes more than a line of a terminal of eighty columns".into(),
            cost: "a cost that takes more than half a line of a terminal".into(),
            pairs: vec![(run(), run()); 4],
            misses: Some(effect(-12.34)),
            p99: Some(effect(-1_234.5)),
            finding: "no effect shown".into(),
            kept: false,
        };
        let trial = Trial {
            subject: "a 250 Hz loop".into(),
            criterion: "response ≤ 4 ms".into(),
            block: "20s".into(),
            steps: (0..14).map(step).collect(),
            before: run(),
            after: run(),
            confounders: vec![
                "something that differed from the first run to the last: 1 (2)".into();
                9
            ],
            stays: false,
        };
        let lines = |all| {
            let text = laid_out(&trial, 4, all, Some(80)).unwrap();
            folded(&text, 80)
        };
        let short = lines(false);
        assert!(short.lines().count() <= 38, "{short}");
        assert!(short.lines().all(|line| width(line) <= 80), "{short}");
        let more = "5 more steps, 6 more possible causes: the report, or tune trial --all";
        assert!(short.contains(more), "{short}");
        let all = lines(true);
        assert!(
            all.contains("lockup-detectors-13") && !all.contains("--all"),
            "{all}"
        );
    }
}
