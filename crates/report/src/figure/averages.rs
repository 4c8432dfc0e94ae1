//! The average latency with its 99 % interval, and the largest, for each policy and phase.

use super::plot::Plot;
use super::scale::Log;
use super::{Drawn, Figure};
use wakepath_statistics::MeanInterval;
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::duration;

const ROW: f64 = 22.0;
/// Neighbouring batches that correlate more than this make the interval too narrow.
const CORRELATED: f64 = 0.3;

pub(super) fn draw(drawn: &[Drawn<'_>]) -> Option<Figure> {
    let mut rows: Vec<(&Drawn<'_>, MeanInterval, i64)> = drawn
        .iter()
        .filter_map(|one| {
            let shape = one.picture.latency.shape.as_ref()?;
            Some((one, one.picture.mean?, shape.max))
        })
        .collect();
    rows.sort_by_key(|(one, ..)| one.colour);
    rows.first()?;
    let label = |one: &Drawn<'_>| format!("{}, {}", one.policy(), one.phase());
    let named: Vec<_> = rows.iter().map(|(one, ..)| one.row()).collect();
    let (mut plot, edges) = Plot::grouped(&named, ROW, 64.0);
    let ends = rows.iter().flat_map(|(one, mean, max)| {
        // An interval may reach below all values, and below 0; the axis need not.
        let shape = one.picture.latency.shape.as_ref();
        let least = shape.map_or(*max, |shape| shape.min);
        [least.max(ends_of(mean).0 as i64), *max]
    });
    let axis = Log::around(ends).between(plot.left, plot.right);
    plot.times_below(axis, "Wake-up latency: average (99 % interval), largest");
    let (mut told, mut narrow) = (Vec::new(), 0);
    for ((one, mean, max), top) in rows.iter().zip(edges) {
        let middle = top + ROW / 2.0;
        let (low, high) = ends_of(mean);
        plot.group(one.colour, &[("data-condition", one.condition.to_string())]);
        plot.line("whisker", [axis.at(high), middle, axis.at_ns(*max), middle]);
        let interval = format!(
            "average {}, 99 % interval {} to {}, largest {}",
            duration(mean.mean.round() as i64),
            // Student's interval may reach below what a latency can be.
            duration(low.max(least(one).min(0) as f64).round() as i64),
            duration(high.round() as i64),
            duration(*max)
        );
        let (from, width) = (axis.at(low), (axis.at(high) - axis.at(low)).max(1.0));
        plot.rect("body", [from, middle - 5.0, width, 10.0], &interval);
        plot.dot("solid", axis.at(mean.mean), middle, 3.4, &interval);
        let max_x = axis.at_ns(*max);
        plot.line("median", [max_x, middle - 6.0, max_x, middle + 6.0]);
        plot.ungroup();
        plot.text("mark", max_x + 6.0, middle + 4.0, &three_digits(*max));
        told.push(format!("{}: {interval}", label(one)));
        narrow += u32::from(mean.batch_correlation.abs() > CORRELATED);
    }
    let mut caption = "The dot is the average over all due times, the box its 99 % interval from \
                       the means of 20 batches, the upright line the largest observed."
        .to_owned();
    if narrow > 0 {
        caption += &format!(
            " In {narrow} of {} conditions neighbouring batches correlate by more than \
             {CORRELATED}: there the interval is too narrow.",
            rows.len()
        );
    }
    Some(plot.done(
        "averages-latency",
        "Average latency with its interval, and the largest",
        caption,
        format!("Average latency. {}.", told.join("; ")),
    ))
}

fn ends_of(mean: &MeanInterval) -> (f64, f64) {
    (mean.mean - mean.half_width, mean.mean + mean.half_width)
}

/// The least value of a condition.
fn least(one: &Drawn<'_>) -> i64 {
    let shape = one.picture.latency.shape.as_ref();
    shape.map_or(0, |shape| shape.min)
}
