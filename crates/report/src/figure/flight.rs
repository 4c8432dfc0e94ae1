//! Margins that the measured timing leaves the flight, for each condition: the remaining delay margin,
//! and the tilt after a kick. Values that are alike are a sentence, not a row of equal bars.

use super::Figure;
use super::plot::Plot;
use super::scale::Linear;
use crate::label;
use wakepath_assess::{Assessment, FlownCondition};
use wakepath_flight::replay::FlightReport;
use wakepath_timeline::count::all_of;

const ROW: f64 = 20.0;

/// Bars of values that differ by less than this share of the largest look the same.
const ALIKE: f64 = 0.02;

/// The figures, and sentences in place of those with equal bars.
pub(super) fn draw(assessment: &Assessment) -> (Vec<Figure>, Vec<String>) {
    let Some(flights) = &assessment.flights else {
        return Default::default();
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
    let (mut figures, mut sentences) = (Vec::new(), Vec::new());
    for found in [delay, tilt].into_iter().flatten() {
        match found {
            Found::Bars(figure) => figures.push(figure),
            Found::Alike(sentence) => sentences.push(sentence),
        }
    }
    (figures, sentences)
}

/// A quantity of all conditions.
enum Found {
    Bars(Figure),
    Alike(String),
}

/// `Delay margin left in flight: 12.10 to 12.13 ms in all 16 conditions.`, if all values are known and alike.
fn alike(words: &Bars, values: impl Iterator<Item = Option<f64>>) -> Option<String> {
    let known: Option<Vec<f64>> = values.collect();
    let known = known.filter(|known| known.len() > 1)?;
    let least = known.iter().copied().fold(f64::INFINITY, f64::min);
    let most = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most - least > ALIKE * most.abs() {
        return None;
    }
    let [from, to] = [least, most].map(|value| format!("{value:.2}"));
    let range = if from == to {
        from
    } else {
        format!("{from} to {to}")
    };
    let limit = words.limit.map_or(String::new(), |(limit, side)| {
        format!(" (criterion: {side} {limit}{})", words.unit)
    });
    Some(format!(
        "{}: {range}{} in {}{limit}. {}",
        words.title,
        words.unit,
        all_of(known.len() as u64, "condition", "conditions"),
        words.caption
    ))
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
) -> Option<Found> {
    let values: Vec<_> = flown
        .iter()
        .map(|(one, report)| (*one, value(report)))
        .collect();
    if let Some(sentence) = alike(&words, values.iter().map(|(_, value)| *value)) {
        return Some(Found::Alike(sentence));
    }
    let most = values
        .iter()
        .filter_map(|(_, value)| *value)
        .fold(0.0, f64::max);
    let most = most.max(words.limit.map_or(0.0, |(limit, _)| limit)) * 1.05;
    if most <= 0.0 || !most.is_finite() {
        return None;
    }
    let whole = |one: &FlownCondition| one.name.to_string();
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
    // Below the figures at the bars' ends, which it may cross.
    if let Some((limit, side)) = words.limit {
        let text = format!("{side} {limit}{}", words.unit);
        plot.limit_upright(axis.at(limit), &text);
    }
    let mut told = Vec::new();
    for ((one, value), top) in values.iter().zip(edges) {
        let text = value.map_or("none".into(), |value| format!("{value:.2}{}", words.unit));
        plot.plain(&[]);
        let end = axis.at(value.unwrap_or(0.0));
        let size = [plot.left, top + 3.0, end - plot.left, ROW - 6.0];
        plot.rect("body", size, &format!("{}: {text}", whole(one)));
        plot.ungroup();
        plot.text("mark clear", end + 5.0, top + ROW * 0.7, &text);
        told.push(format!("{}: {text}", whole(one)));
    }
    Some(Found::Bars(plot.done(
        words.name,
        words.title,
        words.caption,
        format!("{}. {}.", words.title, told.join("; ")),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_equal_bars_are_a_sentence_and_unequal_ones_are_drawn() {
        let words = Bars {
            name: "flight-delay-margin",
            title: "Delay margin left in flight",
            axis: "",
            unit: " ms",
            caption: "More is better.",
            limit: Some((5.0, "at least")),
        };
        let of = |values: Vec<Option<f64>>| alike(&words, values.into_iter());
        assert_eq!(
            of(vec![Some(12.1); 16]).unwrap(),
            "Delay margin left in flight: 12.10 ms in all 16 conditions (criterion: at least 5 ms). More \
             is better."
        );
        let near = of(vec![Some(12.1), Some(12.2)]).unwrap();
        assert!(
            near.contains("12.10 to 12.20 ms in both conditions"),
            "{near}"
        );
        assert_eq!(of(vec![Some(12.1), Some(9.0)]), None);
        // An unknown margin is no equal one, and one alone is a bar.
        assert_eq!(of(vec![Some(12.1), None]), None);
        assert_eq!(of(vec![Some(12.1)]), None);
    }
}
