//! The average latency with its 99 % interval, for each policy and phase.

use super::plot::Plot;
use super::scale::Log;
use super::{Drawn, Figure};
use wakepath_statistics::MeanInterval;
use wakepath_timeline::duration::three_digits;

const ROW: f64 = 22.0;
/// Neighbouring batches that correlate more than this make the interval too narrow.
const CORRELATED: f64 = 0.3;

pub(super) fn draw(drawn: &[Drawn<'_>]) -> Option<Figure> {
    let mut rows: Vec<(&Drawn<'_>, MeanInterval)> = drawn
        .iter()
        .filter_map(|one| {
            one.picture.latency.shape.as_ref()?;
            Some((one, one.picture.mean?))
        })
        .collect();
    rows.sort_by_cached_key(|(one, ..)| one.colour);
    rows.first()?;
    let label = |one: &Drawn<'_>| format!("{}, {}", one.policy(), one.phase());
    let named: Vec<_> = rows.iter().map(|(one, ..)| one.row()).collect();
    let (mut plot, edges) = Plot::grouped(&named, ROW, 64.0);
    let ends = rows.iter().flat_map(|(one, mean)| {
        // An interval can reach below all values, and below 0; the axis need not.
        let (low, high) = ends_of(mean);
        [least(one).max(low as i64), high as i64]
    });
    let axis = Log::around(ends).between(plot.left, plot.right);
    plot.times_below(axis, "Wake-up latency: average with 99 % interval");
    let (mut told, mut narrow) = (Vec::new(), 0);
    for ((one, mean), top) in rows.iter().zip(edges) {
        let middle = top + ROW / 2.0;
        let (low, high) = ends_of(mean);
        plot.plain(&[("data-condition", one.condition.to_string())]);
        let interval = format!(
            "average {}, 99 % interval {} to {}",
            three_digits(mean.mean.round() as i64),
            // Student's interval may reach below what a latency can be.
            three_digits(low.max(least(one).min(0) as f64).round() as i64),
            three_digits(high.round() as i64)
        );
        let (from, width) = (axis.at(low), (axis.at(high) - axis.at(low)).max(1.0));
        plot.rect("body", [from, middle - 5.0, width, 10.0], &interval);
        plot.dot("solid", axis.at(mean.mean), middle, 3.4, &interval);
        plot.ungroup();
        let mean_text = three_digits(mean.mean.round() as i64);
        plot.text("mark", axis.at(high) + 6.0, middle + 4.0, &mean_text);
        told.push(format!("{}: {interval}", label(one)));
        narrow += u32::from(mean.batch_correlation.abs() > CORRELATED);
    }
    let mut caption = "The dot is the average over all due times, the box its 99 % interval from \
                       the means of 20 batches."
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
        "Average latency with its interval",
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
