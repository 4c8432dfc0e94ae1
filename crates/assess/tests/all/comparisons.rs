//! Runs compared with runs: planted regressions are found, chance is not, and undecided differences are not
//! reported as decided.

use serde_json::json;
use std::path::Path;
use wakepath_archive::{
    Effective, Ending, Event, LogWriter, Run, RunStarted, ScenarioText, SegmentEnded,
    SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted,
};
use wakepath_assess::{CompareError, CompareOrder, Comparison, Finding, Margin, Metric};
use wakepath_report::{Style, ToText, to_json};
use wakepath_timeline::{DueTimes, Policy, Sample, SampleFlags};

const PERIOD_NS: u64 = 1_000_000;
const WARM_UP: u64 = 10;
const FIFO: Policy = Policy::Fifo { priority: 50 };

/// A made-up run: its latencies are a formula of its number.
#[derive(Clone)]
struct MadeUp {
    number: u64,
    cycles: u64,
    /// Added to every latency, in nanoseconds.
    slower_ns: u64,
    /// Number and latency of one cycle.
    spike: Option<(u64, u64)>,
    scenario: &'static str,
    lost: u64,
    hour: u64,
}

const SCENARIO: &str = r#"
name = "made-up"
rate = "1 kHz"
cycles = 3000
warm-up = "10 ms"
policies = ["FIFO 50"]
[criterion]
latency = "200 us"
miss-fraction = "0.5 %"
"#;

fn made_up(number: u64) -> MadeUp {
    MadeUp {
        number,
        cycles: 3000,
        slower_ns: 0,
        spike: None,
        scenario: SCENARIO,
        lost: 0,
        hour: number,
    }
}

impl MadeUp {
    fn slower(self, ns: u64) -> Self {
        Self {
            slower_ns: ns,
            ..self
        }
    }

    fn latency_ns(&self, cycle: u64) -> u64 {
        if let Some((at, latency)) = self.spike
            && at == cycle
        {
            return latency;
        }
        // Each run a little apart from the others, as boots are: up to 400 ns.
        let own = self.number * 7919 % 400;
        20_000 + own + self.slower_ns + cycle * 131 % 1_000 * 10
    }

    fn write(&self, directory: &Path) -> Run {
        let due = DueTimes {
            start_ns: 7_000_000_000,
            period_ns: PERIOD_NS,
        };
        let end = self.cycles + WARM_UP;
        let samples: Vec<Sample> = (0..end)
            .map(|cycle| {
                let wake_ns = due.due_ns(cycle) + self.latency_ns(cycle.saturating_sub(WARM_UP));
                Sample {
                    cycle,
                    due_ns: due.due_ns(cycle),
                    wake_ns,
                    end_ns: wake_ns + 10_000,
                    flags: if cycle < WARM_UP {
                        SampleFlags::WARM_UP
                    } else {
                        SampleFlags::default()
                    },
                    ..Sample::default()
                }
            })
            .collect();
        let mut log = LogWriter::create(directory).unwrap();
        let event = |log: &mut LogWriter, event| log.append_event(&event).unwrap();
        let started = RunStarted {
            run_id: format!("run-{}", self.number),
            started: format!("2026-11-22T{:02}:00:00Z", self.hour),
            scenario: ScenarioText {
                name: "made-up".into(),
                toml: self.scenario.into(),
            },
            ..RunStarted::default()
        };
        event(&mut log, Event::RunStarted(Box::new(started)));
        let thread = ThreadStarted {
            thread: 0,
            name: "loop".into(),
            due,
            requested: FIFO,
            effective: Effective {
                text: FIFO.to_string(),
                details: json!({ "policy": FIFO }),
            },
            cpus: vec![1],
            first_judged_cycle: WARM_UP,
            end_cycle: end,
        };
        let segment = SegmentStarted {
            traced: false,
            segment: 0,
            phase: "idle".into(),
            repetition: 0,
            condition: FIFO.to_string(),
            threads: vec![thread],
        };
        event(&mut log, Event::SegmentStarted(segment));
        log.append_samples(0, 0, &samples).unwrap();
        let written = samples.len() as u64;
        let thread = ThreadEnded {
            thread: 0,
            written,
            recorded: written,
            lost: self.lost,
            skipped: Some(0),
            page_faults: None,
            modules: Vec::new(),
            counters: None,
            on_a_core: None,
            ended: ThreadEnd::AllCycles,
        };
        let ended = SegmentEnded {
            segment: 0,
            threads: vec![thread],
            loads: Vec::new(),
        };
        event(&mut log, Event::SegmentEnded(ended));
        log.end(Ending::Complete).unwrap();
        wakepath_archive::finish(directory).unwrap();
        Run::open(directory).unwrap()
    }
}

fn order() -> CompareOrder {
    CompareOrder {
        margin: Margin::Time(1_000),
        metrics: Metric::ALL.to_vec(),
        force: false,
        interleaved: false,
    }
}

fn compare(
    base: &[MadeUp],
    against: &[MadeUp],
    order: &CompareOrder,
) -> Result<Comparison, CompareError> {
    let place = tempfile::tempdir().unwrap();
    let written = |side: &[MadeUp]| -> Vec<Run> {
        let one = |run: &MadeUp| run.write(&place.path().join(run.number.to_string()));
        side.iter().map(one).collect()
    };
    Comparison::new(&written(base), &written(against), order)
}

fn finding(comparison: &Comparison, metric: Metric) -> Finding {
    let metrics = &comparison.conditions[0].metrics;
    metrics
        .iter()
        .find(|found| found.metric == metric)
        .unwrap()
        .finding
}

fn runs(numbers: std::ops::Range<u64>) -> Vec<MadeUp> {
    numbers.map(made_up).collect()
}

fn slower(numbers: std::ops::Range<u64>, ns: u64) -> Vec<MadeUp> {
    runs(numbers)
        .into_iter()
        .map(|run| run.slower(ns))
        .collect()
}

#[test]
fn a_regression_beyond_the_margin_is_found_and_ends_with_2() {
    let found = compare(&runs(0..4), &slower(10..14, 5_000), &order()).unwrap();
    assert_eq!(finding(&found, Metric::Median), Finding::Regressed);
    assert_eq!(finding(&found, Metric::Maximum), Finding::Regressed);
    // No miss on either side.
    assert_eq!(finding(&found, Metric::Misses), Finding::Equivalent);
    assert_eq!((found.finding, found.exit_code()), (Finding::Regressed, 2));
    let metric = &found.conditions[0].metrics[0];
    let shift = metric.shift.unwrap();
    assert!((shift.estimate - 5_000.0).abs() < 300.0, "{shift:?}");
    assert!(
        shift.lower.unwrap() > 4_500.0 && shift.upper.unwrap() < 5_500.0,
        "{shift:?}"
    );
    let text = found.to_text(Style::default());
    assert!(text.contains("finding: REGRESSED"), "{text}");
    assert!(text.contains("FIFO 50, idle: median worse by"), "{text}");
}

#[test]
fn the_other_way_round_it_is_an_improvement_and_ends_with_0() {
    let found = compare(&slower(10..14, 5_000), &runs(0..4), &order()).unwrap();
    assert_eq!(finding(&found, Metric::Median), Finding::Improved);
    assert_eq!(found.exit_code(), 0);
}

#[test]
fn runs_within_the_margin_are_equivalent_when_there_are_enough_of_them() {
    let found = compare(&runs(0..4), &slower(10..14, 200), &order()).unwrap();
    assert_eq!((found.finding, found.exit_code()), (Finding::Equivalent, 0));
    // A margin of 10 ns is too narrow for boots that differ by up to 400 ns.
    let narrow = CompareOrder {
        margin: Margin::Time(10),
        ..order()
    };
    let found = compare(&runs(0..4), &runs(10..14), &narrow).unwrap();
    assert_eq!(finding(&found, Metric::Median), Finding::Inconclusive);
    assert_eq!(found.exit_code(), 3);
}

#[test]
fn one_run_a_side_shows_figures_and_proves_nothing() {
    let found = compare(&runs(0..1), &slower(10..11, 900_000), &order()).unwrap();
    assert_eq!(
        (found.finding, found.exit_code()),
        (Finding::Inconclusive, 3)
    );
    assert!(
        found.runs_needed.is_some_and(|needed| needed >= 4),
        "{:?}",
        found.runs_needed
    );
    let text = found.to_text(Style::default());
    assert!(
        text.contains("one run per side can't distinguish"),
        "{text}"
    );
    assert!(text.contains("INCONCLUSIVE"), "{text}");
}

#[test]
fn maxima_are_taken_over_as_many_due_times_in_every_run() {
    // The long run's spike comes after the short ones have ended.
    let long = MadeUp {
        cycles: 4500,
        spike: Some((4000, 800_000)),
        ..made_up(10)
    };
    let found = compare(&runs(0..1), &[long], &order()).unwrap();
    let condition = &found.conditions[0];
    assert_eq!(condition.equal_count, 3000);
    let spiked = &condition.against[0];
    assert_eq!(spiked.whole_maximum_ns, Some(800_000));
    assert!(
        spiked.maximum_ns.unwrap() < 40_000,
        "{:?}",
        spiked.maximum_ns
    );
    // Within them it counts.
    let early = MadeUp {
        spike: Some((2999, 800_000)),
        ..made_up(10)
    };
    let found = compare(&runs(0..1), &[early], &order()).unwrap();
    assert_eq!(found.conditions[0].against[0].maximum_ns, Some(800_000));
}

#[test]
fn lost_samples_make_a_condition_invalid_and_not_equivalent() {
    let lossy = MadeUp {
        lost: 3,
        ..made_up(13)
    };
    let against = [runs(10..13), vec![lossy]].concat();
    let found = compare(&runs(0..4), &against, &order()).unwrap();
    assert_eq!((found.finding, found.exit_code()), (Finding::Invalid, 1));
    let text = found.to_text(Style::default());
    assert!(text.contains("FIFO 50, idle: invalid: run-13: "), "{text}");
}

#[test]
fn another_period_is_refused_with_both_values_unless_forced() {
    const OTHER: &str = r#"
name = "made-up"
rate = "500 Hz"
cycles = 3000
warm-up = "10 ms"
policies = ["FIFO 50"]
[criterion]
latency = "200 us"
miss-fraction = "0.5 %"
"#;
    let other = || {
        vec![MadeUp {
            scenario: OTHER,
            ..made_up(10)
        }]
    };
    let refused = compare(&runs(0..1), &other(), &order())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("period: 1 ms against 2 ms"), "{refused}");
    assert!(
        refused.contains("--force") && !refused.contains('\n'),
        "{refused}"
    );
    let forced = CompareOrder {
        force: true,
        ..order()
    };
    let text = compare(&runs(0..1), &other(), &forced)
        .unwrap()
        .to_text(Style::default());
    assert!(text.starts_with("NOT COMPARABLE"), "{text}");
}

#[test]
fn a_side_whose_runs_are_no_repetitions_of_each_other_is_refused() {
    const LOADED: &str = r#"
name = "made-up"
rate = "1 kHz"
cycles = 3000
warm-up = "10 ms"
policies = ["FIFO 50"]
phases = [{ name = "idle", loads = ["cpu"] }]
[criterion]
latency = "200 us"
miss-fraction = "0.5 %"
"#;
    let mixed = [
        runs(0..1),
        vec![MadeUp {
            scenario: LOADED,
            ..made_up(1)
        }],
    ]
    .concat();
    let refused = compare(&mixed, &runs(10..12), &order())
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("not repetitions of each other: loads of phase idle"),
        "{refused}"
    );
}

#[test]
fn a_run_is_no_evidence_beside_itself() {
    let place = tempfile::tempdir().unwrap();
    let run = |name: &str| made_up(1).write(&place.path().join(name));
    let refused = Comparison::new(&[run("a")], &[run("b")], &order()).unwrap_err();
    assert!(matches!(refused, CompareError::SameRun { .. }), "{refused}");
    let none = Comparison::new(&[run("c")], &[], &order()).unwrap_err();
    assert!(matches!(none, CompareError::EmptySide), "{none}");
}

#[test]
fn runs_measured_in_turn_are_compared_pair_by_pair_and_only_then() {
    // A drift of 3 µs an hour hides a difference of 1.5 µs from all but the pairs.
    let at = |number: u64, hour: u64, ns: u64| MadeUp {
        hour,
        ..made_up(number).slower(hour * 3_000 + ns)
    };
    let base: Vec<MadeUp> = (0..6).map(|i| at(i, 2 * i, 0)).collect();
    let against: Vec<MadeUp> = (0..6).map(|i| at(10 + i, 2 * i + 1, 1_500)).collect();
    let median = CompareOrder {
        metrics: vec![Metric::Median],
        ..order()
    };
    let apart = compare(&base, &against, &median).unwrap();
    assert_eq!(apart.finding, Finding::Inconclusive);
    let turns = CompareOrder {
        interleaved: true,
        ..median
    };
    let pairs = compare(&base, &against, &turns).unwrap();
    assert_eq!(pairs.finding, Finding::Regressed);
    assert!((pairs.conditions[0].metrics[0].test.unwrap().p_higher - 1.0 / 64.0).abs() < 1e-12);
    let blocks: Vec<MadeUp> = (0..6).map(|i| at(20 + i, 12 + i, 0)).collect();
    let refused = compare(&base, &blocks, &turns).unwrap_err().to_string();
    assert!(refused.contains("the sides did not alternate"), "{refused}");
    let fewer = compare(&base, &against[..5], &turns)
        .unwrap_err()
        .to_string();
    assert!(
        refused.starts_with("--interleaved") && fewer.contains("6 runs against 5"),
        "{fewer}"
    );
}

#[test]
fn a_false_alarm_is_as_rare_as_promised() {
    // Twenty comparisons of runs that differ by boots alone: at 5 % one would be expected to be
    // found in any one metric, and adjusted over five metrics no more.
    let found = (0..20).filter(|round| {
        let first = round * 10;
        let comparison = compare(
            &runs(first..first + 4),
            &runs(first + 4..first + 8),
            &CompareOrder {
                margin: Margin::Time(1),
                ..order()
            },
        );
        comparison.unwrap().finding == Finding::Regressed
    });
    assert!(found.count() <= 3);
}

#[test]
fn the_json_form_has_the_distributions_of_both_sides() {
    let found = compare(&runs(0..2), &slower(10..12, 5_000), &order()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&to_json(&found)).unwrap();
    let condition = &json["conditions"][0];
    for side in ["base_distribution", "against_distribution"] {
        let bins = condition[side].as_array().unwrap();
        let sum: u64 = bins.iter().map(|bin| bin["count"].as_u64().unwrap()).sum();
        assert_eq!(sum, 6000, "{side}");
    }
    assert_eq!(json["margin"]["time-ns"], 1_000);
    assert_eq!(condition["metrics"][0]["finding"], "inconclusive");
}
