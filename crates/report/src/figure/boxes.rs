//! Box plots, a row for each policy and phase: latency, response, execution.

use super::plot::{Plot, slug};
use super::scale::Log;
use super::{Drawn, Figure, MeasureName};
use wakepath_assess::Shape;
use wakepath_statistics::{Quantile, QuantileValue, quantile_rank_interval};
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::{count, duration};

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
        .filter_map(|one| Some((one, measure.chosen(one.picture).shape.as_ref()?)))
        .collect();
    let limit = rows.iter().find_map(|(one, _)| measure.limit(one.picture));
    let ends = rows.iter().flat_map(|(_, shape)| [shape.min, shape.max]);
    let axis = Log::around(ends.chain(limit));
    // Policy by policy, its phases below each other.
    let mut rows = rows.clone();
    rows.sort_by_cached_key(|(one, _)| one.colour);
    rows.first()?;
    let label = |one: &Drawn<'_>| format!("{}, {}", one.policy(), one.phase());
    let named: Vec<_> = rows.iter().map(|(one, _)| one.row()).collect();
    let (mut plot, edges) = Plot::grouped(&named, ROW, 64.0);
    let axis = axis.between(plot.left, plot.right);
    // Largest values compare only over equal counts.
    let counts = rows.iter().map(|(_, shape)| shape.count);
    let (fewest, most) = counts.fold((u64::MAX, 0), |(low, high), of| (low.min(of), high.max(of)));
    let of = if fewest == most {
        format!("{} values each", count(most))
    } else {
        format!("{} to {} values each", count(fewest), count(most))
    };
    plot.times_below(axis, &format!("{}, {of}", measure.title()));
    // Below the figures next to the dots, which it may cross.
    if let Some(limit) = limit {
        plot.limit_upright(axis.at_ns(limit), &format!("criterion {}", duration(limit)));
    }
    let mut told = Vec::new();
    for ((one, shape), top) in rows.iter().zip(edges) {
        let middle = top + ROW / 2.0;
        plot.plain(&[("data-condition", one.condition.to_string())]);
        draw_box(&mut plot, axis, middle, shape, limit);
        plot.ungroup();
        let largest = three_digits(shape.max);
        plot.text(
            "mark clear",
            axis.at_ns(shape.max) + 6.0,
            middle + 4.0,
            &largest,
        );
        told.push(format!(
            "{}: median {}, largest {}",
            label(one),
            known(shape.quantiles[1]),
            three_digits(shape.max)
        ));
    }
    let name = measure.title();
    Some(plot.done(
        format!("boxes-{}", slug(measure.key())),
        format!("{name} by {}", rows_of(drawn)),
        "The box holds the middle half of the values (25 to 75 %), the thick line is the median, \
         the whiskers reach from the smallest to the 99th percentile, the short line is the 99.9th \
         percentile, the dot the largest value observed, red if it is above the limit. The pale \
         bands are 95 % intervals of both percentiles for independent values; a band that ends at \
         the dot has no upper end. Percentiles that the sample is too small for are left out. \
         Compare largest values only over equal counts.",
        format!("Box plots of {}. {}.", name.to_lowercase(), told.join("; ")),
    ))
}

/// Meaning of the rows: those without a policy are threads of a watched program.
fn rows_of(drawn: &[Drawn<'_>]) -> &'static str {
    if drawn.iter().all(|one| one.picture.name.policy.is_none()) {
        "thread"
    } else {
        "policy and phase"
    }
}

fn draw_box(plot: &mut Plot, axis: Log, middle: f64, shape: &Shape, limit: Option<i64>) {
    let [p25, p50, p75, p99, p999] = shape.quantiles;
    let x = |value| axis.at_ns(value);
    let half = ROW * 0.3;
    let shown = |quantile: QuantileValue| match quantile.value {
        Some(value) if !quantile.is_maximum => three_digits(value),
        _ => "–".to_owned(),
    };
    let hint = format!(
        "{} values: smallest {}, 25 % {}, median {}, 75 % {}, 99 % {}, 99.9 % {}, largest {}",
        shape.count,
        three_digits(shape.min),
        known(p25),
        known(p50),
        known(p75),
        shown(p99),
        shown(p999),
        three_digits(shape.max),
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
    for (wanted, of) in [(Quantile::P99, p99), (Quantile::P999, p999)] {
        if of.value.is_some() && !of.is_maximum {
            let [low, high] = interval(shape, wanted);
            let width = (x(high) - x(low)).max(1.0);
            plot.rect(
                "interval",
                [x(low), middle - half, width, 2.0 * half],
                &hint,
            );
        }
    }
    end(plot, shape.min);
    // If values were counted and not kept, a percentile can be unknown: no box then.
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
    let dot = if limit.is_some_and(|limit| shape.max > limit) {
        "violation"
    } else {
        "solid"
    };
    plot.dot(dot, x(shape.max), middle, 3.2, &hint);
}

/// The 95 % interval of a percentile. The points of the tail are fewer than the values: each end is the next
/// point outwards, and the largest value if no rank is high enough.
fn interval(shape: &Shape, wanted: Quantile) -> [i64; 2] {
    let ranks = quantile_rank_interval(shape.count, wanted, 0.95);
    // Rank r has this many values at or above it.
    let from_above = |rank: u64| shape.count + 1 - rank;
    let low = ranks.lower.and_then(|rank| {
        let mut points = shape.tail.iter();
        points.find(|point| point.at_least >= from_above(rank))
    });
    let high = ranks.upper.and_then(|rank| {
        let mut points = shape.tail.iter().rev();
        points.find(|point| point.at_least <= from_above(rank))
    });
    [
        low.map_or(shape.min, |point| point.value),
        high.map_or(shape.max, |point| point.value),
    ]
}

/// A percentile that can be the maximum.
pub(super) fn known(quantile: QuantileValue) -> String {
    quantile.value.map_or_else(|| "–".to_owned(), duration)
}
