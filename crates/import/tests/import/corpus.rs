//! Every text of a tool in the fixtures, held against figures that a script worked out of the same
//! files by itself: `fixtures/recompute.py` wrote `fixtures/figures.json`.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use wakepath_import::{Asked, Form, Thread, Values};

#[derive(Debug, Deserialize, PartialEq)]
struct Figures {
    thread: String,
    count: u64,
    min: i64,
    p50: Option<i64>,
    p99: Option<i64>,
    p999: Option<i64>,
    max: i64,
    period: Option<u64>,
}

/// The value at a rank of counts by their upper edges, unless it might be one beyond the range.
fn at_rank(counts: &[(i64, u64)], rank: u64, max: i64, known_below: i64) -> Option<i64> {
    let mut seen = 0;
    let found = counts.iter().find(|(_, count)| {
        seen += count;
        seen >= rank
    });
    let (high, _) = found?;
    (*high < known_below).then_some((*high).min(max))
}

fn figures(thread: &Thread, period: Option<u64>) -> Figures {
    let (mut counts, extremes, beyond) = match &thread.values {
        Values::Histogram(found) => (
            found.bins.iter().map(|bin| (bin.1, bin.2)).collect(),
            found.min_ns.zip(found.max_ns),
            (found.overflowed, found.range_end_ns),
        ),
        Values::Samples(samples) => {
            let late = samples.cycles.iter().map(|cycle| (cycle.1, 1));
            (late.collect(), None, (0, None))
        }
        Values::Row(row) => {
            let late = row.samples.iter().map(|sample| (sample.latency_ns(), 1));
            (late.collect::<Vec<(i64, u64)>>(), None, (0, None))
        }
    };
    counts.sort_unstable();
    let count = counts.iter().map(|(_, count)| count).sum::<u64>() + beyond.0;
    let (min, max) = extremes.unwrap_or_else(|| {
        let values = counts.iter().map(|(value, _)| *value);
        (values.clone().min().unwrap(), values.max().unwrap())
    });
    let known_below = match beyond {
        (1.., Some(end)) => end,
        _ => i64::MAX,
    };
    let rank = |thousandths: u64| {
        let wanted = (count * thousandths).div_ceil(1000);
        at_rank(&counts, wanted, max, known_below)
    };
    Figures {
        thread: thread.name.clone(),
        count,
        min,
        p50: rank(500),
        p99: rank(990),
        p999: rank(999),
        max,
        period: match &thread.values {
            Values::Row(row) => Some(row.due.period_ns),
            Values::Samples(samples) => Some(samples.period_ns),
            Values::Histogram(_) => period,
        },
    }
}

#[test]
fn every_text_gives_the_figures_that_a_script_of_its_own_worked_out() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let text = std::fs::read_to_string(fixtures.join("figures.json")).unwrap();
    let expected: BTreeMap<String, Vec<Figures>> = serde_json::from_str(&text).unwrap();
    assert!(expected.len() >= 20, "{}", expected.len());
    for (name, expected) in expected {
        let bytes = std::fs::read(fixtures.join(&name)).unwrap();
        let form = Form::of_file(&bytes).unwrap();
        let found = form.read(&bytes, &Asked::default()).unwrap();
        let own = found.threads.iter();
        let own: Vec<Figures> = own
            .map(|thread| figures(thread, thread.period_ns.or(found.period_ns)))
            .collect();
        assert_eq!(own, expected, "{name}");
    }
}
