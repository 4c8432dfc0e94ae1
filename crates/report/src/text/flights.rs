//! Flights as text: a table with the ideal flight beside the measured ones, what would lose the
//! vehicle, and the verdict. Nothing is computed here.

use super::{coloured, wrapped};
use crate::Style;
use crate::table::Table;
use wakepath_assess::{
    ControllerFile, Flights, FlownCondition, FlownConditions, Search, loss_text,
};
use wakepath_flight::Trajectory;
use wakepath_flight::replay::{FlightReport, Flown, Missed, OverrunRule, Sampling};
use wakepath_flight::search::{Brink, Terms};
use wakepath_scenario::{FlightCriterion, Losses};
use wakepath_verdict::{FlightFinding, Outcome, duration};

pub(crate) type Columns = &'static [(&'static str, &'static [&'static str])];

const SHORT: Columns = &[
    ("no command", &["in a row"]),
    ("reaction, ms", &["max"]),
    ("margins left, ms", &["delay", "jitter"]),
    ("in noise", &["tilt, °"]),
    ("kicked", &["tilt, °"]),
    ("", &["flight"]),
];

const LONG: Columns = &[
    ("no command", &["due times", "in a row"]),
    ("reaction, ms", &["median", "max"]),
    ("freshness, ms", &["median", "max"]),
    ("margins left, ms", &["delay", "if max lasted", "jitter"]),
    ("to loss", &["ms", "in a row"]),
    ("s.d. in noise", &["tilt, °", "rate, °/s"]),
    ("kicked", &["tilt, °", "back, ms", "lost"]),
    ("clipped, ms", &["noise", "tracking"]),
    ("off track, mm", &["RMSE"]),
    ("", &["flight"]),
];

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
    let table = table(&flights.flown, LONG, long_cells).render(style.columns);
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
    let table = table(flown, SHORT, short_row).render(style.columns);
    let head = wrapped(&headline(flown), style.columns);
    let flights = flown.conditions.iter().filter_map(|one| {
        let how = one.flight.as_ref().and_then(beyond_margin)?;
        Some(format!("{}: {how}\n", one.name))
    });
    let beyond = wrapped(&flights.collect::<String>(), style.columns);
    format!("{head}\n{table}{beyond}\n")
}

/// The short table as cells: heads, and of each condition its name, cells and findings. The
/// flight without latency comes first, once for all that share it.
pub(crate) fn short_cells(flown: &FlownConditions) -> (Columns, Vec<ShortRow>) {
    let mut rows: Vec<ShortRow> = Vec::new();
    let reports = flown
        .conditions
        .iter()
        .filter_map(|one| one.flight.as_ref());
    for report in reports {
        let ideal = short_row(Row::Ideal, report, &report.flights.ideal);
        if !rows.iter().any(|(_, known, _)| *known == ideal) {
            rows.push(("without latency".into(), ideal, Vec::new()));
        }
    }
    for one in &flown.conditions {
        let cells = match &one.flight {
            Some(report) => short_row(Row::Measured(one), report, &report.flights.measured),
            None => vec![String::new(); SHORT.iter().map(|(_, heads)| heads.len()).sum()],
        };
        rows.push((one.name.to_string(), cells, one.findings.clone()));
        let without = one.flight.as_ref().and_then(|report| {
            let flown = report.without_rotor_drag.as_ref()?;
            Some(short_row(Row::WithoutDrag, report, flown))
        });
        if let Some(cells) = without {
            let name = format!("{}, without rotor drag", one.name);
            rows.push((name, cells, Vec::new()));
        }
    }
    (SHORT, rows)
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

fn table(flown: &FlownConditions, columns: Columns, cells: CellsOf) -> Table {
    let mut table = Table::new(columns);
    let count: usize = columns.iter().map(|(_, heads)| heads.len()).sum();
    let ideals: Vec<Vec<String>> = flown
        .conditions
        .iter()
        .filter_map(|one| one.flight.as_ref())
        .map(|report| cells(Row::Ideal, report, &report.flights.ideal))
        .collect();
    // The same for runs of the same length, as a rule.
    let same = ideals.windows(2).all(|two| two[0] == two[1]);
    if let (true, Some(ideal)) = (same, ideals.first()) {
        table.row("without latency", ideal.clone());
    }
    let mut phase = None;
    for one in &flown.conditions {
        if phase != Some(&one.name.phase) {
            phase = Some(&one.name.phase);
            table.row(&one.name.phase, Vec::new());
        }
        let label = format!("  {}", label(one));
        let Some(report) = &one.flight else {
            let mut empty = vec![String::new(); count - 1];
            empty.push("not flown".into());
            table.row(label, empty);
            continue;
        };
        table.row(
            label,
            cells(Row::Measured(one), report, &report.flights.measured),
        );
        if let Some(without) = &report.without_rotor_drag {
            let cells = cells(Row::WithoutDrag, report, without);
            table.row("    without rotor drag", cells);
        }
        if !same {
            let ideal = cells(Row::Ideal, report, &report.flights.ideal);
            table.row("    without latency", ideal);
        }
    }
    table
}

/// Name, cells and findings of a condition.
type ShortRow = (String, Vec<String>, Vec<FlightFinding>);

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
    fn of_run(self, text: String) -> String {
        match self {
            Self::Measured(_) => text,
            Self::WithoutDrag | Self::Ideal => String::new(),
        }
    }
}

/// Cells of a flight.
type CellsOf = fn(Row<'_>, &FlightReport, &Flown) -> Vec<String>;

fn short_row(row: Row<'_>, report: &FlightReport, flown: &Flown) -> Vec<String> {
    let timing = &report.timing;
    let of_run = |text: String| row.of_run(text);
    vec![
        of_run(timing.most_consecutive_missed.to_string()),
        of_run(millis(timing.reaction.max_ns as f64)),
        delay_cell(row, report),
        of_run(margin(report.margins.jitter_ns)),
        decimal(flown.tilt_deviation_deg, 3),
        format!("{:.2}", flown.kicks.peak_tilt_deg),
        fate(row, report, flown),
    ]
}

fn long_cells(row: Row<'_>, report: &FlightReport, flown: &Flown) -> Vec<String> {
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
            .map_or(String::new(), |spread| of_run(millis(of(spread) as f64)))
    };
    vec![
        of_run(timing.missed.to_string()),
        of_run(timing.most_consecutive_missed.to_string()),
        of_run(millis(timing.reaction.median_ns as f64)),
        of_run(millis(timing.reaction.max_ns as f64)),
        fresh(|spread| spread.median_ns),
        fresh(|spread| spread.max_ns),
        delay_cell(row, report),
        of_run(margin(report.margins.delay_if_worst_lasted_ns)),
        of_run(margin(report.margins.jitter_ns)),
        distance.map_or(String::new(), |one| margin(one.latency_ns)),
        distance.map_or(String::new(), |one| {
            one.misses.map_or("–".into(), |misses| misses.to_string())
        }),
        decimal(flown.tilt_deviation_deg, 3),
        decimal(flown.rate_deviation_deg_s, 2),
        format!("{:.2}", flown.kicks.peak_tilt_deg),
        millis_whole(flown.kicks.slowest_recovery_ns),
        flown.kicks.lost.to_string(),
        millis_whole(flown.saturated_in_noise_ns),
        millis_whole(flown.saturated_tracking_ns),
        decimal(flown.tracking_rmse_m.map(|metres| metres * 1e3), 2),
        fate(row, report, flown),
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

fn decimal(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".into(), |value| format!("{value:.digits$}"))
}

fn label(condition: &FlownCondition) -> String {
    let policy = condition.name.policy.map(|policy| policy.to_string());
    let parts: Vec<String> = policy
        .into_iter()
        .chain(condition.name.task.clone())
        .collect();
    match parts.is_empty() {
        true => "task set".into(),
        false => parts.join(", "),
    }
}

/// What did not go well, one line.
fn lines(condition: &FlownCondition, style: Style) -> String {
    let against: Vec<String> = condition
        .findings
        .iter()
        .filter(|finding| finding.bearing() != Outcome::Passed)
        .map(ToString::to_string)
        .collect();
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
