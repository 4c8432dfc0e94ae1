//! The worst cycles' timelines: from the due time to user code, piece by piece, each with its cause.

use super::plot::{NARROW, Plot, shortened, slug};
use super::scale::{Linear, fitting_unit};
use super::{Figure, distinct};
use wakepath_explain::{ConditionExplanation, Explanation, LateCycle};
use wakepath_verdict::duration;

/// So many cycles of the run are drawn.
const DRAWN: usize = 6;
/// Causes named one by one; smaller ones share a row.
const NAMED: usize = 8;
/// A cause's name, and its bar below it.
const ROW: f64 = 32.0;
const NAME: f64 = 15.0;

pub(super) fn draw(explanation: Option<&Explanation>) -> Vec<Figure> {
    let mut worst: Vec<(&ConditionExplanation, &LateCycle)> = explanation
        .into_iter()
        .flat_map(|explanation| &explanation.conditions)
        .flat_map(|condition| condition.worst.iter().map(move |cycle| (condition, cycle)))
        .filter(|(_, cycle)| cycle.latency_ns > 0 && !cycle.pieces.is_empty())
        .collect();
    worst.sort_by_key(|(_, cycle)| std::cmp::Reverse(cycle.latency_ns));
    let drawn = worst.into_iter().take(DRAWN);
    drawn
        .map(|(condition, cycle)| timeline(condition, cycle))
        .collect()
}

/// A row for each cause, in the order in which they come, on one axis of time.
fn timeline(condition: &ConditionExplanation, cycle: &LateCycle) -> Figure {
    let sum = |cause: &str| -> u64 {
        let own = cycle.pieces.iter().filter(|piece| piece.cause == cause);
        own.map(|piece| piece.ns).sum()
    };
    let mut causes: Vec<&str> = distinct(cycle.pieces.iter().map(|piece| piece.cause.as_str()));
    causes.sort_by_key(|cause| std::cmp::Reverse(sum(cause)));
    causes.truncate(NAMED);
    causes.sort_by_key(|cause| cycle.pieces.iter().position(|piece| piece.cause == *cause));
    let rest = "other causes";
    let row_of = |cause: &str| {
        causes
            .iter()
            .position(|known| *known == cause)
            .unwrap_or(causes.len())
    };
    let has_rest = cycle
        .pieces
        .iter()
        .any(|piece| row_of(&piece.cause) == causes.len());
    let rows = causes.len() + usize::from(has_rest);

    let height = 24.0 + 44.0 + rows as f64 * ROW;
    let mut plot = Plot::new(NARROW, height, 8.0, 70.0);
    let (unit_ns, unit) = fitting_unit(cycle.latency_ns as f64);
    let axis = Linear {
        most: cycle.latency_ns as f64 / unit_ns,
        from: plot.left,
        to: plot.right,
    };
    plot.numbers_below(axis, "", &format!("{unit} after the due time"));
    for (row, cause) in causes
        .iter()
        .copied()
        .chain(has_rest.then_some(rest))
        .enumerate()
    {
        let y = plot.top + row as f64 * ROW;
        let named = shortened(cause, NARROW - 2.0 * plot.left);
        plot.text("", plot.left, y + NAME - 3.0, &named);
    }
    let mut told = Vec::new();
    for piece in &cycle.pieces {
        let row = row_of(&piece.cause);
        let y = plot.top + row as f64 * ROW;
        let (from, to) = (
            piece.from_ns as f64 / unit_ns,
            (piece.from_ns + piece.ns) as f64 / unit_ns,
        );
        let length = duration(i64::try_from(piece.ns).unwrap_or(i64::MAX));
        let hint = format!("{}: {}, {length}", piece.stretch, piece.cause);
        plot.group(row, &[]);
        let (x, end) = (axis.at(from), axis.at(to));
        let size = [x, y + NAME, (end - x).max(1.0), ROW - NAME - 4.0];
        plot.rect("body", size, &hint);
        plot.ungroup();
        told.push(hint);
    }
    for (row, cause) in causes.iter().enumerate() {
        let own = cycle.pieces.iter().filter(|piece| piece.cause == *cause);
        let end = own
            .map(|piece| (piece.from_ns + piece.ns) as f64 / unit_ns)
            .fold(0.0, f64::max);
        let y = plot.top + row as f64 * ROW;
        let text = duration(i64::try_from(sum(cause)).unwrap_or(i64::MAX));
        plot.text("mark", axis.at(end) + 5.0, y + NAME + 11.0, &text);
    }
    let title = format!(
        "{}, {}: segment {} cycle {}, {} late",
        condition.condition,
        condition.phase,
        cycle.segment,
        cycle.cycle,
        duration(cycle.latency_ns)
    );
    plot.done(
        format!(
            "timeline-{}-{}-{}",
            slug(&condition.condition),
            cycle.segment,
            cycle.cycle
        ),
        title.clone(),
        "What the CPU did instead of the loop, from the due time until its first instruction; the \
         pieces add up to the latency.",
        format!("{title}. {}.", told.join("; ")),
    )
}
