//! What the timing did to the flight.

use super::{figures, nothing, sentence};
use crate::markup::Markup;
use crate::page::Reported;
use crate::text::{flights_table, headline};

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
        markup.element("p", &[], sentence(line));
    }
    for warning in &flights.warnings {
        markup.element("p", &[("class", &"remark")], warning);
    }
    figures::pairs(
        markup,
        &run.figures.flight,
        "No condition could be flown; the table says why.",
    );
    flights_table(flights).write_html(markup, "Flights");
}
