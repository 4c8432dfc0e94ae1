//! Changes in a board's history, each with what was otherwise before and after it.

use crate::divisive::{DivisiveTerms, change_points};
use crate::run::{Figure, History, RunFigures};
use serde::Serialize;
use std::collections::BTreeSet;

/// Runs of a history that are looked at: the last of more.
const MOST_RUNS: usize = 1000;

/// A fact whose values before a change are all others than after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its name.
    pub fact: String,
    /// Its last value before.
    pub before: String,
    /// Its first value after.
    pub after: String,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// The first run after it.
    pub run_id: String,
    /// When that began.
    pub started: String,
    /// The figure in the middle of the runs since the change before, in nanoseconds.
    pub before_ns: i64,
    /// The same until the next change.
    pub after_ns: i64,
    /// Share of shuffled histories with a change as large.
    pub p: f64,
    /// What was otherwise on the board. None: nothing that is recorded.
    pub differences: Vec<Difference>,
}

/// The changes of a figure in a history, oldest first.
pub fn changes(history: &History, figure: Figure, terms: &DivisiveTerms) -> Vec<Change> {
    let usable = history.logarithms(figure);
    let usable = &usable[usable.len().saturating_sub(MOST_RUNS)..];
    let values: Vec<f64> = usable.iter().map(|(_, value)| *value).collect();
    let points = change_points(&values, terms);
    let mut ends: Vec<usize> = points.iter().map(|point| point.at).collect();
    ends.push(values.len());
    let mut from = 0;
    let mut all = Vec::new();
    for (point, &to) in points.iter().zip(&ends[1..]) {
        let runs = |range: std::ops::Range<usize>| -> Vec<&RunFigures> {
            usable[range].iter().map(|(run, _)| *run).collect()
        };
        let (before, after) = (runs(from..point.at), runs(point.at..to));
        all.push(Change {
            run_id: after[0].run_id.clone(),
            started: after[0].started.clone(),
            before_ns: middle(&before, figure),
            after_ns: middle(&after, figure),
            p: point.p,
            differences: differences(&before, &after),
        });
        from = point.at;
    }
    all
}

fn middle(runs: &[&RunFigures], figure: Figure) -> i64 {
    let mut values: Vec<i64> = runs
        .iter()
        .filter_map(|run| run.figures.get(&figure))
        .copied()
        .collect();
    values.sort_unstable();
    values[(values.len() - 1) / 2]
}

fn differences(before: &[&RunFigures], after: &[&RunFigures]) -> Vec<Difference> {
    let names: BTreeSet<&String> = before
        .iter()
        .chain(after)
        .flat_map(|run| run.facts.keys())
        .collect();
    let value = |run: &RunFigures, name: &String| run.facts.get(name).cloned().unwrap_or_default();
    let mut all = Vec::new();
    for name in names {
        let of = |runs: &[&RunFigures]| -> BTreeSet<String> {
            runs.iter().map(|run| value(run, name)).collect()
        };
        if of(before).is_disjoint(&of(after)) {
            all.push(Difference {
                fact: name.clone(),
                before: value(before[before.len() - 1], name),
                after: value(after[0], name),
            });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_step_is_dated_and_named_by_what_changed_with_it_and_by_nothing_else() {
        let run = |i: usize| {
            let after = i >= 20;
            let facts = [
                ("kernel", if after { "6.12" } else { "6.6" }),
                (
                    "governor",
                    if i.is_multiple_of(3) {
                        "powersave"
                    } else {
                        "performance"
                    },
                ),
                ("machine", "Pi 5"),
            ];
            RunFigures {
                run_id: format!("r{i:02}"),
                started: format!("2026-11-{:02}", i + 1),
                is_invalid: i == 7,
                figures: BTreeMap::from([(
                    Figure::P999,
                    (if after { 15_000 } else { 10_000 }) + (i as i64 * 37) % 400,
                )]),
                facts: facts.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            }
        };
        // In no order.
        let runs = (0..28).rev().map(run).collect();
        let history = History::new("pi5-07".to_owned(), "idle".to_owned(), runs);
        let found = changes(&history, Figure::P999, &DivisiveTerms::default());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].run_id, "r20");
        assert!((10_000..10_400).contains(&found[0].before_ns), "{found:?}");
        assert!((15_000..15_400).contains(&found[0].after_ns), "{found:?}");
        let expected = Difference {
            fact: "kernel".to_owned(),
            before: "6.6".to_owned(),
            after: "6.12".to_owned(),
        };
        assert_eq!(found[0].differences, [expected]);
        assert!(changes(&history, Figure::Max, &DivisiveTerms::default()).is_empty());
    }
}
