//! Box plots, a row for each policy and phase: latency, response, execution.

use super::plot::{Plot, slug};
use super::scale::Log;
use super::{Drawn, Figure, MeasureName};
use wakepath_assess::Shape;
use wakepath_statistics::QuantileValue;
use wakepath_verdict::duration;

const ROW: f64 = 22.0;

pub(super) fn draw(drawn: &[Drawn<'_>]) -> Vec<Figure> {
    MeasureName::ALL
        .into_iter()
        .filter_map(|measure| boxes(measure, drawn))
        .collect()
}

fn boxes(measure: MeasureName, drawn: &[Drawn<'_>]) -> Option<Figure> {
    let rows: Vec<(&Drawn<'_>, &Shape)> = drawn
        .iter()
        .filter_map(|one| Some((one, measure.of(one.picture).shape.as_ref()?)))
        .collect();
    let limit = rows.iter().find_map(|(one, _)| measure.limit(one.picture));
    let ends = rows.iter().flat_map(|(_, shape)| [shape.min, shape.max]);
    let axis = Log::around(ends.chain(limit));
    // Policy by policy, its phases below each other.
    let mut rows = rows.clone();
    rows.sort_by_key(|(one, _)| one.colour);
    rows.first()?;
    let label = |one: &Drawn<'_>| format!("{}, {}", one.policy(), one.phase());
    let named: Vec<_> = rows.iter().map(|(one, _)| one.row()).collect();
    let (mut plot, edges) = Plot::grouped(&named, ROW, 12.0);
    let axis = axis.between(plot.left, plot.right);
    plot.times_below(axis, measure.title());
    let mut told = Vec::new();
    for ((one, shape), top) in rows.iter().zip(edges) {
        let middle = top + ROW / 2.0;
        plot.group(one.colour, &[("data-condition", one.condition.to_string())]);
        draw_box(&mut plot, axis, middle, shape);
        plot.ungroup();
        told.push(format!(
            "{}: median {}, largest {}",
            label(one),
            known(shape.quantiles[1]),
            duration(shape.max)
        ));
    }
    if let Some(limit) = limit {
        plot.limit_upright(axis.at_ns(limit), &format!("criterion {}", duration(limit)));
    }
    let name = measure.title();
    Some(plot.done(
        format!("boxes-{}", slug(measure.key())),
        format!("{name} by policy and phase"),
        "The box holds the middle half of the values (25 to 75 %), the thick line is the median, \
         the whiskers reach from the smallest to the 99 % quantile, the short line is the 99.9 % \
         quantile, the dot the largest value observed. Quantiles that the sample is too small \
         for are left out.",
        format!("Box plots of {}. {}.", name.to_lowercase(), told.join("; ")),
    ))
}

fn draw_box(plot: &mut Plot, axis: Log, middle: f64, shape: &Shape) {
    let [p25, p50, p75, p99, p999] = shape.quantiles;
    let x = |value| axis.at_ns(value);
    let half = ROW * 0.3;
    let shown = |quantile: QuantileValue| match quantile.value {
        Some(value) if !quantile.is_maximum => duration(value),
        _ => "–".to_owned(),
    };
    let hint = format!(
        "{} values: smallest {}, 25 % {}, median {}, 75 % {}, 99 % {}, 99.9 % {}, largest {}",
        shape.count,
        duration(shape.min),
        known(p25),
        known(p50),
        known(p75),
        shown(p99),
        shown(p999),
        duration(shape.max),
    );
    let whisker = |plot: &mut Plot, from, to| {
        plot.line("whisker", [x(from), middle, x(to), middle]);
    };
    let end = |plot: &mut Plot, at| {
        plot.line(
            "whisker",
            [x(at), middle - half * 0.6, x(at), middle + half * 0.6],
        );
    };
    end(plot, shape.min);
    // Of values that were counted and not kept, a quantile may be unknown: no box then.
    match (p25.value, p75.value) {
        (Some(p25), Some(p75)) => {
            let p99 = p99.value.filter(|_| !p99.is_maximum).unwrap_or(p75);
            whisker(plot, shape.min, p25);
            whisker(plot, p75, p99);
            end(plot, p99);
            let width = (x(p75) - x(p25)).max(1.5);
            plot.rect("body", [x(p25), middle - half, width, 2.0 * half], &hint);
        }
        _ => whisker(plot, shape.min, shape.max),
    }
    if let Some(p50) = p50.value {
        plot.line("median", [x(p50), middle - half, x(p50), middle + half]);
    }
    if let Some(p999) = p999.value.filter(|_| !p999.is_maximum) {
        let x = x(p999);
        plot.line("whisker", [x, middle - half * 0.5, x, middle + half * 0.5]);
    }
    plot.dot("solid", x(shape.max), middle, 3.2, &hint);
}

/// A quantile that may be the maximum.
pub(super) fn known(quantile: QuantileValue) -> String {
    quantile.value.map_or_else(|| "–".to_owned(), duration)
}
