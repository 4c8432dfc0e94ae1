//! The table of flights: a row for each condition, compared with the flight without latency.

use super::fate::{against, fate};
use crate::table::{Cell, Table, number, words};
use wakepath_assess::{FlownCondition, FlownConditions};
use wakepath_flight::replay::{FlightReport, Flown};
use wakepath_timeline::condition_label;
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::number;

fn few_columns() -> Table {
    Table::new("Condition")
        .caption(
            "The flight of each condition, compared with the one without latency. Margins are what the \
             controller can still tolerate.",
        )
        .group("no command", "", &[number("in a row")])
        .group("reaction", "", &[number("max")])
        .group("margins left", "", &["delay", "jitter"].map(number))
        .group("in noise", "", &[number("tilt").unit("°")])
        .group("kicked", "", &[number("tilt").unit("°")])
        .column(words("flight").leading())
}

/// As wide as a terminal of 80 columns.
fn fewest_columns() -> Table {
    Table::new("Condition")
        .group("reaction", "", &[number("max")])
        .group("margins left", "", &["delay", "jitter"].map(number))
        .group("kicked", "", &[number("tilt").unit("°")])
        .column(words("flight").leading())
}

fn all_columns() -> Table {
    let (tilt, median, max) = (number("tilt").unit("°"), number("median"), number("max"));
    Table::new("Condition")
        .group("no command", "", &["due times", "in a row"].map(number))
        .group("reaction", "", &[median, max])
        .group("freshness", "", &[median, max])
        .group(
            "margins left",
            "",
            &["delay", "if max lasted", "jitter"].map(number),
        )
        .group("to loss", "", &["time", "in a row"].map(number))
        .group("s.d. in noise", "", &[tilt, number("rate").unit("°/s")])
        .group("kicked", "", &[tilt, number("back"), number("lost")])
        .group("clipped", "", &["noise", "tracking"].map(number))
        .group("off track", "mm", &[number("RMSE")])
        .column(words("flight"))
}

/// The table shown at the end of a measurement.
pub(super) fn short(flown: &FlownConditions) -> Table {
    table(flown, few_columns(), short_row, Shown::All)
}

/// The figures that decide, without the flights next to each condition's own.
pub(super) fn shortest(flown: &FlownConditions) -> Table {
    table(flown, fewest_columns(), shortest_row, Shown::Measured)
}

/// All that is known of each flight.
pub(super) fn long(flown: &FlownConditions) -> Table {
    table(flown, all_columns(), long_cells, Shown::All)
}

/// The short table with what was found of each flight.
pub(crate) fn flights_table(flown: &FlownConditions) -> Table {
    table(
        flown,
        few_columns().column(words("Findings")),
        short_row,
        Shown::WithFindings,
    )
}

/// Cells next to those under the recorded timing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// Nothing.
    Measured,
    /// The flights without latency and without the rotors' drag.
    All,
    /// The same, with a column of findings.
    WithFindings,
}

fn table(flown: &FlownConditions, empty: Table, cells: CellsOf, shown: Shown) -> Table {
    let with_findings = shown == Shown::WithFindings;
    let mut table = empty;
    let ideal = |report: &FlightReport| cells(Row::Ideal, report, &report.flights.ideal);
    let reports = flown
        .conditions
        .iter()
        .filter_map(|one| one.flight.as_ref());
    let ideals: Vec<Vec<Cell>> = reports.map(ideal).collect();
    // The same for runs of the same length, as a rule.
    let same = ideals.windows(2).all(|two| two[0] == two[1]);
    if let (true, Some(ideal)) = (same, ideals.first()) {
        table.row("without latency", ideal.clone());
    }
    let mut phase = None;
    for one in &flown.conditions {
        if phase != Some(&one.name.phase) {
            phase = Some(&one.name.phase);
            table.heading(&one.name.phase);
        }
        let label = condition_label(one.name.policy.as_ref(), one.name.task.as_deref());
        let mut of_flight = match &one.flight {
            Some(report) => cells(Row::Measured(one), report, &report.flights.measured),
            None => {
                let mut blank = vec![Cell::Blank; table.width() - 1 - usize::from(with_findings)];
                blank.push("not flown".into());
                blank
            }
        };
        if with_findings {
            of_flight.push(against(one).join("; ").into());
        }
        table.row(label, of_flight);
        if shown == Shown::Measured {
            continue;
        }
        let Some(report) = &one.flight else {
            continue;
        };
        if let Some(without) = &report.without_rotor_drag {
            let cells = cells(Row::WithoutDrag, report, without);
            table.aside("without rotor drag", cells);
        }
        if !same {
            table.aside("without latency", ideal(report));
        }
    }
    table
}

/// Which flight a row shows.
#[derive(Clone, Copy)]
pub(super) enum Row<'a> {
    /// Under the recorded instants.
    Measured(&'a FlownCondition),
    /// The same for the vehicle without its rotors' drag: the timing and the margins, which are those of a
    /// loop without aerodynamics, are in the row above.
    WithoutDrag,
    /// Without latency.
    Ideal,
}

impl Row<'_> {
    /// `text` if it is for the recorded instants themselves.
    fn of_run(self, text: String) -> Cell {
        match self {
            Self::Measured(_) => text.into(),
            Self::WithoutDrag | Self::Ideal => Cell::Blank,
        }
    }
}

/// Cells of a flight.
type CellsOf = fn(Row<'_>, &FlightReport, &Flown) -> Vec<Cell>;

fn short_row(row: Row<'_>, report: &FlightReport, flown: &Flown) -> Vec<Cell> {
    let timing = &report.timing;
    let of_run = |text: String| row.of_run(text);
    vec![
        of_run(timing.most_consecutive_missed.to_string()),
        of_run(time(timing.reaction.max_ns)),
        delay_cell(row, report).into(),
        of_run(margin(report.margins.jitter_ns)),
        decimal(flown.tilt_deviation_deg).into(),
        number::three_digits(flown.kicks.peak_tilt_deg).into(),
        fate(row, report, flown).into(),
    ]
}

fn shortest_row(row: Row<'_>, report: &FlightReport, flown: &Flown) -> Vec<Cell> {
    let of_run = |text: String| row.of_run(text);
    vec![
        of_run(time(report.timing.reaction.max_ns)),
        delay_cell(row, report).into(),
        of_run(margin(report.margins.jitter_ns)),
        number::three_digits(flown.kicks.peak_tilt_deg).into(),
        fate(row, report, flown).into(),
    ]
}

fn long_cells(row: Row<'_>, report: &FlightReport, flown: &Flown) -> Vec<Cell> {
    let timing = &report.timing;
    let of_run = |text: String| row.of_run(text);
    let distance = match row {
        Row::Measured(one) => one.distance,
        Row::WithoutDrag | Row::Ideal => None,
    };
    let fresh = |of: fn(&wakepath_flight::replay::Spread) -> u64| {
        timing
            .freshness
            .as_ref()
            .map_or(Cell::Blank, |spread| of_run(time(of(spread))))
    };
    vec![
        of_run(timing.missed.to_string()),
        of_run(timing.most_consecutive_missed.to_string()),
        of_run(time(timing.reaction.median_ns)),
        of_run(time(timing.reaction.max_ns)),
        fresh(|spread| spread.median_ns),
        fresh(|spread| spread.max_ns),
        delay_cell(row, report).into(),
        of_run(margin(report.margins.delay_if_worst_lasted_ns)),
        of_run(margin(report.margins.jitter_ns)),
        distance.map_or(Cell::Blank, |one| margin(one.latency_ns).into()),
        distance.map_or(Cell::Blank, |one| one.misses.map(Cell::new).into()),
        decimal(flown.tilt_deviation_deg).into(),
        decimal(flown.rate_deviation_deg_s).into(),
        number::three_digits(flown.kicks.peak_tilt_deg).into(),
        time(flown.kicks.slowest_recovery_ns).into(),
        flown.kicks.lost.to_string().into(),
        time(flown.saturated_in_noise_ns).into(),
        time(flown.saturated_tracking_ns).into(),
        decimal(flown.tracking_rmse_m.map(|metres| metres * 1e3)).into(),
        fate(row, report, flown).into(),
    ]
}

/// The remaining delay margin; all of it without latency.
fn delay_cell(row: Row<'_>, report: &FlightReport) -> String {
    let whole = || {
        let axes = report.margins.axes.iter().map(|axis| axis.delay_ns);
        let all: Option<Vec<u64>> = axes.collect();
        all.and_then(|all| all.into_iter().min())
            .and_then(|ns| i64::try_from(ns).ok())
    };
    match row {
        Row::Measured(_) => margin(report.margins.delay_ns),
        Row::WithoutDrag => String::new(),
        Row::Ideal => margin(whole()),
    }
}

fn time(ns: u64) -> String {
    three_digits(i64::try_from(ns).unwrap_or(i64::MAX))
}

fn margin(ns: Option<i64>) -> String {
    ns.map_or("none".into(), three_digits)
}

fn decimal(value: Option<f64>) -> Option<String> {
    value.map(number::three_digits)
}
