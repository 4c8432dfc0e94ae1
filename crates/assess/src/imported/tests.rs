//! Histograms and verdicts of imported runs.

use super::*;
use wakepath_scenario::{KnownCpus, Scenario};
use wakepath_verdict::ConditionName;

fn histogram() -> ThreadHistogram {
    ThreadHistogram {
        bins: vec![(1_000, 1_999, 990), (2_000, 2_999, 8)],
        overflowed: 2,
        range_end_ns: Some(3_000),
        min_ns: Some(1_200),
        max_ns: Some(40_000),
        mean_ns: Some(1_600),
        ..ThreadHistogram::default()
    }
}

#[test]
fn quantiles_are_the_upper_edges_of_their_bins_by_nearest_rank() {
    let counted = Counted::new(&[&histogram()]);
    assert_eq!(counted.count, 1000);
    assert_eq!(counted.quantile(Quantile::P50).value, Some(1_999));
    assert_eq!(counted.at_rank(990), Some(1_999));
    assert_eq!(counted.at_rank(991), Some(2_999));
    assert!(!counted.quantile(Quantile::P99).is_maximum);
    // Of what overflowed only the largest value is known: rank 999 is between it and the range.
    assert_eq!(counted.at_rank(999), None);
    assert!(counted.quantile(Quantile::P999).is_maximum);
    assert_eq!(counted.quantile(Quantile::P999).value, None);
    assert_eq!((counted.min_ns, counted.max_ns), (1_200, 40_000));
    assert_eq!(counted.mean_ns, 1_600.0);
}

#[test]
fn two_threads_add_up() {
    let other = ThreadHistogram {
        max_ns: Some(70_000),
        mean_ns: Some(2_600),
        ..histogram()
    };
    let counted = Counted::new(&[&histogram(), &other]);
    assert_eq!((counted.count, counted.max_ns), (2000, 70_000));
    assert_eq!(counted.mean_ns, 2_100.0);
}

fn criterion() -> Criterion {
    let scenario = "name = \"a\"\nrate = \"1 kHz\"\ncycles = 1000\npolicies = [\"OTHER\"]";
    let known = KnownCpus::first(1);
    Scenario::parse(scenario, "a", &known).unwrap().criterion
}

#[test]
fn nothing_is_said_of_times_that_the_tool_did_not_record() {
    let seen = |of| Observation {
        of,
        largest_ns: 0,
        count: 10,
        exceeded_at_most: 0.3,
        confidence: 0.95,
    };
    let all = [
        Observed::LatencyAsScheduled,
        Observed::Response,
        Observed::Execution,
    ];
    let name = ConditionName {
        policy: None,
        phase: "imported".into(),
        task: None,
    };
    let mut judgement = judged(&name, &DueTally::default(), Vec::new(), &criterion());
    judgement.observations = all.map(seen).to_vec();
    let said = |lacks: Vec<Lack>| {
        let imported = Imported {
            lacks,
            ..Imported::default()
        };
        let known = as_known(judgement.clone(), &imported);
        known.observations.iter().map(|seen| seen.of).collect()
    };
    let said_of_all: Vec<Observed> = said(Vec::new());
    assert_eq!(said_of_all, all);
    for lack in [Lack::ExecutionTimes, Lack::EndOfWork] {
        assert_eq!(said(vec![lack]), [Observed::LatencyAsScheduled]);
    }
}

#[test]
fn only_what_was_certainly_late_is_a_miss() {
    let mut criterion = criterion();
    let counted = Counted::new(&[&histogram()]);
    let mut missed = |latency_ns| {
        criterion.latency_ns = Some(latency_ns);
        counted.misses(&criterion).missed
    };
    // 10 lie above 1.999 µs; a limit within a bin leaves its values open.
    assert_eq!(missed(1_999), 10);
    assert_eq!(missed(2_500), 2);
    // One overflowed value at least is the largest.
    assert_eq!(missed(3_500), 1);
    assert_eq!(missed(50_000), 0);
}
