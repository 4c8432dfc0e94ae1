//! What the timing did to the flight.

use super::{figures, nothing, scrolling};
use crate::page::Reported;
use crate::page::markup::Markup;
use crate::text::{headline, short_cells};
use wakepath_verdict::Outcome;

/// Writes the flight's figures and its table.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let Some(flights) = &run.assessment.flights else {
        nothing(
            markup,
            "Not flown: the scenario has no [flight]. `wakepath fly RUN` flies a vehicle through \
             the recorded instants.",
        );
        return;
    };
    for line in headline(flights).lines() {
        let mut characters = line.chars();
        let first = characters
            .next()
            .map(|first| first.to_uppercase().to_string());
        let line = format!("{}{}.", first.unwrap_or_default(), characters.as_str());
        markup.element("p", &[], line);
    }
    for warning in &flights.warnings {
        markup.element("p", &[("class", &"remark")], warning);
    }
    figures::pairs(
        markup,
        &run.figures.flight,
        "No condition could be flown; the table says why.",
    );
    let (heads, rows) = short_cells(flights);
    let mut table = Markup::default();
    table.raw(
        "<table><caption>The flight of each condition beside the one without latency. Margins are \
         what the controller still bears.</caption><thead><tr><td></td>",
    );
    for (title, heads) in heads {
        let span = heads.len();
        table.element("th", &[("scope", &"colgroup"), ("colspan", &span)], title);
    }
    table.raw("<td></td></tr><tr><th scope=\"col\">Condition</th>");
    for head in heads.iter().flat_map(|(_, heads)| *heads) {
        table.element("th", &[("scope", &"col"), ("class", &"number")], head);
    }
    table.raw("<th scope=\"col\">Findings</th></tr></thead><tbody>");
    for (label, cells, findings) in rows {
        table.raw("<tr>");
        table.element("th", &[("scope", &"row")], label);
        for cell in cells {
            table.element("td", &[("class", &"number")], cell);
        }
        let against: Vec<String> = findings
            .iter()
            .filter(|finding| finding.bearing() != Outcome::Passed)
            .map(ToString::to_string)
            .collect();
        table.element("td", &[], against.join("; "));
        table.raw("</tr>");
    }
    table.raw("</tbody></table>");
    scrolling(markup, "Flights", &table);
}
