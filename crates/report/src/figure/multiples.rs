//! Histograms as small multiples: a panel for each policy, below each other on one axis of time, in
//! shares on a log axis, so that runs of unequal length compare and a single late cycle is seen.

use super::Figure;
use super::distributions::{Line, MeasureName, alternative, share_mark};
use super::plot::{NARROW, Plot, place, slug};
use super::scale::Log;
use std::fmt::Write;
use wakepath_assess::HistogramBin;
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::{count, duration};

/// Height of a panel's name, of its bars, and of the room below it.
const NAME: f64 = 16.0;
const PANEL: f64 = 38.0;
const GAP: f64 = 4.0;

/// A panel for each line; `most` is the largest count of all that share the axis of shares.
pub(super) fn histogram(
    measure: MeasureName,
    phase: &str,
    lines: &[Line<'_>],
    times: Log,
    limit: Option<i64>,
    most: u64,
) -> Figure {
    let height = 24.0 + lines.len() as f64 * (NAME + PANEL + GAP) + 44.0;
    let mut plot = Plot::new(NARROW, height, 46.0, 12.0);
    let times = times.between(plot.left, plot.right);
    plot.times_below(times, measure.title());
    measure.note(&mut plot, phase, times);
    if let Some(limit) = limit {
        let text = format!("{} {}", measure.limit_word(), duration(limit));
        plot.limit_name(times.at_ns(limit), &text);
    }
    let shares = Log {
        low: -((most.max(2) as f64).log10().ceil() as i32),
        high: 0,
        from: 0.0,
        to: 1.0,
    };
    for (row, line) in lines.iter().enumerate() {
        let top = plot.top + row as f64 * (NAME + PANEL + GAP) + NAME;
        // Above the ground, so that a bin with one value in it is seen.
        let shares = shares.between(top + PANEL - 3.0, top);
        plot.line("grid", [plot.left, top, plot.right, top]);
        plot.line("axis", [plot.left, top + PANEL, plot.right, top + PANEL]);
        // Next to the bars only: names and figures are above them.
        if let Some(limit) = limit {
            let x = times.at_ns(limit);
            plot.line("limit", [x, top, x, top + PANEL]);
        }
        for power in [shares.high, shares.low] {
            let y = shares.at(10_f64.powi(power)) + 4.0;
            plot.text("mark end", plot.left - 5.0, y, &share_mark(power));
        }
        let key = [
            ("data-key", line.condition.to_string()),
            ("data-label", line.name.clone()),
        ];
        plot.plain(&key);
        plot.text("strong", plot.left, top - 4.0, &line.name);
        let is_beyond = |bin: &HistogramBin| limit.is_some_and(|limit| bin.from > limit);
        let within = steps(line, times, shares, top + PANEL, |bin| !is_beyond(bin));
        let beyond = steps(line, times, shares, top + PANEL, is_beyond);
        for (class, path) in [("body", within), ("body over", beyond)] {
            if !path.is_empty() {
                plot.body.open("path", &[("class", &class), ("d", &path)]);
                plot.hint(&line.name);
                plot.body.close("path");
            }
        }
        plot.ungroup();
        let largest = format!(
            "largest of {}: {}",
            count(line.shape.count),
            three_digits(line.shape.max)
        );
        plot.text("mark end", plot.right, top - 4.0, &largest);
    }
    let title = format!("{}: histogram, {phase}", measure.title());
    plot.done(
        format!("histogram-{}-{}", measure.key(), slug(phase)),
        title.clone(),
        "The share of values in each twentieth of a decade, on a log axis, so that a single late cycle \
         is visible; red is beyond the limit.",
        alternative(&title, lines),
    )
}

/// Up at the beginning of a bin, down at its end, on the ground between bins.
fn steps(
    line: &Line<'_>,
    times: Log,
    shares: Log,
    ground: f64,
    is_drawn: impl Fn(&HistogramBin) -> bool,
) -> String {
    let shape = line.shape;
    let mut path = String::new();
    let mut end: Option<i64> = None;
    for bin in shape.bins.iter().filter(|bin| is_drawn(bin)) {
        let (from, below) = (place(times.at_ns(bin.from)), place(times.at_ns(bin.below)));
        if end != Some(bin.from) {
            let close = if end.is_some() {
                format!("V{ground}")
            } else {
                String::new()
            };
            // Writing to a String can't fail.
            let _ = write!(path, "{close}M{from},{ground}");
        }
        let y = place(shares.at(bin.count as f64 / shape.count as f64));
        let _ = write!(path, "V{y}H{below}");
        end = Some(bin.below);
    }
    if end.is_some() {
        let _ = write!(path, "V{ground}");
    }
    path
}
