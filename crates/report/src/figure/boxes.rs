//! Box plots, a row for each policy and phase: latency, response, execution.

use super::plot::{Plot, slug};
use super::scale::Log;
use super::{Drawn, Figure, MeasureName};
use wakepath_assess::Shape;
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
            duration(shape.quantiles[1].value),
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
    let whisker_end = if p99.is_maximum { p75 } else { p99 };
    plot.line("whisker", [x(shape.min), middle, x(p25.value), middle]);
    plot.line(
        "whisker",
        [x(p75.value), middle, x(whisker_end.value), middle],
    );
    for end in [shape.min, whisker_end.value] {
        plot.line(
            "whisker",
            [x(end), middle - half * 0.6, x(end), middle + half * 0.6],
        );
    }
    let shown = |quantile: wakepath_statistics::QuantileValue| match quantile.is_maximum {
        true => "–".to_owned(),
        false => duration(quantile.value),
    };
    let hint = format!(
        "{} values: smallest {}, 25 % {}, median {}, 75 % {}, 99 % {}, 99.9 % {}, largest {}",
        shape.count,
        duration(shape.min),
        duration(p25.value),
        duration(p50.value),
        duration(p75.value),
        shown(p99),
        shown(p999),
        duration(shape.max),
    );
    let width = (x(p75.value) - x(p25.value)).max(1.5);
    plot.rect(
        "body",
        [x(p25.value), middle - half, width, 2.0 * half],
        &hint,
    );
    plot.line(
        "median",
        [x(p50.value), middle - half, x(p50.value), middle + half],
    );
    if !p999.is_maximum {
        let x = x(p999.value);
        plot.line("whisker", [x, middle - half * 0.5, x, middle + half * 0.5]);
    }
    plot.dot("solid", x(shape.max), middle, 3.2, &hint);
}
