//! The table per policy and load: the same figures as in the terminal.

use super::nothing;
use crate::markup::Markup;
use crate::page::Reported;
use crate::text::{
    WHAT_STRETCH_IS, bounds_table, cache_delays_table, conditions_table, exchanges_table,
    stretch_sentence, stretch_table,
};

/// Writes the table.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let table = conditions_table(run.assessment);
    if table.is_empty() {
        nothing(
            markup,
            "No condition was measured, so there is nothing to list.",
        )
    } else {
        let [latencies, rest] = table.parted(&["execution", "response", "misses", "outage"]);
        latencies.write_html(markup, "Latencies of all conditions");
        let rest = rest.caption("Work, response, misses and outages of the same conditions");
        rest.write_html(markup, "Work and misses of all conditions");
    }
    let bounds = &run.assessment.bounds;
    if !bounds.is_empty() {
        bounds_table(bounds).write_html(markup, "Bounds against what was observed");
    }
    if let Some(exchanges) = exchanges_table(&run.assessment.exchanges) {
        exchanges.write_html(markup, "Exchanges with the bus");
    }
    let stretches = &run.assessment.stretch;
    if !stretches.is_empty() {
        let table = stretch_table(stretches).caption(WHAT_STRETCH_IS);
        table.write_html(markup, "Variation of the controller's execution time");
        for sentence in stretches.iter().filter_map(stretch_sentence) {
            markup.element("p", &[], &sentence);
        }
    }
    let delays = &run.assessment.cache_delays;
    if !delays.is_empty() {
        cache_delays_table(delays).write_html(markup, "Cache losses");
    }
}
