//! Callbacks as rows of a table: their names and figures.

use super::Named;
use crate::{Cell, Table, number};
use std::collections::BTreeMap;
use wakepath_ros2::{Callback, Figures, Kind, Row, Taken};

/// A name for each row: with the process where others have one of that name, and a number where the same process has
/// several.
pub(super) fn names(rows: &[Row]) -> Vec<String> {
    let mut alike: BTreeMap<String, BTreeMap<u32, u64>> = BTreeMap::new();
    for row in rows {
        let of_name = alike.entry(label(&row.callback)).or_default();
        *of_name.entry(row.callback.process).or_default() += 1;
    }
    let mut met: BTreeMap<(String, u32), u64> = BTreeMap::new();
    let mut name = |row: &Row| {
        let name = label(&row.callback);
        let process = row.callback.process;
        let of_name = &alike[&name];
        let has_others = of_name.len() > 1;
        let has_own = of_name[&process] > 1;
        let number = met.entry((name.clone(), process)).or_default();
        *number += 1;
        match (has_others, has_own) {
            (false, false) => name,
            (true, false) => format!("{name} (process {process})"),
            (false, true) => format!("{name} ({number})"),
            (true, true) => format!("{name} (process {process}, {number})"),
        }
    };
    rows.iter().map(&mut name).collect()
}

/// A callback, or what its thread took instead: the row then counts that.
fn label(callback: &Callback) -> String {
    let counted = match &callback.kind {
        Kind::Handled { taken, .. } => match taken {
            Taken::Request => " (requests taken)",
            Taken::Answer => " (answers taken)",
            Taken::Message => " (messages taken)",
        },
        _ => "",
    };
    format!("{callback}{counted}")
}

/// The figures of these rows.
pub(super) fn table(rows: &[Named<'_>]) -> Table {
    let mut table = Table::new("callback")
        .column(number("runs"))
        .group("latency", "", &["median", "p99", "max"].map(number))
        .group("gap", "", &["median", "max"].map(number))
        .group("run time", "", &["median", "max"].map(number))
        .column(number("late"))
        .column(number("skipped"));
    for (row, name) in rows {
        let latency = row.latency_ns.or(row.waited_ns);
        let of = |figures: Option<Figures>, which: fn(&Figures) -> i64| -> Cell {
            let shown = figures.as_ref().map(which);
            shown.map(Cell::time).into()
        };
        let cells = vec![
            Cell::new(row.count),
            of(latency, |of| of.median),
            of(latency, |of| of.p99),
            of(latency, |of| of.max),
            of(row.gap_ns, |of| of.median),
            of(row.gap_ns, |of| of.max),
            of(row.run_ns, |of| of.median),
            of(row.run_ns, |of| of.max),
            row.late.map(Cell::new).into(),
            row.skipped.map(Cell::new).into(),
        ];
        table.row(*name, cells);
    }
    table
}

/// The figures that matter first.
pub(super) fn short_table(rows: &[Named<'_>]) -> Table {
    let mut table = Table::new("callback")
        .column(number("runs"))
        .group("longest", "", &["latency", "gap", "run"].map(number))
        .column(number("late"))
        .column(number("skipped"));
    for (row, name) in rows {
        let of = |figures: Option<Figures>| -> Cell {
            let longest = figures.map(|of| Cell::time(of.max));
            longest.into()
        };
        let cells = vec![
            Cell::new(row.count),
            of(row.latency_ns.or(row.waited_ns)),
            of(row.gap_ns),
            of(row.run_ns),
            row.late.map(Cell::new).into(),
            row.skipped.map(Cell::new).into(),
        ];
        table.row(*name, cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_callback_is_labelled_with_what_it_counts() {
        let callback = |kind| Callback {
            process: 7,
            handle: 1,
            node: Some("arm".into()),
            kind,
            symbol: None,
        };
        let handled = |taken, part: &str| {
            label(&callback(Kind::Handled {
                taken,
                name: format!("/lift/_action/{part}"),
            }))
        };
        assert_eq!(
            handled(Taken::Message, "feedback"),
            "arm: action /lift, feedback (messages taken)"
        );
        assert_eq!(
            handled(Taken::Request, "send_goal"),
            "arm: action /lift, goal request (requests taken)"
        );
        let service = "/plan".to_owned();
        assert_eq!(
            label(&callback(Kind::Service { service })),
            "arm: service /plan"
        );
    }
}
