//! An assessment as Markdown, for the description of a change or the summary of a pipeline: the
//! verdict, the table, the reasons, in one screen.

use std::fmt::Write;
use wakepath_assess::Assessment;
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_verdict::{Judgement, Outcome, fraction};

/// The text.
pub fn markdown(assessment: &Assessment) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(&mut text, assessment);
    text
}

fn write_all(text: &mut String, assessment: &Assessment) -> std::fmt::Result {
    let run = &assessment.run;
    let verdict = assessment.outcome.to_string().to_uppercase();
    writeln!(text, "### {}: {verdict}\n", escaped(&run.scenario))?;
    if let Some(recommendation) = &assessment.overall.recommendation {
        writeln!(text, "Use {}.\n", escaped(&recommendation.to_string()))?;
    }
    for remark in &assessment.remarks {
        writeln!(text, "- {}", escaped(remark))?;
    }
    if !assessment.remarks.is_empty() {
        writeln!(text)?;
    }
    writeln!(
        text,
        "| phase | policy | due times | skipped | missed | median, µs | p99.9, µs | max, µs | verdict |"
    )?;
    writeln!(text, "|---|---|--:|--:|--:|--:|--:|--:|---|")?;
    let unknown = assessment.imported.is_some();
    for judgement in &assessment.conditions {
        writeln!(text, "| {} |", row(judgement, unknown).join(" | "))?;
    }
    for missing in &assessment.not_measured {
        writeln!(
            text,
            "| {} | {} | | | | | | | not measured |",
            escaped(&missing.phase),
            escaped(&missing.condition)
        )?;
    }
    writeln!(text)?;
    for judgement in assessment
        .conditions
        .iter()
        .filter(|j| j.outcome != Outcome::Passed)
    {
        let reasons = judgement
            .reasons
            .iter()
            .filter(|r| r.bearing() == judgement.outcome);
        let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
        let reasons = escaped(&reasons.join("; "));
        writeln!(
            text,
            "- **{}**: {}: {reasons}",
            escaped(&judgement.name.to_string()),
            judgement.outcome
        )?;
    }
    writeln!(
        text,
        "\nWake-up latency over all due times, skipped ones included; a maximum is the largest \
         observed, not a bound. Run `{}`, {}, wakepath {}.",
        code(&run.run_id),
        escaped(&run.started),
        escaped(&run.wakepath)
    )
}

fn row(judgement: &Judgement, unknown: bool) -> Vec<String> {
    let name = &judgement.name;
    let policy = name
        .policy
        .map_or_else(|| "task set".to_owned(), |policy| policy.to_string());
    let policy = name
        .task
        .iter()
        .fold(policy, |text, task| format!("{text}, {task}"));
    let cycles = &judgement.cycles;
    let latency = cycles.latency_as_scheduled.as_ref();
    let at = |wanted| latency.and_then(|found| quantile(found, wanted));
    let micros = |ns: Option<i64>| ns.map_or("–".into(), |ns| format!("{:.1}", ns as f64 / 1e3));
    let missed = cycles.misses.missed;
    vec![
        escaped(&name.phase),
        escaped(&policy),
        cycles.scheduled.to_string(),
        if unknown {
            "–".into()
        } else {
            cycles.skipped.to_string()
        },
        match missed {
            0 => "0".to_owned(),
            _ => format!("{missed} ({})", fraction(cycles.misses.fraction())),
        },
        micros(at(Quantile::P50)),
        micros(at(Quantile::P999)),
        micros(latency.map(|found| found.max)),
        judgement.outcome.to_string(),
    ]
}

/// A quantile that the sample is large enough for.
fn quantile(found: &DistributionSummary, wanted: Quantile) -> Option<i64> {
    let mut all = found.quantiles.iter();
    let at = all.find(|at| at.parts_per_million == wanted.parts_per_million())?;
    (!at.is_maximum).then_some(at.value)
}

/// Foreign text as text: no markup, no link, no mention, no end of a cell or line.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '@' => safe += "&#64;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                safe.push('\\');
                safe.push(character);
            }
            character if character.is_control() => safe.push(' '),
            character => safe.push(character),
        }
    }
    safe
}

/// Foreign text between backquotes.
fn code(text: &str) -> String {
    text.chars()
        .filter(|c| *c != '`' && !c.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_is_no_markup_no_mention_and_no_cell() {
        let safe = escaped("<img src=x>|[a](b) @team\n# head `x`");
        assert_eq!(
            safe,
            "&lt;img src=x&gt;\\|\\[a\\](b) &#64;team \\# head \\`x\\`"
        );
    }
}
