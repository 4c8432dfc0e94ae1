//! The run at a glance: for each policy how late the loop woke, idle and under load, from the median
//! to the largest, against the criterion. The one figure of the first page.

use super::Figure;
use super::plot::{NARROW, Plot, room, shortened_within};
use super::scale::Log;
use crate::answer::{self, Class, Figures};
use wakepath_assess::Assessment;
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::duration;

/// Height of a policy, and how far its lines stand apart.
const ROW: f64 = 26.0;
const APART: f64 = 9.0;
/// More policies or tasks than these are left to the chapters: two policies on each of 16 CPUs are shown.
const MOST: usize = 32;

/// Median, 99.9th percentile if known, largest.
type Reach = (i64, Option<i64>, i64);

pub(super) fn draw(assessment: &Assessment) -> Option<Figure> {
    let (classes, rows) = answer::rows(assessment);
    let known = |of: &Figures| Some((of.median_ns?, of.p999_ns, of.max_ns?));
    let mut lines: Vec<(&str, Vec<Option<Reach>>)> = rows
        .iter()
        .map(|row| {
            let figures = row.figures.iter();
            let each = figures.map(|of| of.as_ref().and_then(known));
            (row.label.as_str(), each.collect())
        })
        .collect();
    lines.retain(|(_, each)| each.iter().any(Option::is_some));
    let left_out = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    lines.first()?;
    let limit = assessment.criterion.latency_ns.map(u64::cast_signed);
    let ends = lines.iter().flat_map(|(_, each)| each.iter().flatten());
    let axis = Log::around(
        ends.flat_map(|(median, _, max)| [*median, *max])
            .chain(limit),
    );

    let labels = lines.iter().map(|(label, _)| room(label));
    let widest = labels.fold(60.0, f64::max).min(NARROW * 0.4);
    let height = 24.0 + lines.len() as f64 * ROW + 44.0;
    let mut plot = Plot::new(NARROW, height, widest + 14.0, 14.0);
    let axis = axis.between(plot.left, plot.right);
    for row in (1..lines.len()).step_by(2) {
        let top = plot.top + row as f64 * ROW;
        plot.rect("stripe", [0.0, top, NARROW, ROW], "");
    }
    plot.times_below(axis, "Wake-up latency");
    if let Some(limit) = limit {
        plot.limit_upright(axis.at_ns(limit), &format!("criterion {}", duration(limit)));
    }
    let mut told = Vec::new();
    for (row, (label, each)) in lines.iter().enumerate() {
        let middle = plot.top + (row as f64 + 0.5) * ROW;
        let name = shortened_within(label, widest);
        plot.text("end", plot.left - 8.0, middle + 4.0, &name);
        let first = middle - APART * (each.len() as f64 - 1.0) / 2.0;
        for (place, (class, line)) in classes.iter().zip(each).enumerate() {
            let Some((median, p999, max)) = *line else {
                continue;
            };
            let hint = format!(
                "{label}, {}: median {}, largest {}",
                word(*class),
                three_digits(median),
                three_digits(max)
            );
            let y = first + place as f64 * APART;
            let [from, to] = [median, max].map(|value| axis.at_ns(value));
            let is_beyond = limit.is_some_and(|limit| max > limit);
            plot.plain(&[]);
            plot.line("whisker", [from, y, to, y]);
            if let Some(limit) = limit.filter(|_| is_beyond) {
                plot.line("beyond", [axis.at_ns(limit).max(from), y, to, y]);
            }
            plot.line("median", [from, y - 4.0, from, y + 4.0]);
            if let Some(p999) = p999 {
                let x = axis.at_ns(p999);
                plot.line("whisker", [x, y - 3.0, x, y + 3.0]);
            }
            let dot = match (class, is_beyond) {
                (Class::Idle, false) => "hollow",
                (Class::Idle, true) => "hollow beyond",
                (Class::UnderLoad | Class::All, false) => "solid",
                (Class::UnderLoad | Class::All, true) => "violation",
            };
            plot.dot(dot, to, y, 3.2, &hint);
            plot.ungroup();
            told.push(hint);
        }
    }
    let which = match classes.len() {
        1 => "Each line reaches",
        _ => {
            "The upper line of each policy is idle (hollow), the lower one under load (filled). It \
              reaches"
        }
    };
    let others = match left_out {
        0 => String::new(),
        1 => " One more is in the chapters.".into(),
        more => format!(" {more} more are in the chapters."),
    };
    Some(plot.done(
        "overview-latency",
        "How late the loop woke",
        format!(
            "{which} from the median (thick stroke) to the largest observed (dot); the thin stroke \
             is the 99.9th percentile. Red is beyond the limit. The largest observed is not a bound.{others}"
        ),
        format!("How late the loop woke. {}.", told.join("; ")),
    ))
}

fn word(class: Class) -> &'static str {
    match class {
        Class::Idle => "idle",
        Class::UnderLoad => "under load",
        Class::All => "all phases",
    }
}
