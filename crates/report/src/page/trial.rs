//! The page of a trial: the effect of each step, before and after, the criterion, other possible causes of
//! the difference; then the two runs in full.

use super::sections;
use super::{Reported, Titles, data, document};
use crate::markup::Markup;
use crate::table::{Cell, Table, number, words};
use wakepath_assess::{Trial, TrialEffect};
use wakepath_timeline::duration::three_digits;

/// The whole file. `runs` are the one before and the one with what helps.
pub fn trial_page(trial: &Trial, runs: &[Reported<'_>]) -> String {
    let data: Vec<String> = runs.iter().map(data::json).collect();
    let title = format!("trial of {} steps – wakepath report", trial.steps.len());
    document(&title, "To the trial", &data, |markup| {
        write(markup, trial);
        for (number, run) in runs.iter().enumerate() {
            sections::write(markup, (number, true), run, &Titles::default());
        }
    })
}

fn write(markup: &mut Markup, trial: &Trial) {
    markup.raw("<section aria-labelledby=\"trial\"><h1 id=\"trial\">What the settings did</h1>");
    markup.element("p", &[], format!("For {}.", trial.subject));
    markup.element("p", &[], format!("Criterion: {}.", trial.criterion));
    before_and_after(trial).write_html(markup, "Before and after");
    steps(trial).write_html(markup, "Steps");
    markup.raw("<h2>What else could have made a difference</h2><ul>");
    for line in &trial.confounders {
        markup.element("li", &[], line);
    }
    markup.raw("</ul>");
    markup.element(
        "p",
        &[],
        if trial.stays {
            "What helps stays applied; wakepath tune revert takes it back."
        } else {
            "Everything was taken back after the trial."
        },
    );
    markup.raw("</section>\n");
}

/// The loop before and with what helps.
pub fn before_and_after(trial: &Trial) -> Table {
    let mut table = Table::new("Run")
        .caption(format!(
            "Runs of {}, each judged by the criterion",
            trial.block
        ))
        .column(number("Due times"))
        .column(number("Missed"))
        .column(number("Missed").unit("%"))
        .column(number("p99 of wake-up latency"))
        .column(number("Largest"))
        .column(words("Verdict"));
    for (number, (name, run)) in [("before", &trial.before), ("with what helps", &trial.after)]
        .into_iter()
        .enumerate()
    {
        let cells = vec![
            Cell::new(run.due),
            Cell::new(run.missed),
            format!("{:.2}", run.missed_percent()).into(),
            Cell::mean_time(run.p99_us * 1e3),
            Cell::mean_time(run.max_us * 1e3),
            run.outcome.as_str().into(),
        ];
        table.row(Cell::Link(name.into(), format!("#run-{number}")), cells);
    }
    table
}

/// The effect of each step.
pub fn steps(trial: &Trial) -> Table {
    let mut table = Table::new("Step")
        .caption(
            "Differences with − without each step, mean of pairs measured next to each other. The \
             intervals hold together with 95 % (Student's t over the pairs, Bonferroni over steps \
             and figures).",
        )
        .column(words("Why").within(30))
        .column(words("Cost").within(30))
        .column(number("Pairs"))
        .column(number("Misses").unit("percentage points"))
        .column(number("p99 of wake-up latency"))
        .column(words("Finding"))
        .column(words("Then"));
    for step in &trial.steps {
        let then = if step.kept { "kept" } else { "taken back" };
        table.row(
            step.step.as_str(),
            vec![
                step.reason.as_str().into(),
                step.cost.as_str().into(),
                Cell::new(step.pairs.len()),
                step.misses.map(Cell::new).into(),
                step.p99.map(time_difference).into(),
                step.finding.as_str().into(),
                then.into(),
            ],
        );
    }
    table
}

/// The effect of the first `most` steps, within 80 columns.
pub fn steps_in_short(trial: &Trial, most: usize) -> Table {
    let mut table = Table::new("Step")
        .column(number("misses").unit("% points"))
        .column(number("p99 latency"))
        .column(words("then"));
    for step in trial.steps.iter().take(most) {
        let effects = [
            step.misses.map(|of| of.to_string()),
            step.p99.map(time_difference),
        ];
        let mut cells = effects.map(Cell::from).to_vec();
        cells.push(if step.kept { "kept" } else { "taken back" }.into());
        table.row(step.step.as_str(), cells);
    }
    table
}

/// A difference of times in µs, with its interval.
fn time_difference(of: TrialEffect) -> String {
    let signed = |us: f64| {
        let plus = if us > 0.0 { "+" } else { "" };
        format!("{plus}{}", three_digits((us * 1e3).round() as i64))
    };
    match of.interval {
        Some((low, high)) => format!("{} ({} to {})", signed(of.mean), signed(low), signed(high)),
        None => format!("{} (one pair)", signed(of.mean)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_assess::{TrialRun, TriedStep};

    fn run(missed: u64) -> TrialRun {
        TrialRun {
            run: "runs/1".into(),
            outcome: "passed".into(),
            due: 1_000,
            missed,
            p99_us: 12.34,
            max_us: 99.96,
        }
    }

    #[test]
    fn each_step_stands_with_its_effect_and_names_are_no_markup() {
        let trial = Trial {
            subject: "a 250 Hz loop".into(),
            criterion: "response ≤ 4 ms".into(),
            block: "20s".into(),
            steps: vec![TriedStep {
                step: "interrupts".into(),
                reason: "<b>eth0</b>".into(),
                cost: "none".into(),
                pairs: vec![(run(5), run(1)); 3],
                misses: Some(TrialEffect {
                    mean: -0.4,
                    interval: Some((-0.5, -0.3)),
                }),
                p99: None,
                finding: "helps".into(),
                kept: true,
            }],
            before: run(5),
            after: run(1),
            confounders: vec!["heat rose".into()],
            stays: false,
        };
        let page = trial_page(&trial, &[]);
        for text in [
            "-0.40 (-0.50 to -0.30)",
            "&lt;b&gt;eth0",
            ">0.50</td>",
            ">100\u{a0}µs</td>",
            "heat rose",
            "response ≤\u{a0}4\u{a0}ms",
            "Everything was taken back",
        ] {
            assert!(page.contains(text), "{text}\n");
        }
    }
}
