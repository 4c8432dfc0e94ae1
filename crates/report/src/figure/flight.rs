//! What the measured timing leaves of the flight: the delay that the controller still bears, for
//! each condition, and the tilt after a kick.

use super::plot::Plot;
use super::scale::Linear;
use super::{Figure, distinct};
use crate::label;
use wakepath_assess::{Assessment, FlownCondition};
use wakepath_flight::replay::FlightReport;

const ROW: f64 = 20.0;

pub(super) fn draw(assessment: &Assessment) -> Vec<Figure> {
    let Some(flights) = &assessment.flights else {
        return Vec::new();
    };
    let flown: Vec<(&FlownCondition, &FlightReport)> = flights
        .conditions
        .iter()
        .filter_map(|one| Some((one, one.flight.as_ref()?)))
        .collect();
    let delay_limit = flights
        .criterion
        .and_then(|criterion| criterion.delay_margin_ns);
    let tilt_limit = flights
        .criterion
        .and_then(|criterion| criterion.peak_tilt_deg);
    let delay = bars(
        &flown,
        Bars {
            name: "flight-delay-margin",
            title: "Delay margin left in flight",
            axis: "Remaining delay margin, ms",
            unit: " ms",
            caption: "How much constant delay beyond the measured one turns the controller \
                      unstable. More is better; 0 means that it is unstable already.",
            limit: delay_limit.map(|ns| (ns as f64 / 1e6, "at least")),
        },
        |report| report.margins.delay_ns.map(|ns| ns as f64 / 1e6),
    );
    let tilt = bars(
        &flown,
        Bars {
            name: "flight-tilt",
            title: "Tilt after a kick",
            axis: "Largest tilt, degrees",
            unit: "°",
            caption: "Largest tilt after kicks placed within the worst bursts of the measured \
                      timing. Less is better.",
            limit: tilt_limit.map(|degrees| (degrees, "at most")),
        },
        |report| Some(report.flights.measured.kicks.peak_tilt_deg),
    );
    delay.into_iter().chain(tilt).collect()
}

struct Bars {
    name: &'static str,
    title: &'static str,
    axis: &'static str,
    unit: &'static str,
    caption: &'static str,
    /// The criterion, and which side of it is meant.
    limit: Option<(f64, &'static str)>,
}

fn bars(
    flown: &[(&FlownCondition, &FlightReport)],
    words: Bars,
    value: impl Fn(&FlightReport) -> Option<f64>,
) -> Option<Figure> {
    let values: Vec<_> = flown
        .iter()
        .map(|(one, report)| (*one, value(report)))
        .collect();
    let most = values
        .iter()
        .filter_map(|(_, value)| *value)
        .fold(0.0, f64::max);
    let most = most.max(words.limit.map_or(0.0, |(limit, _)| limit)) * 1.05;
    if most <= 0.0 || !most.is_finite() {
        return None;
    }
    let whole = |one: &FlownCondition| one.name.to_string();
    let policies = distinct(values.iter().map(|(one, _)| label::policy(&one.name)));
    let named: Vec<_> = values
        .iter()
        .map(|(one, _)| (label::policy(&one.name), one.name.phase.clone()))
        .collect();
    let (mut plot, edges) = Plot::grouped(&named, ROW, 64.0);
    let axis = Linear {
        most,
        from: plot.left,
        to: plot.right,
    };
    plot.numbers_below(axis, "", words.axis);
    let mut told = Vec::new();
    for ((one, value), top) in values.iter().zip(edges) {
        let policy = label::policy(&one.name);
        let colour = policies.iter().position(|known| *known == policy);
        let text = value.map_or("none".into(), |value| format!("{value:.2}{}", words.unit));
        plot.group(colour.unwrap_or(0), &[]);
        let end = axis.at(value.unwrap_or(0.0));
        let size = [plot.left, top + 3.0, end - plot.left, ROW - 6.0];
        plot.rect("body", size, &format!("{}: {text}", whole(one)));
        plot.ungroup();
        plot.text("mark", end + 5.0, top + ROW * 0.7, &text);
        told.push(format!("{}: {text}", whole(one)));
    }
    if let Some((limit, side)) = words.limit {
        let text = format!("{side} {limit}{}", words.unit);
        plot.limit_upright(axis.at(limit), &text);
    }
    Some(plot.done(
        words.name,
        words.title,
        words.caption,
        format!("{}. {}.", words.title, told.join("; ")),
    ))
}
