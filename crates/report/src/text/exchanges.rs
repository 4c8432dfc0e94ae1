//! Results of exchanges with a bus, as a table.

use crate::Style;
use crate::table::{Cell, Table, number};
use wakepath_assess::Exchanges;

/// The table for a person, with an empty line after it; nothing without a bus.
pub(crate) fn to_text(exchanges: &[Exchanges], style: Style) -> String {
    table(exchanges).map_or(String::new(), |table| {
        format!("{}\n", table.to_terminal(style.columns))
    })
}

/// A row for each condition.
pub(crate) fn table(exchanges: &[Exchanges]) -> Option<Table> {
    let first = exchanges.first()?;
    let several = exchanges.iter().any(|one| one.thread != first.thread);
    let devices = match first.devices {
        1 => "1 device".to_owned(),
        many => format!("{many} devices"),
    };
    let mut table = Table::new("EtherCAT exchange")
        .caption(format!(
            "Process data on {}: {devices}, working counter {} is right. Late came after the loop had \
             given it up; behind is how much later than usual a frame passed the reference clock, and after \
             output are those that the devices had not yet when they took that period's outputs.",
            first.bus, first.counter
        ))
        .group(
            "exchanges",
            "",
            &["all", "late", "lost", "wrong counter", "not sent", "after output"].map(number),
        )
        .group("round trip", "", &["median", "p99", "max"].map(number))
        .group("behind", "", &["p99", "max"].map(number))
        .group("clocks apart", "", &["p99", "max"].map(number));
    for one in exchanges {
        let label = if several {
            format!("{}, {}: {}", one.condition, one.phase, one.thread)
        } else {
            format!("{}, {}", one.condition, one.phase)
        };
        let time = |ns: Option<u64>| Cell::from(ns.map(Cell::length));
        table.row(
            label,
            vec![
                Cell::new(one.exchanges),
                Cell::new(one.late),
                Cell::new(one.lost),
                Cell::new(one.wrong_counter),
                Cell::new(one.not_sent),
                Cell::new(one.after_output),
                time(one.round_trip.median_ns),
                time(one.round_trip.p99_ns),
                time(one.round_trip.max_ns),
                time(one.behind.p99_ns),
                time(one.behind.max_ns),
                time(one.clock_difference.p99_ns),
                time(one.clock_difference.max_ns),
            ],
        );
    }
    Some(table)
}
