//! Flights as text: a table with the ideal flight next to the measured ones, what would lose the
//! vehicle, and the verdict. Nothing is computed here.

mod brinks;
mod fate;
mod headline;
mod table;

pub(crate) use fate::fate_of;
pub(crate) use headline::headline;
pub(crate) use table::flights_table;

use super::worst_of_each::{keep, rest, worst_of_each};
use super::{coloured, wrapped};
use crate::Style;
use wakepath_archive::command_about;
use wakepath_assess::{ControllerFile, Flights, FlownConditions, loss_text};
use wakepath_scenario::{FlightCriterion, Losses};
use wakepath_verdict::{Outcome, duration};

/// Conditions whose faults the short answer reports.
const FAULTS: usize = 3;

/// The answer within a screen: if there are many conditions, the worst of each policy. `run` is the run's name in a
/// command.
pub fn in_short(flights: &Flights, style: Style, run: &str) -> String {
    let all = command_about("fly", run, "--all");
    let shown = worst_of_each(
        &flights.flown.conditions,
        |one| (one.name.policy, one.name.task.clone()),
        fate::badness,
    );
    let mut flown = flights.flown.clone();
    keep(&mut flown.conditions, &shown);
    let table = table::shortest(&flown).to_terminal(style.columns);
    let faults = flown.conditions.iter().map(|one| fate::line(one, style));
    let faults: Vec<String> = faults.filter(|line| !line.is_empty()).collect();
    let mut text = rest(&shown, &all);
    text.extend(faults.iter().take(FAULTS).map(String::as_str));
    if faults.len() > FAULTS {
        text += &format!("the other faults, and every figure: {all}\n");
    }
    text.extend(flown.searches.first().map(brinks::search_text));
    text += &match (flights.outcome, &flown.criterion) {
        (Some(outcome), Some(criterion)) => format!(
            "flight: {}\ncriterion: {}\n",
            style.bold(&outcome.to_string().to_uppercase()),
            criterion_text(criterion)
        ),
        _ => NO_CRITERION.to_owned(),
    };
    text += &format!("recording: {}\n", flights.run.directory);
    let wrapped = |prose: &str| wrapped(prose, style.columns);
    format!(
        "{}\n{table}\n{}",
        wrapped(&headline(&flown)),
        wrapped(&text)
    )
}

const NO_CRITERION: &str = "no criterion: the run's scenario has no [flight]\n";

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
    let table = table::long(&flights.flown).to_terminal(style.columns);
    let mut text = String::new();
    let flown = flights.flown.conditions.iter();
    let ideals = flown.filter_map(|one| Some(&one.flight.as_ref()?.flights.ideal));
    if let Some(how) = ideals.filter_map(loss_text).next() {
        let whose = "the vehicle or its gains lose it, whatever the timing";
        text += &format!("without latency: lost too: {how}; {whose}\n");
    }
    for condition in &flights.flown.conditions {
        text += &fate::line(condition, style);
    }
    for search in &flights.flown.searches {
        text += &brinks::search_text(search);
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
        return NO_CRITERION.into();
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

/// The lines shown at the end of a measurement.
pub(super) fn to_short_text(flown: &FlownConditions, style: Style) -> String {
    let table = table::short(flown).to_terminal(style.columns);
    let head = wrapped(&headline(flown), style.columns);
    let flights = flown.conditions.iter().filter_map(|one| {
        let how = one.flight.as_ref().and_then(fate::beyond_margin)?;
        Some(format!("{}: {how}\n", one.name))
    });
    let beyond = wrapped(&flights.collect::<String>(), style.columns);
    format!("{head}\n{table}{beyond}\n")
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
