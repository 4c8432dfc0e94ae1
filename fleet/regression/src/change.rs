//! Changes in a board's history, with the differences in its settings before and after.

use crate::divisive::{DivisiveTerms, change_points};
use crate::run::{Figure, History, RunFigures};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Most runs of a history to examine: the last ones.
const MOST_RUNS: usize = 1000;

/// Runs on each side of a change whose settings are compared.
const AROUND: usize = 5;

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
    /// Recorded differences of the board. Empty: none are recorded.
    pub differences: Vec<Difference>,
    /// The last runs before it and the first after it, by name: those whose settings are compared.
    #[serde(skip)]
    pub around: (Vec<String>, Vec<String>),
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
            around: (names(before.iter().rev()), names(after.iter())),
        });
        from = point.at;
    }
    all
}

fn names<'a>(runs: impl Iterator<Item = &'a &'a RunFigures>) -> Vec<String> {
    runs.take(AROUND).map(|run| run.run_id.clone()).collect()
}

/// Settings with one value in all runs before, and another in all runs after. A setting that varies
/// from run to run explains nothing.
pub fn settings_between(
    before: &[BTreeMap<String, String>],
    after: &[BTreeMap<String, String>],
) -> Vec<Difference> {
    let mut names: BTreeSet<&String> = before
        .iter()
        .chain(after)
        .flat_map(BTreeMap::keys)
        .collect();
    let absent = String::new();
    let one = |side: &[BTreeMap<String, String>], name: &String| {
        let mut values = side.iter().map(|run| run.get(name).unwrap_or(&absent));
        let first = values.next()?;
        values.all(|value| value == first).then(|| first.clone())
    };
    names.retain(|name| !name.is_empty());
    let difference = |name: &String| {
        let (before, after) = (one(before, name)?, one(after, name)?);
        (before != after).then(|| Difference {
            fact: name.clone(),
            before,
            after,
        })
    };
    names.into_iter().filter_map(difference).collect()
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

    #[test]
    fn a_setting_counts_where_it_is_steady_on_both_sides_and_another() {
        let run = |hz: &str, boot: &str, more: &[(&str, &str)]| {
            let mut all = BTreeMap::from([
                ("HZ".to_owned(), hz.to_owned()),
                ("boot".to_owned(), boot.to_owned()),
                ("model".to_owned(), "Pi 5".to_owned()),
            ]);
            all.extend(more.iter().map(|(k, v)| (k.to_string(), v.to_string())));
            all
        };
        let before = [run("250", "a", &[]), run("250", "b", &[])];
        let after = [
            run("1000", "c", &[("nohz", "on")]),
            run("1000", "d", &[("nohz", "on")]),
        ];
        let found = settings_between(&before, &after);
        let found: Vec<_> = found
            .iter()
            .map(|d| (&*d.fact, &*d.before, &*d.after))
            .collect();
        assert_eq!(found, [("HZ", "250", "1000"), ("nohz", "", "on")]);
        assert!(settings_between(&before, &[]).is_empty());
    }

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
        assert_eq!(found[0].around.0, ["r19", "r18", "r17", "r16", "r15"]);
        assert_eq!(found[0].around.1, ["r20", "r21", "r22", "r23", "r24"]);
        assert!(changes(&history, Figure::Max, &DivisiveTerms::default()).is_empty());
    }
}
