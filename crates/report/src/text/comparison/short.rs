//! The finding of one run against one in a dozen lines: differences besides the timing, and the
//! figures that differ most.

use super::changed::{Changed, most_changed};
use super::{ONE_RUN, found, reasons, write_banner};
use crate::Style;
use crate::answer::COLUMNS;
use std::fmt::Write;
use wakepath_assess::{Comparison, Finding};
use wakepath_timeline::columns::{cut, folded, wrapped};
use wakepath_verdict::counted;

/// Figures shown of one run against one; the whole text has all.
const MOST_SHOWN: usize = 6;

/// Writes it.
pub(super) fn write_short(
    comparison: &Comparison,
    text: &mut String,
    style: Style,
) -> std::fmt::Result {
    let columns = style.columns.unwrap_or(COLUMNS).clamp(40, COLUMNS);
    let mut head = String::new();
    write_banner(comparison, &mut head, style)?;
    writeln!(head, "finding: {}", found(comparison, style))?;
    text.push_str(&folded(&head, columns));
    text.push_str(&wrapped(ONE_RUN, "  ", "  ", columns));
    for (side, runs) in [("base", &comparison.base), ("against", &comparison.against)] {
        for run in runs {
            let line = format!("{side:<8} {}  {}", run.directory, run.started);
            writeln!(text, "{}", cut(&line, columns))?;
        }
    }
    let what: Vec<String> = comparison
        .differences
        .iter()
        .map(|difference| difference.what.clone())
        .collect();
    let what = if what.is_empty() {
        "machine, kernel and scenario: the same on both sides, as far as recorded".to_owned()
    } else {
        format!("besides the timing, these differ: {}", what.join(", "))
    };
    text.push_str(&wrapped(&what, "", "  ", columns));
    if let Some(gravity) = &comparison.gravity {
        text.push_str(&wrapped(gravity, "", "  ", columns));
    }
    let said = comparison
        .cautions
        .iter()
        .map(|said| format!("caution: {said}"));
    // The line above reports that nothing differs.
    let said = said.filter(|_| !comparison.differences.is_empty());
    let invalid = reasons(comparison)
        .into_iter()
        .filter(|(finding, _)| *finding == Finding::Invalid)
        .map(|(_, reason)| reason);
    for line in invalid.chain(said).take(3) {
        text.push_str(&wrapped(&line, "", "  ", columns));
    }
    text.push('\n');
    text.push_str(&changed_figures(comparison, columns));
    Ok(())
}

/// The figures that differ most, and how many there are.
fn changed_figures(comparison: &Comparison, columns: usize) -> String {
    let Changed { table, beyond, all } =
        most_changed(comparison, MOST_SHOWN, columns.saturating_sub(36));
    if all == 0 {
        return "no figure is known on both sides\n".to_owned();
    }
    let differ = match beyond {
        1 => "differs",
        _ => "differ",
    };
    let said = format!(
        "{beyond} of {} {differ} by more than the margin, {}; --details has all of them",
        counted(all as u64, "figure", "figures"),
        comparison.margin
    );
    table.to_terminal(Some(columns)) + &wrapped(&said, "", "  ", columns)
}
