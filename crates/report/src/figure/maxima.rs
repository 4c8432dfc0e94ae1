//! The largest latency of each policy in each phase as bars with the criterion's line: before and
//! after, idle and loaded.

use super::plot::{Plot, room};
use super::scale::Log;
use super::{Drawn, Figure, distinct};
use wakepath_verdict::duration;

const BAR: f64 = 17.0;
const GAP: f64 = 10.0;

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
    let policies = distinct(bars.iter().map(|(one, ..)| one.policy()));
    let phases = distinct(bars.iter().map(|(one, ..)| one.phase().to_owned()));
    let left = policies.iter().map(|name| room(name)).fold(80.0, f64::max) + 12.0;
    let names = phases.iter().map(|name| room(name)).fold(40.0, f64::max) + 74.0;
    let height = 72.0 + bars.len() as f64 * BAR + policies.len() as f64 * GAP;
    let mut plot = Plot::new(620.0, height, left, names + 12.0);
    let axis = Log::around(bars.iter().map(|(_, max, _)| *max).chain(limit));
    // A bar on a log axis has no natural beginning; a decade below the shortest leaves it a body.
    let axis = Log {
        low: axis.low - 1,
        ..axis
    };
    let axis = axis.between(plot.left, plot.right);
    plot.times_below(axis, "Largest wake-up latency observed");
    if let Some(limit) = limit {
        plot.limit_upright(axis.at_ns(limit), &format!("criterion {}", duration(limit)));
    }
    let (mut y, mut told) = (plot.top + 4.0, Vec::new());
    for policy in &policies {
        let own = || bars.iter().filter(|(one, ..)| one.policy() == *policy);
        let middle = y + own().count() as f64 * BAR / 2.0;
        plot.text("end", plot.left - 8.0, middle + 4.0, policy);
        for (one, max, count) in own() {
            let first = one.phase() == phases[0];
            let end = axis.at_ns(*max);
            let class = if first { "hollow" } else { "body" };
            plot.group(one.colour, &[("data-condition", one.condition.to_string())]);
            let hint = format!(
                "{policy}, {}: largest of {count} due times {}",
                one.phase(),
                duration(*max)
            );
            let size = [plot.left, y + 1.0, end - plot.left, BAR - 2.0];
            plot.rect(class, size, &hint);
            plot.ungroup();
            let text = format!("{} {}", duration(short(*max)), one.phase());
            plot.text("mark", end + 5.0, y + BAR - 5.0, &text);
            told.push(format!("{policy}, {}: {}", one.phase(), duration(*max)));
            y += BAR;
        }
        y += GAP;
    }
    Some(plot.done(
        "maxima-latency",
        "Largest wake-up latency, phase by phase",
        "Maxima compare only over equal counts of due times, and a longer run finds larger ones. \
         A bar beyond the line need not fail: the criterion may tolerate a share of misses.",
        format!("Largest wake-up latency. {}.", told.join("; ")),
    ))
}

/// Three significant digits: a bar's end shows no more.
pub(super) fn short(ns: i64) -> i64 {
    let mut unit = 1;
    while ns / unit >= 1_000 {
        unit *= 10;
    }
    (ns + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn a_bar_says_three_digits() {
        assert_eq!(
            [0, 999, 1_234_567, 4_425_600].map(short),
            [0, 999, 1_230_000, 4_430_000]
        );
    }
}
