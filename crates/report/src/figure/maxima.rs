//! The largest latency of each policy in each phase as bars with the criterion's line: before and
//! after, idle and loaded.

use super::plot::Plot;
use super::scale::Log;
use super::{Drawn, Figure, distinct};
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::{count, duration};

const BAR: f64 = 17.0;

pub(super) fn draw(drawn: &[Drawn<'_>]) -> Option<Figure> {
    let bars: Vec<(&Drawn<'_>, i64, u64)> = drawn
        .iter()
        .filter_map(|one| {
            let shape = one.picture.latency.shape.as_ref()?;
            Some((one, shape.max, shape.count))
        })
        .collect();
    let limit = drawn
        .iter()
        .find_map(|one| i64::try_from(one.picture.latency_limit_ns?).ok());
    bars.first()?;
    let phases = distinct(bars.iter().map(|(one, ..)| one.phase().to_owned()));
    let mut bars = bars;
    // Policy by policy, its phases below each other.
    bars.sort_by_key(|(one, ..)| one.colour);
    let named: Vec<_> = bars.iter().map(|(one, ..)| one.row()).collect();
    let counts = distinct(bars.iter().map(|(_, _, count)| *count));
    let (mut plot, edges) = Plot::grouped(&named, BAR, 78.0);
    let axis = Log::around(bars.iter().map(|(_, max, _)| *max).chain(limit));
    // A bar on a log axis has no natural beginning; a decade below the shortest leaves it a body.
    let axis = Log {
        low: axis.low - 1,
        ..axis
    };
    let axis = axis.between(plot.left, plot.right);
    // A longer run finds larger ones: how many each is the largest of stands at the figure.
    plot.times_below(
        axis,
        &match counts[..] {
            [only] => format!("Largest of {} due times each", count(only)),
            _ => "Largest observed, of how many due times".to_owned(),
        },
    );
    if let Some(limit) = limit {
        plot.limit_upright(axis.at_ns(limit), &format!("criterion {}", duration(limit)));
    }
    let mut told = Vec::new();
    for ((one, max, of), y) in bars.iter().zip(edges) {
        let policy = one.policy();
        let end = axis.at_ns(*max);
        let class = if one.phase() == phases[0] {
            "hollow"
        } else {
            "body"
        };
        plot.group(one.colour, &[("data-condition", one.condition.to_string())]);
        let hint = format!(
            "{policy}, {}: largest of {} due times {}",
            one.phase(),
            count(*of),
            duration(*max)
        );
        let size = [plot.left, y + 1.0, end - plot.left, BAR - 2.0];
        plot.rect(class, size, &hint);
        plot.ungroup();
        let text = match counts.len() {
            1 => three_digits(*max),
            _ => format!("{} of {}", three_digits(*max), count(*of)),
        };
        plot.text("mark", end + 5.0, y + BAR - 5.0, &text);
        told.push(hint);
    }
    Some(plot.done(
        "maxima-latency",
        "Largest wake-up latency, phase by phase",
        "Maxima compare only over equal counts of due times, and a longer run finds larger ones. \
         A bar beyond the line need not fail: the criterion may tolerate a share of misses.",
        format!("Largest wake-up latency. {}.", told.join("; ")),
    ))
}
