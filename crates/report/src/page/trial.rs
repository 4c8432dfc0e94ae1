//! The page of a trial: what each step did, before and after, the criterion, what else could have
//! made the difference; then the two runs in full.

use super::markup::Markup;
use super::sections::{self, scrolling};
use super::{Reported, data, document};
use std::fmt::Display;
use wakepath_assess::{Trial, TrialEffect, TrialRun};

const NUMBER: (&str, &dyn Display) = ("class", &"number");

/// The whole file. `runs` are the one before and the one with what helps.
pub fn trial_page(trial: &Trial, runs: &[Reported<'_>]) -> String {
    let data: Vec<String> = runs.iter().map(data::json).collect();
    let title = format!("trial of {} steps – wakepath report", trial.steps.len());
    document(&title, "To the trial", &data, |markup| {
        write(markup, trial);
        for (number, run) in runs.iter().enumerate() {
            sections::write(markup, number, run);
        }
    })
}

fn write(markup: &mut Markup, trial: &Trial) {
    markup.raw("<section aria-labelledby=\"trial\"><h1 id=\"trial\">What the settings did</h1>");
    markup.element("p", &[], format!("For {}.", trial.subject));
    markup.element("p", &[], format!("Criterion: {}.", trial.criterion));
    scrolling(markup, "Before and after", &before_and_after(trial));
    scrolling(markup, "Steps", &steps(trial));
    markup.raw("<h2>What else could have made a difference</h2><ul>");
    for line in &trial.confounders {
        markup.element("li", &[], line);
    }
    markup.raw("</ul>");
    markup.element(
        "p",
        &[],
        match trial.stays {
            true => "What helps stays applied; wakepath tune revert takes it back.",
            false => "Everything was taken back after the trial.",
        },
    );
    markup.raw("</section>\n");
}

fn before_and_after(trial: &Trial) -> Markup {
    let mut table = Markup::default();
    table.raw("<table><caption>");
    table.text(format!(
        "Runs of {}, each judged by the criterion",
        trial.block
    ));
    table.raw(
        "</caption><thead><tr><th scope=\"col\">Run</th>\
         <th scope=\"col\" class=\"number\">Due times</th>\
         <th scope=\"col\" class=\"number\">Missed</th>\
         <th scope=\"col\" class=\"number\">Missed, %</th>\
         <th scope=\"col\" class=\"number\">p99 of wake-up latency, µs</th>\
         <th scope=\"col\" class=\"number\">Largest, µs</th>\
         <th scope=\"col\">Verdict</th></tr></thead><tbody>",
    );
    for (number, (name, run)) in [("before", &trial.before), ("with what helps", &trial.after)]
        .into_iter()
        .enumerate()
    {
        table.raw("<tr><th scope=\"row\">");
        table.element("a", &[("href", &format!("#run-{number}"))], name);
        table.raw("</th>");
        figures(&mut table, run);
        table.element("td", &[], &run.outcome);
        table.raw("</tr>");
    }
    table.raw("</tbody></table>");
    table
}

fn figures(table: &mut Markup, run: &TrialRun) {
    for text in [
        run.due.to_string(),
        run.missed.to_string(),
        format!("{:.2}", run.missed_percent()),
        format!("{:.1}", run.p99_us),
        format!("{:.1}", run.max_us),
    ] {
        table.element("td", &[NUMBER], text);
    }
}

fn steps(trial: &Trial) -> Markup {
    let mut table = Markup::default();
    table.raw(
        "<table><caption>Differences with − without each step, mean of pairs measured next to each \
         other. The intervals hold together with 95 % (Student's t over the pairs, Bonferroni over \
         steps and figures).</caption><thead><tr><th scope=\"col\">Step</th>\
         <th scope=\"col\">Why</th><th scope=\"col\">Cost</th>\
         <th scope=\"col\" class=\"number\">Pairs</th>\
         <th scope=\"col\" class=\"number\">Misses, percentage points</th>\
         <th scope=\"col\" class=\"number\">p99 of wake-up latency, µs</th>\
         <th scope=\"col\">Finding</th><th scope=\"col\">Then</th></tr></thead><tbody>",
    );
    let effect = |effect: Option<TrialEffect>| {
        effect.map_or_else(|| "–".to_owned(), |effect| effect.to_string())
    };
    for step in &trial.steps {
        table.raw("<tr>");
        table.element("th", &[("scope", &"row")], &step.step);
        table.element("td", &[], &step.reason);
        table.element("td", &[], &step.cost);
        table.element("td", &[NUMBER], step.pairs.len());
        table.element("td", &[NUMBER], effect(step.misses));
        table.element("td", &[NUMBER], effect(step.p99));
        table.element("td", &[], &step.finding);
        let then = match step.kept {
            true => "kept",
            false => "taken back",
        };
        table.element("td", &[], then);
        table.raw("</tr>");
    }
    table.raw("</tbody></table>");
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_assess::TriedStep;

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
            "<td class=\"number\">0.50</td>",
            "<td class=\"number\">100.0</td>",
            "heat rose",
            "response ≤ 4 ms",
            "Everything was taken back",
        ] {
            assert!(page.contains(text), "{text}\n");
        }
    }
}
