//! A comparison as text: the differences, the table, the finding with its evidence. For one run against one
//! a dozen lines; the whole on request.

mod changed;
mod figures;
mod sentences;
mod short;
mod tables;

pub(crate) use changed::most_changed;
pub(super) use figures::p_value;
pub(crate) use sentences::{ONE_RUN, conclusions, method, reasons};
pub(crate) use tables::{differences_table, label, metrics_table};

use crate::Style;
use crate::table::Tone;
use std::fmt::Write;
use wakepath_assess::{Comparison, Finding};

/// Above runs that are not comparable.
pub(crate) const BANNER: &str = "NOT COMPARABLE, compared by --force: what follows is not evidence";

/// The finding, and what it rests on: of one run against one a dozen lines, else the whole.
pub(super) fn to_text(comparison: &Comparison, style: Style) -> String {
    if comparison.base.len() > 1 || comparison.against.len() > 1 {
        return comparison_in_full(comparison, style);
    }
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = short::write_short(comparison, &mut text, style);
    text
}

/// The whole of it for a person.
pub fn comparison_in_full(comparison: &Comparison, style: Style) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(comparison, &mut text, style);
    text
}

fn write_all(comparison: &Comparison, text: &mut String, style: Style) -> std::fmt::Result {
    let mut head = String::new();
    write_banner(comparison, &mut head, style)?;
    write_finding(comparison, &mut head, style)?;
    writeln!(head)?;
    for (side, runs) in [("base", &comparison.base), ("against", &comparison.against)] {
        for run in runs {
            writeln!(
                head,
                "{side:<8} {}  {}  {}",
                run.directory, run.started, run.scenario
            )?;
        }
    }
    text.push_str(&super::wrapped(&head, style.columns));
    if comparison.differences.is_empty() {
        text.push_str("machine, kernel and scenario: the same on both sides, as far as recorded\n")
    } else {
        text.push_str(&differences_table(comparison).to_terminal(style.columns))
    }
    writeln!(text)?;
    text.push_str(&metrics_table(comparison).to_terminal(style.columns));
    let mut prose = String::from("\n");
    for (_, reason) in reasons(comparison) {
        writeln!(prose, "{reason}")?;
    }
    if let Some(gravity) = &comparison.gravity {
        writeln!(prose, "{gravity}")?;
    }
    for caution in &comparison.cautions {
        writeln!(prose, "caution: {caution}")?;
    }
    for line in method(comparison) {
        writeln!(prose, "{line}")?;
    }
    text.push_str(&super::wrapped(&prose, style.columns));
    Ok(())
}

fn write_banner(comparison: &Comparison, text: &mut String, style: Style) -> std::fmt::Result {
    if comparison.forced.is_empty() {
        return Ok(());
    }
    writeln!(text, "{}", style.bold(&style.bad(BANNER)))?;
    for reason in &comparison.forced {
        writeln!(text, "  {reason}")?;
    }
    writeln!(text)
}

fn write_finding(comparison: &Comparison, text: &mut String, style: Style) -> std::fmt::Result {
    writeln!(text, "finding: {}", found(comparison, style))?;
    for line in conclusions(comparison) {
        writeln!(text, "  {line}")?;
    }
    Ok(())
}

fn found(comparison: &Comparison, style: Style) -> String {
    let word = comparison.finding.to_string().to_uppercase();
    style.bold(&style.toned(tone(comparison.finding), &word))
}

/// How a finding is meant.
pub(crate) fn tone(finding: Finding) -> Tone {
    match finding {
        Finding::Improved | Finding::Equivalent => Tone::Good,
        Finding::Regressed | Finding::Invalid => Tone::Bad,
        Finding::Inconclusive => Tone::Doubtful,
    }
}
