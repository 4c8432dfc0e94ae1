//! Effect of the timing on the simulated flight; only in a run that was flown.

use super::{figures, nothing, sentence};
use crate::markup::Markup;
use crate::page::Reported;
use crate::text::{flights_table, headline};

/// Writes the flight's figures and its table.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let Some(flights) = &run.assessment.flights else {
        return;
    };
    for line in headline(flights).lines() {
        markup.element("p", &[], sentence(line));
    }
    for warning in &flights.warnings {
        markup.element("p", &[("class", &"remark")], warning);
    }
    for sentence in &run.figures.flight_alike {
        markup.element("p", &[], sentence);
    }
    match (
        run.figures.flight.as_slice(),
        run.figures.flight_alike.as_slice(),
    ) {
        ([], []) => nothing(
            markup,
            "No condition could be flown; the table gives the reasons.",
        ),
        ([], _) => {}
        (figures, _) => figures::pairs(markup, figures, ""),
    }
    flights_table(flights).write_html(markup, "Flights");
}
