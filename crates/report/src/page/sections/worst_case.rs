//! Bounds on the run's largest latency, beyond the verdict, and each gate with its statistic.

use super::{nothing, sentence};
use crate::markup::Markup;
use crate::page::Reported;
use crate::text::worst_case::{
    asked, bounds_table, gates_table, largest_line, name, remarks, said_below, tails_table,
    tests_table,
};

/// Writes the table of the conditions and, folded, the gates of each.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let Some(bounds) = run.bounds else {
        nothing(
            markup,
            "No cycle was recorded after the warm-up, so there is no largest value.",
        );
        return;
    };
    if let Some(line) = largest_line(bounds) {
        markup.element("p", &[], sentence(&line));
    }
    let asked = format!(
        "Below: a {}, if every gate passes. `wakepath bound RUN --exceed 1e-5` asks for another, `--metric \
         response` of another time.",
        asked(bounds)
    );
    markup.prose("p", &[("class", &"about")], asked);
    bounds_table(bounds).write_html(markup, "Bounds");
    for line in said_below(bounds).lines() {
        markup.prose("p", &[], sentence(line));
    }
    if bounds.conditions.iter().any(|of| of.bound_ns().is_none()) {
        markup.prose(
            "p",
            &[("class", &"about paper")],
            "Gates of refused bounds are not printed: open the page, or use `wakepath bound RUN --details`.",
        );
    }
    for condition in &bounds.conditions {
        // Statistics of a refused bound are many pages of paper that prove nothing.
        match condition.bound_ns() {
            None => markup.open("details", &[("class", &"screen")]),
            Some(_) => markup.open("details", &[]),
        }
        let summary = format!("{}: each gate with its statistic", name(condition));
        markup.element("summary", &[], summary);
        gates_table(condition).write_html(markup, "Gates");
        for (table, region) in [
            (tests_table(condition), "Tests"),
            (tails_table(condition), "Thresholds"),
        ] {
            if !table.is_empty() {
                table.write_html(markup, region);
            }
        }
        for remark in remarks(condition) {
            markup.element("p", &[], sentence(&remark));
        }
        markup.close("details");
    }
}
