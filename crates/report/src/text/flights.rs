//! Flights as text: a table with the ideal flight beside the measured ones, what would lose the
//! vehicle, and the verdict. Nothing is computed here.

use super::{coloured, wrapped};
use crate::Style;
use crate::table::{Cell, Table, number, words};
use wakepath_assess::{
    ControllerFile, Flights, FlownCondition, FlownConditions, Search, loss_text,
};
use wakepath_flight::Trajectory;
use wakepath_flight::replay::{FlightReport, Flown, Missed, OverrunRule, Sampling};
use wakepath_flight::search::{Brink, Terms};
use wakepath_scenario::{FlightCriterion, Losses};
use wakepath_timeline::condition_label;
use wakepath_verdict::{Outcome, duration};

fn short() -> Table {
    Table::of("Condition")
        .caption(
            "The flight of each condition beside the one without latency. Margins are what the \
             controller still bears.",
        )
        .group("no command", "", &[number("in a row")])
        .group("reaction", "ms", &[number("max")])
        .group("margins left", "ms", &["delay", "jitter"].map(number))
        .group("in noise", "", &[number("tilt").unit("°")])
        .group("kicked", "", &[number("tilt").unit("°")])
        .column(words("flight").leading())
}

fn long() -> Table {
    let (tilt, median, max) = (number("tilt").unit("°"), number("median"), number("max"));
    Table::of("Condition")
        .group("no command", "", &["due times", "in a row"].map(number))
        .group("reaction", "ms", &[median, max])
        .group("freshness", "ms", &[median, max])
        .group(
            "margins left",
            "ms",
            &["delay", "if max lasted", "jitter"].map(number),
        )
        .group("to loss", "", &["ms", "in a row"].map(number))
        .group("s.d. in noise", "", &[tilt, number("rate").unit("°/s")])
        .group(
            "kicked",
            "",
            &[tilt, number("back").unit("ms"), number("lost")],
        )
        .group("clipped", "ms", &["noise", "tracking"].map(number))
        .group("off track", "mm", &[number("RMSE")])
        .column(words("flight"))
}

/// The whole of it for a person.
pub(super) fn to_text(flights: &Flights, style: Style) -> String {
    let mut head = headline(&flights.flown);
    for warning in &flights.flown.warnings {
        head += &format!("warning: {warning}\n");
    }
    for remark in flights
        .controllers
        .iter()
        .filter_map(ControllerFile::remark)
    {
        head += &format!("{remark}\n");
    }
    let table = table(&flights.flown, long(), long_cells, false).to_terminal(style.columns);
    let mut text = String::new();
    let flown = flights.flown.conditions.iter();
    let ideals = flown.filter_map(|one| Some(&one.flight.as_ref()?.flights.ideal));
    if let Some(how) = ideals.filter_map(loss_text).next() {
        let whose = "the vehicle or its gains lose it, whatever the timing";
        text += &format!("without latency: lost too: {how}; {whose}\n");
    }
    for condition in &flights.flown.conditions {
        text += &lines(condition, style);
    }
    for search in &flights.flown.searches {
        text += &search_text(search);
    }
    text += &verdict(flights, style);
    text += &format!("recording: {}\n", flights.run.directory);
    let wrapped = |prose: &str| wrapped(prose, style.columns);
    format!("\n{}\n{table}\n{}", wrapped(&head), wrapped(&text))
}

fn verdict(flights: &Flights, style: Style) -> String {
    let (Some(outcome), Some(criterion), Some(overall)) =
        (flights.outcome, &flights.flown.criterion, &flights.overall)
    else {
        return "no criterion: the run's scenario has no [flight]\n".into();
    };
    let word = outcome.to_string().to_uppercase();
    let mut text = format!("\nflight: {}\n", style.bold(&word));
    for policy in &overall.policies {
        let name = policy
            .policy
            .map_or("task set".into(), |policy| policy.to_string());
        let decided_by = match policy.outcome {
            Outcome::Passed => String::new(),
            _ => format!(" ({})", policy.decided_by.join(", ")),
        };
        let outcome = coloured(policy.outcome, style);
        text += &format!("  {name:<16} {outcome}{decided_by}\n");
    }
    for remark in &flights.remarks {
        text += &format!("  {remark}\n");
    }
    text + &format!("criterion: {}\n", criterion_text(criterion))
}

/// What the end of a measurement shows of it.
pub(super) fn to_short_text(flown: &FlownConditions, style: Style) -> String {
    let table = table(flown, short(), short_row, false).to_terminal(style.columns);
    let head = wrapped(&headline(flown), style.columns);
    let flights = flown.conditions.iter().filter_map(|one| {
        let how = one.flight.as_ref().and_then(beyond_margin)?;
        Some(format!("{}: {how}\n", one.name))
    });
    let beyond = wrapped(&flights.collect::<String>(), style.columns);
    format!("{head}\n{table}{beyond}\n")
}

/// The short table with what was found of each flight.
pub(crate) fn flights_table(flown: &FlownConditions) -> Table {
    table(flown, short().column(words("Findings")), short_row, true)
}

/// What was flown, with every choice.
pub(crate) fn headline(flown: &FlownConditions) -> String {
    let settings = &flown.settings;
    let course = match &settings.trajectory {
        Trajectory::Hover { .. } => "hovers".to_owned(),
        Trajectory::Step { from, to } => {
            let length = from.iter().zip(to).map(|(a, b)| (a - b).powi(2));
            format!("steps {} m", length.sum::<f64>().sqrt())
        }
        Trajectory::Circle {
            radius_m,
            frequency_hz,
            ..
        } => format!("circles at {radius_m} m and {frequency_hz} Hz"),
        Trajectory::Waypoints(points) => format!("follows {} waypoints", points.len()),
    };
    let choices = &settings.choices;
    let sampling = match choices.sampling {
        Sampling::AtWake => "samples when it wakes",
        Sampling::AtRelease => "works on samples taken at the due time",
    };
    let missed = match choices.missed {
        Missed::Hold => "a missed command leaves the last one in force",
        Missed::Zero => "a missed command stops the rotors",
    };
    let overrun = match choices.overrun {
        OverrunRule::Skip => "overruns skip as recorded",
        OverrunRule::Queue => "overruns queue",
        OverrunRule::Kill => "overruns are killed",
    };
    let sweep = &settings.sweep;
    format!(
        "the {} {course}; the loop {sampling}, {missed}, {overrun}\n\
             kicks: up to {} of {} rad/s for each condition, within its {} worst bursts and at its \
             longest silence; noise: {} rad/s²; seed {}\n",
        flown.vehicle,
        sweep.most_kicks(),
        sweep.rate_rad_s,
        sweep.bursts,
        settings.noise.rad_s2,
        sweep.seed,
    )
}

fn table(flown: &FlownConditions, empty: Table, cells: CellsOf, with_findings: bool) -> Table {
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
enum Row<'a> {
    /// Under the recorded instants.
    Measured(&'a FlownCondition),
    /// The same by the vehicle without its rotors' drag: the timing and the margins, which are
    /// those of a loop without aerodynamics, stand in the row above.
    WithoutDrag,
    /// Without latency.
    Ideal,
}

impl Row<'_> {
    /// `text` where it is the recorded instants' own.
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
        of_run(millis(timing.reaction.max_ns as f64)),
        delay_cell(row, report).into(),
        of_run(margin(report.margins.jitter_ns)),
        decimal(flown.tilt_deviation_deg, 3).into(),
        format!("{:.2}", flown.kicks.peak_tilt_deg).into(),
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
            .map_or(Cell::Blank, |spread| of_run(millis(of(spread) as f64)))
    };
    vec![
        of_run(timing.missed.to_string()),
        of_run(timing.most_consecutive_missed.to_string()),
        of_run(millis(timing.reaction.median_ns as f64)),
        of_run(millis(timing.reaction.max_ns as f64)),
        fresh(|spread| spread.median_ns),
        fresh(|spread| spread.max_ns),
        delay_cell(row, report).into(),
        of_run(margin(report.margins.delay_if_worst_lasted_ns)),
        of_run(margin(report.margins.jitter_ns)),
        distance.map_or(Cell::Blank, |one| margin(one.latency_ns).into()),
        distance.map_or(Cell::Blank, |one| one.misses.map(Cell::of).into()),
        decimal(flown.tilt_deviation_deg, 3).into(),
        decimal(flown.rate_deviation_deg_s, 2).into(),
        format!("{:.2}", flown.kicks.peak_tilt_deg).into(),
        millis_whole(flown.kicks.slowest_recovery_ns).into(),
        flown.kicks.lost.to_string().into(),
        millis_whole(flown.saturated_in_noise_ns).into(),
        millis_whole(flown.saturated_tracking_ns).into(),
        decimal(flown.tracking_rmse_m.map(|metres| metres * 1e3), 2).into(),
        fate(row, report, flown).into(),
    ]
}

/// What is left of the delay margin; all of it without latency.
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

/// How the flight ended. A vehicle that was not lost within the recording isn't said to fly where
/// its delay is beyond the margin: the loss may only take longer.
fn fate(row: Row<'_>, report: &FlightReport, flown: &Flown) -> String {
    let margins = &report.margins;
    let beyond = |left: Option<i64>| left.is_none_or(|left| left < 0);
    match row {
        _ if flown.lost() => "LOST",
        Row::Ideal => "flies",
        _ if beyond(margins.delay_ns) => "unstable",
        _ if beyond(margins.delay_if_worst_lasted_ns) => "flew",
        _ => "flies",
    }
    .into()
}

/// Why it isn't said to fly, where it was not lost.
fn beyond_margin(report: &FlightReport) -> Option<String> {
    let (margins, timing) = (&report.margins, &report.timing);
    if report.flights.measured.lost() {
        return None;
    }
    let Some(left) = margins.delay_ns else {
        return Some("unstable: the loop is unstable at this period without any delay".into());
    };
    let longest = i64::try_from(timing.reaction.max_ns).unwrap_or(i64::MAX);
    let worst = margins.delay_if_worst_lasted_ns?;
    let whole = duration(longest.saturating_add(worst));
    if left < 0 {
        let beyond = duration(left.saturating_neg());
        return Some(format!(
            "unstable: its mean delay is {beyond} beyond the delay margin of {whole}; the \
             loop is unstable there, though it was not lost within the recording"
        ));
    }
    (worst < 0).then(|| {
        format!(
            "flew: its longest reaction, {}, is beyond the delay margin of {whole}, and must not \
             last",
            duration(longest)
        )
    })
}

fn millis(ns: f64) -> String {
    format!("{:.3}", ns / 1e6)
}

fn millis_whole(ns: u64) -> String {
    format!("{:.0}", ns as f64 / 1e6)
}

fn margin(ns: Option<i64>) -> String {
    ns.map_or("none".into(), |ns| format!("{:.2}", ns as f64 / 1e6))
}

fn decimal(value: Option<f64>, digits: usize) -> Option<String> {
    value.map(|value| format!("{value:.digits$}"))
}

/// The findings that speak against the flight.
fn against(condition: &FlownCondition) -> Vec<String> {
    let findings = condition.findings.iter();
    let against = findings.filter(|finding| finding.bearing() != Outcome::Passed);
    against.map(ToString::to_string).collect()
}

/// What did not go well, one line.
fn lines(condition: &FlownCondition, style: Style) -> String {
    let against = against(condition);
    let lost = condition
        .flight
        .as_ref()
        .and_then(|report| loss_text(&report.flights.measured));
    let text = match (against.is_empty(), lost) {
        (false, _) => against.join("; "),
        (true, Some(how)) => format!("lost: {how}"),
        (true, None) => match condition.flight.as_ref().and_then(beyond_margin) {
            Some(how) => return format!("{}: {how}\n", condition.name),
            None => return String::new(),
        },
    };
    format!("{}: {}\n", condition.name, style.bad(&text))
}

fn search_text(search: &Search) -> String {
    let terms = &search.terms;
    let found = brinks_text(terms, &search.latency, &search.misses);
    let without = search.without_rotor_drag.as_ref().map(|brinks| {
        let found = brinks_text(terms, &brinks.latency, &brinks.misses);
        format!("without rotor drag: {found}\n")
    });
    format!(
        "loss at a period of {}: {found}\n{}",
        duration(terms.period_ns as i64),
        without.unwrap_or_default()
    )
}

fn brinks_text(terms: &Terms, latency: &Brink, misses: &Brink) -> String {
    let latency = match latency.lost {
        None => format!(
            "no sustained latency up to {} lost it",
            duration((terms.most_periods * terms.period_ns) as i64)
        ),
        Some(lost) => format!(
            "a sustained latency of {:.2} ms in {} s of flight",
            lost as f64 / 1e6,
            terms.flight_ns / 1_000_000_000
        ),
    };
    let misses = match misses.lost {
        None => format!(
            "no number of consecutive misses up to {} lost it",
            terms.most_misses
        ),
        Some(lost) => format!(
            "{lost} consecutive misses ({}) when a kick of {} rad/s falls just after the last \
             sample",
            duration((lost * terms.period_ns) as i64),
            terms.kick_rad_s
        ),
    };
    format!("{latency}; {misses}")
}

/// The criterion in words.
pub(crate) fn criterion_text(criterion: &FlightCriterion) -> String {
    let mut parts = Vec::new();
    match criterion.lost {
        Losses::Never => parts.push("vehicle never lost".to_owned()),
        Losses::Tolerated => parts.push("vehicle may be lost".to_owned()),
    }
    if let Some(ns) = criterion.delay_margin_ns {
        let least = duration(i64::try_from(ns).unwrap_or(i64::MAX));
        parts.push(format!("delay margin left ≥ {least}"));
    }
    if let Some(degrees) = criterion.peak_tilt_deg {
        parts.push(format!("tilt after a kick ≤ {degrees}°"));
    }
    parts.join(", ")
}
