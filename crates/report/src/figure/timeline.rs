//! Cycles with the longest execution: the sections that the loop timed itself, and other activity during them.

use super::cause_colour::of_kind;
use super::plot::{NARROW, Plot, shortened, slug};
use super::scale::{Linear, fitting_unit};
use super::{Figure, distinct};
use wakepath_explain::{ConditionExplanation, Explanation, LateCycle, LatePiece};
use wakepath_timeline::duration::three_digits;

/// Cycles that are drawn.
const DRAWN: usize = 3;
/// Causes named one by one; smaller ones share a row.
const NAMED: usize = 8;
/// A cause's name, and its bar below it.
const ROW: f64 = 32.0;
const NAME: f64 = 15.0;

pub(super) fn draw(explanation: Option<&Explanation>) -> Vec<Figure> {
    let mut longest: Vec<(&ConditionExplanation, &LateCycle)> = explanation
        .into_iter()
        .flat_map(|explanation| &explanation.conditions)
        .flat_map(|condition| {
            condition
                .longest
                .iter()
                .map(move |cycle| (condition, cycle))
        })
        .filter(|(_, cycle)| !cycle.sections.is_empty())
        .collect();
    longest.sort_by_cached_key(|(_, cycle)| std::cmp::Reverse(cycle.execution_ns));
    let longest = longest.into_iter().take(DRAWN);
    longest
        .map(|(condition, cycle)| of_work(condition, cycle))
        .collect()
}

/// A bar of a row; its begin counts from the due time.
struct Bar<'a> {
    row: &'a str,
    /// Colour of its cause.
    class: &'static str,
    from_ns: u64,
    ns: u64,
    hint: String,
}

/// Names of a figure of one cycle.
struct Titles<'a> {
    id: &'a str,
    title: String,
    caption: &'a str,
}

fn length(ns: u64) -> String {
    three_digits(i64::try_from(ns).unwrap_or(i64::MAX))
}

fn place(condition: &ConditionExplanation, cycle: &LateCycle) -> String {
    format!(
        "{}, {}: segment {} cycle {}",
        condition.condition, condition.phase, cycle.segment, cycle.cycle
    )
}

/// The sections of a cycle, and below them what ran instead of the loop, on one axis.
fn of_work(condition: &ConditionExplanation, cycle: &LateCycle) -> Figure {
    let named: Vec<String> = cycle
        .sections
        .iter()
        .map(|of| format!("section {}", of.name))
        .collect();
    let sections = cycle.sections.iter().zip(&named).map(|(of, name)| Bar {
        row: name,
        class: "plain",
        from_ns: of.from_ns,
        ns: of.ns,
        hint: format!("{}, {}", of.why(length), length(of.ns)),
    });
    let is_foreign =
        |piece: &&LatePiece| !matches!(&*piece.kind, "own-code" | "own-inflation" | "user-code");
    let all = cycle.pieces.iter().chain(&cycle.execution);
    let foreign = all.filter(is_foreign).map(|piece| Bar {
        row: &piece.cause,
        class: of_kind(&piece.kind),
        from_ns: piece.from_ns,
        ns: piece.ns,
        hint: format!("{}: {}, {}", piece.stretch, piece.cause, length(piece.ns)),
    });
    let titles = Titles {
        id: "sections",
        title: format!(
            "{}, took {}",
            place(condition, cycle),
            three_digits(cycle.execution_ns)
        ),
        caption: "The sections that the loop timed itself, and other activity during them, from the due \
                  time until the cycle's end.",
    };
    let most_ns = (cycle.latency_ns.max(0) + cycle.execution_ns) as f64;
    let bars: Vec<Bar<'_>> = sections.chain(foreign).collect();
    timeline(condition, cycle, &bars, most_ns, titles)
}

/// Bars of a row drawn as one, with no room for a gap between them.
struct Mark<'a> {
    row: usize,
    from_ns: u64,
    to_ns: u64,
    /// What its bars took, without the gaps.
    ns: u64,
    bars: usize,
    first: &'a str,
}

impl Mark<'_> {
    fn hint(&self, row: &str) -> String {
        match self.bars {
            1 => self.first.to_owned(),
            bars => format!("{row}: {bars} times, {} in all", length(self.ns)),
        }
    }
}

/// Thousands of timers may have expired in a cycle: bars that are closer than a point of the figure are one mark.
fn joined<'a>(bars: &'a [Bar<'a>], row_of: impl Fn(&str) -> usize, point_ns: f64) -> Vec<Mark<'a>> {
    let mut marks: Vec<Mark<'_>> = Vec::new();
    let mut latest: Vec<Option<usize>> = Vec::new();
    for of in bars {
        let row = row_of(of.row);
        latest.resize(latest.len().max(row + 1), None);
        let before = latest[row].map(|at| &mut marks[at]);
        let is_close =
            |mark: &&mut Mark<'_>| (of.from_ns.saturating_sub(mark.to_ns) as f64) < point_ns;
        match before.filter(is_close) {
            Some(mark) => {
                mark.to_ns = mark.to_ns.max(of.from_ns + of.ns);
                mark.ns += of.ns;
                mark.bars += 1;
            }
            None => {
                latest[row] = Some(marks.len());
                marks.push(Mark {
                    row,
                    from_ns: of.from_ns,
                    to_ns: of.from_ns + of.ns,
                    ns: of.ns,
                    bars: 1,
                    first: &of.hint,
                });
            }
        }
    }
    marks
}

/// A row for each cause, in the order in which they come, on one axis of time.
fn timeline(
    condition: &ConditionExplanation,
    cycle: &LateCycle,
    bars: &[Bar<'_>],
    most_ns: f64,
    titles: Titles<'_>,
) -> Figure {
    let sum = |row: &str| -> u64 { bars.iter().filter(|of| of.row == row).map(|of| of.ns).sum() };
    let mut causes: Vec<&str> = distinct(bars.iter().map(|of| of.row));
    causes.sort_by_cached_key(|cause| std::cmp::Reverse(sum(cause)));
    causes.truncate(NAMED);
    causes.sort_by_cached_key(|cause| bars.iter().position(|of| of.row == *cause));
    let rest = "other causes";
    let row_of = |cause: &str| {
        causes
            .iter()
            .position(|known| *known == cause)
            .unwrap_or(causes.len())
    };
    let has_rest = bars.iter().any(|of| row_of(of.row) == causes.len());
    let rows = causes.len() + usize::from(has_rest);

    let height = 24.0 + 44.0 + rows as f64 * ROW;
    let mut plot = Plot::new(NARROW, height, 8.0, 70.0);
    let (unit_ns, unit) = fitting_unit(most_ns);
    let axis = Linear {
        most: most_ns / unit_ns,
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
    for mark in joined(bars, row_of, most_ns / (plot.right - plot.left)) {
        let y = plot.top + mark.row as f64 * ROW;
        let class = bars.iter().find(|of| row_of(of.row) == mark.row);
        plot.classed(class.map_or("plain", |of| of.class), &[]);
        let at = |ns: u64| axis.at(ns as f64 / unit_ns);
        let (x, end) = (at(mark.from_ns), at(mark.to_ns));
        let size = [x, y + NAME, (end - x).max(1.0), ROW - NAME - 4.0];
        let hint = mark.hint(causes.get(mark.row).copied().unwrap_or(rest));
        plot.rect("body", size, &hint);
        plot.ungroup();
        told.push(hint);
    }
    for (row, cause) in causes.iter().enumerate() {
        let own = bars.iter().filter(|of| of.row == *cause);
        let end = own
            .map(|of| (of.from_ns + of.ns) as f64 / unit_ns)
            .fold(0.0, f64::max);
        let y = plot.top + row as f64 * ROW;
        plot.text(
            "mark",
            axis.at(end) + 5.0,
            y + NAME + 11.0,
            &length(sum(cause)),
        );
    }
    let Titles { id, title, caption } = titles;
    plot.done(
        format!(
            "{id}-{}-{}-{}",
            slug(&condition.condition),
            cycle.segment,
            cycle.cycle
        ),
        title.clone(),
        caption,
        format!("{title}. {}.", told.join("; ")),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(row: &str, from_ns: u64, ns: u64) -> Bar<'_> {
        let hint = format!("{row} at {from_ns}");
        Bar {
            row,
            class: "plain",
            from_ns,
            ns,
            hint,
        }
    }

    #[test]
    fn a_storm_is_as_many_marks_as_can_be_seen_and_loses_no_time() {
        let storm = (0..30_000).map(|at| bar(["timer", "softirq"][at as usize % 2], at * 700, 700));
        let mut bars: Vec<Bar<'_>> = storm.collect();
        // A millisecond later, and alone.
        bars.push(bar("timer", 22_000_000, 5_000));
        let marks = joined(&bars, |row| usize::from(row == "softirq"), 60_000.0);
        assert_eq!(marks.len(), 3);
        assert_eq!(marks.iter().map(|mark| mark.bars).sum::<usize>(), 30_001);
        assert_eq!(marks[0].ns + marks[1].ns, 30_000 * 700);
        assert_eq!(marks[0].hint("timer"), "timer: 15000 times, 10.5 ms in all");
        assert_eq!(marks[2].hint("timer"), "timer at 22000000");
    }

    #[test]
    fn bars_with_room_between_them_stay_apart() {
        let bars = [
            bar("a", 0, 1_000),
            bar("b", 1_000, 500),
            bar("a", 1_500, 700),
        ];
        let marks = joined(&bars, |row| usize::from(row == "b"), 100.0);
        assert!(marks.iter().all(|mark| mark.bars == 1) && marks.len() == 3);
    }
}
