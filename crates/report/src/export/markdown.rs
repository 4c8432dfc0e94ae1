//! An assessment as Markdown, for the description of a change or the summary of a pipeline: the
//! verdict, the table, the reasons, in one screen.

use crate::table::escaped;
use crate::text::short_table;
use std::fmt::Write;
use wakepath_assess::Assessment;
use wakepath_verdict::Outcome;

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
    text.push_str(&short_table(assessment).to_markdown());
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

/// Foreign text between backquotes.
fn code(text: &str) -> String {
    text.chars()
        .filter(|c| *c != '`' && !c.is_control())
        .collect()
}
