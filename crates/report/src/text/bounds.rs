//! Bound against observed, as a table.

use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use wakepath_assess::HeldBound;
use wakepath_timeline::number::three_digits;
use wakepath_timeline::{duration, one_line};

/// The table for a person, with an empty line after it; nothing if nothing was promised.
pub(crate) fn to_text(bounds: &[HeldBound], style: Style) -> String {
    match bounds {
        [] => String::new(),
        bounds => format!("{}\n", bounds_table(bounds).to_terminal(style.columns)),
    }
}

/// A row for each task under each condition.
pub(crate) fn bounds_table(bounds: &[HeldBound]) -> Table {
    let mut table = Table::new("Task")
        .caption("The bound that an analysis gave each response, and the longest response observed")
        .column(words("condition"))
        .column(number("bound"))
        .column(number("observed"))
        .column(number("of it").unit("%"))
        .column(number("cycles"))
        .column(words("promise"));
    for held in bounds {
        let promise = if held.contradicted {
            Cell::Toned("CONTRADICTED".into(), Tone::Bad)
        } else {
            Cell::Toned("kept".into(), Tone::Good)
        };
        let cells = vec![
            held.condition.to_string().into(),
            duration::length(held.bound_ns).into(),
            duration::apart_from(held.observed_ns, held.bound_ns.cast_signed()).into(),
            three_digits(held.share() * 100.0).into(),
            Cell::new(held.cycles),
            promise,
        ];
        table.row(one_line(&held.task), cells);
    }
    table
}
