//! The table per policy and load: the same figures as in the terminal.

use super::{nothing, outcome, scrolling};
use crate::page::Reported;
use crate::page::markup::Markup;
use crate::text::{COLUMNS, executed_row, phases, row, row_label};

/// Writes the table.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let assessment = run.assessment;
    if assessment.conditions.is_empty() && assessment.not_measured.is_empty() {
        nothing(
            markup,
            "No condition was measured, so there is nothing to list.",
        );
        return;
    }
    let mut table = Markup::default();
    table.raw(
        "<table class=\"measured\"><caption>Due times, latencies and misses of each condition. \
         Latency is as scheduled: over all due times, skipped ones with what they suffered. \
         – stands where the sample is too small for a quantile.</caption><thead><tr>\
         <td></td>",
    );
    table.raw("<td></td>");
    // The verdict, last in the terminal, stands beside the policy here: the table may be wider than
    // the screen.
    let columns = || COLUMNS.iter().filter(|(title, _)| !title.is_empty());
    for (title, heads) in columns() {
        let span = heads.len();
        table.element("th", &[("scope", &"colgroup"), ("colspan", &span)], title);
    }
    table.raw("</tr><tr><th scope=\"col\">Policy</th><th scope=\"col\">verdict</th>");
    for head in columns().flat_map(|(_, heads)| *heads) {
        table.element("th", &[("scope", &"col"), ("class", &"number")], head);
    }
    table.raw("</tr></thead>");
    let all: usize = COLUMNS.iter().map(|(_, heads)| heads.len()).sum();
    for phase in phases(assessment) {
        table.raw("<tbody><tr class=\"phase\">");
        let span = all + 1;
        table.element("th", &[("scope", &"rowgroup"), ("colspan", &span)], phase);
        table.raw("</tr>");
        for judgement in assessment
            .conditions
            .iter()
            .filter(|c| c.name.phase == phase)
        {
            let mut cells = row(assessment, judgement);
            // The verdict has a colour of its own.
            cells.pop();
            table.raw("<tr>");
            table.element("th", &[("scope", &"row")], row_label(judgement));
            table.raw("<td>");
            outcome(&mut table, judgement.outcome);
            table.raw("</td>");
            numbers(&mut table, &cells);
            table.raw("</tr>");
            if judgement.cycles.skipped > 0 {
                table.raw("<tr class=\"aside\"><th scope=\"row\">as executed</th><td></td>");
                let mut cells = executed_row(&judgement.cycles);
                cells.resize(all - 1, String::new());
                numbers(&mut table, &cells);
                table.raw("</tr>");
            }
        }
        for missing in assessment.not_measured.iter().filter(|m| m.phase == phase) {
            table.raw("<tr>");
            table.element("th", &[("scope", &"row")], &missing.condition);
            table.element("td", &[("colspan", &all)], "not measured");
            table.raw("</tr>");
        }
        table.raw("</tbody>");
    }
    table.raw("</table>");
    scrolling(markup, "Table of all conditions", &table);
}

fn numbers(table: &mut Markup, cells: &[String]) {
    for cell in cells {
        table.element("td", &[("class", &"number")], cell);
    }
}
