//! What the loads did, as each of them counted it.

use super::{nothing, scrolling};
use crate::page::Reported;
use crate::page::markup::Markup;
use crate::text::rate;

/// Writes the proofs.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let loads = &run.assessment.loads;
    if loads.is_empty() {
        nothing(markup, "No phase of this run had a load.");
        return;
    }
    let mut table = Markup::default();
    table.raw(
        "<table><caption>Work done during the measured segments. A load without proof of work makes \
         its conditions invalid.</caption><thead><tr><th scope=\"col\">Phase</th>\
         <th scope=\"col\">Load</th><th scope=\"col\" class=\"number\">Workers</th>\
         <th scope=\"col\" class=\"number\">Work per second</th><th scope=\"col\">Proven</th>\
         <th scope=\"col\">Notes</th></tr></thead><tbody>",
    );
    for load in loads {
        table.raw("<tr>");
        table.element("th", &[("scope", &"row")], &load.phase);
        table.element("td", &[], &load.load);
        let number = [("class", &"number" as &dyn std::fmt::Display)];
        table.element("td", &number, load.workers);
        table.element(
            "td",
            &number,
            format!("{} {}", rate(load.per_second), load.unit),
        );
        let (class, word) = match load.working {
            true => ("outcome good", "yes"),
            false => ("outcome bad", "no"),
        };
        table.raw("<td>");
        table.element("span", &[("class", &class)], word);
        table.raw("</td>");
        table.element("td", &[], load.notes.join("; "));
        table.raw("</tr>");
    }
    table.raw("</tbody></table>");
    scrolling(markup, "Loads", &table);
}
