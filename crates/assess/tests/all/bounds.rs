//! What may be said of the largest values of runs written as a recorder writes them: bounded where
//! the run is long enough or every gate passes, refused by name where not.

use serde_json::json;
use std::path::Path;
use wakepath_archive::{
    Effective, Ending, Event, LogWriter, Run, RunStarted, ScenarioText, SegmentEnded,
    SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted,
};
use wakepath_assess::{BoundMetric, BoundOrder, Bounds, BoundsError, Exceed};
use wakepath_extremes::{Answer, GateName, Pareto, Random};
use wakepath_report::{Style, ToText, bounds_details};
use wakepath_timeline::{DueTimes, Policy, Sample, SampleFlags};

const CYCLES: u64 = 30_000;
const WARM_UP: u64 = 10;
const POLICY: Policy = Policy::Fifo { priority: 80 };
const DUE: DueTimes = DueTimes {
    start_ns: 7_000_000_000,
    period_ns: 1_000_000,
};

/// A wake-up of 10 to 20 µs, one in twenty with a tail of shape −0.1 above.
fn latency(random: &mut Random) -> u64 {
    let tail = Pareto {
        scale: 4_000.0,
        shape: -0.1,
    };
    match random.unit() < 0.05 {
        true => 20_000 + tail.draw(random) as u64,
        false => 10_000 + (random.unit() * 10_000.0) as u64,
    }
}

fn healthy() -> Vec<Sample> {
    let mut random = Random::stream(3, 0);
    (0..CYCLES)
        .map(|cycle| {
            let due_ns = DUE.due_ns(cycle);
            let wake_ns = due_ns + latency(&mut random);
            Sample {
                cycle,
                due_ns,
                wake_ns,
                end_ns: wake_ns + 30_000 + (random.unit() * 1000.0) as u64,
                flags: match cycle < WARM_UP {
                    true => SampleFlags::WARM_UP,
                    false => SampleFlags::default(),
                },
                ..Sample::default()
            }
        })
        .collect()
}

fn write(directory: &Path, samples: &[Sample], lost: u64, limit: &str) -> Run {
    let scenario = format!(
        "name = \"made-up\"\nrate = \"1 kHz\"\ncycles = 29990\nwarm-up = \"10 ms\"\n\
         policies = [\"FIFO 80\"]\n[criterion]\nlatency = \"{limit}\"\nmiss-fraction = \"0.5 %\"\n"
    );
    let mut log = LogWriter::create(directory).unwrap();
    let mut append = |event: &Event| log.append_event(event).unwrap();
    append(&Event::RunStarted(Box::new(RunStarted {
        run_id: "made-up".into(),
        scenario: ScenarioText {
            name: "made-up".into(),
            toml: scenario,
        },
        ..RunStarted::default()
    })));
    append(&Event::SegmentStarted(SegmentStarted {
        traced: false,
        segment: 0,
        phase: "idle".into(),
        repetition: 0,
        condition: POLICY.to_string(),
        threads: vec![ThreadStarted {
            thread: 0,
            name: "loop".into(),
            due: DUE,
            requested: POLICY,
            effective: Effective {
                text: POLICY.to_string(),
                details: json!({ "policy": POLICY }),
            },
            cpus: vec![1],
            first_judged_cycle: WARM_UP,
            end_cycle: CYCLES,
        }],
    }));
    log.append_samples(0, 0, samples).unwrap();
    let written = samples.len() as u64;
    log.append_event(&Event::SegmentEnded(SegmentEnded {
        segment: 0,
        threads: vec![ThreadEnded {
            thread: 0,
            written,
            recorded: written,
            lost,
            skipped: None,
            page_faults: None,
            modules: Vec::new(),
            counters: None,
            ended: ThreadEnd::AllCycles,
        }],
        loads: Vec::new(),
    }))
    .unwrap();
    log.end(Ending::Complete).unwrap();
    wakepath_archive::finish(directory).unwrap();
    Run::open(directory).unwrap()
}

fn order(exceed: f64) -> BoundOrder {
    BoundOrder {
        metric: BoundMetric::Latency,
        exceed: Exceed::PerCycle(exceed),
        policy: None,
        phase: None,
    }
}

fn failing(bounds: &Bounds) -> Vec<GateName> {
    let failed = bounds.conditions[0].examined.failed();
    failed.map(|gate| gate.name).collect()
}

#[test]
fn a_run_that_passes_every_gate_has_a_bound_that_the_criterion_is_held_against() {
    let place = tempfile::tempdir().unwrap();
    let run = write(place.path(), &healthy(), 0, "900 us");
    let bounds = Bounds::of(&run, &order(1e-6)).unwrap();
    assert_eq!(failing(&bounds), [], "{bounds:#?}");
    let bound = bounds.conditions[0].bound_ns().unwrap();
    let observed = bounds.conditions[0].examined.observed;
    assert_eq!(observed.count, CYCLES - WARM_UP);
    assert!(
        bound as i64 >= observed.largest && bound < 100_000,
        "{bound}"
    );
    assert_eq!(bounds.exit_code(), 0);
    let text = bounds.to_text(Style::default());
    assert!(text.starts_with("largest wake-up latency: "), "{text}");
    assert!(text.contains("every gate passed"), "{text}");
    assert!(text.lines().count() <= 30, "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    let details = bounds_details(&bounds, Style::default());
    for part in ["passed held out", "A² = ", "Ljung–Box", "L-moments"] {
        assert!(details.contains(part), "{part}: {details}");
    }

    let place = tempfile::tempdir().unwrap();
    let tight = write(place.path(), &healthy(), 0, "50 us");
    let bounds = Bounds::of(&tight, &order(1e-6)).unwrap();
    assert!(bounds.conditions[0].is_above_limit(), "{bounds:#?}");
    assert_eq!(bounds.exit_code(), 2);
}

#[test]
fn a_run_that_is_long_enough_needs_no_theory() {
    let place = tempfile::tempdir().unwrap();
    let run = write(place.path(), &healthy(), 0, "900 us");
    let bounds = Bounds::of(&run, &order(1e-3)).unwrap();
    let condition = &bounds.conditions[0];
    assert_eq!(condition.examined.answer, Answer::Observed);
    let largest = condition.examined.observed.largest;
    assert_eq!(condition.bound_ns(), Some(largest as u64));
    assert_eq!(bounds.exit_code(), 0);
}

#[test]
fn a_skipped_period_counts_with_what_it_suffered_and_refuses() {
    let mut samples = healthy();
    samples.retain(|sample| !(6_001..6_016).contains(&sample.cycle));
    let stalled = samples
        .iter_mut()
        .find(|sample| sample.cycle == 6_000)
        .unwrap();
    (stalled.wake_ns, stalled.end_ns) = (stalled.due_ns + 15_020_000, stalled.due_ns + 15_050_000);
    let place = tempfile::tempdir().unwrap();
    let run = write(place.path(), &samples, 0, "900 us");
    let bounds = Bounds::of(&run, &order(1e-3)).unwrap();
    assert_eq!(failing(&bounds), [GateName::Provenance]);
    let condition = &bounds.conditions[0];
    assert_eq!(condition.bound_ns(), None);
    assert_eq!(condition.examined.observed.count, CYCLES - WARM_UP);
    assert_eq!(condition.examined.observed.largest, 15_020_000);
    assert!(
        condition.examined.gates[0]
            .finding
            .contains("15 periods skipped")
    );
    assert_eq!(bounds.exit_code(), 3);
}

#[test]
fn lost_samples_refuse() {
    let place = tempfile::tempdir().unwrap();
    let run = write(place.path(), &healthy(), 4, "900 us");
    let bounds = Bounds::of(&run, &order(1e-6)).unwrap();
    assert_eq!(failing(&bounds), [GateName::Provenance]);
    let text = bounds.to_text(Style::default());
    assert!(text.contains("4 samples lost"), "{text}");
    assert!(text.contains("to cure it"), "{text}");
}

#[test]
fn other_times_and_an_hour_of_flight_are_answered_for() {
    let place = tempfile::tempdir().unwrap();
    let run = write(place.path(), &healthy(), 0, "900 us");
    let asked = BoundOrder {
        metric: BoundMetric::Execution,
        exceed: Exceed::PerHour(0.5),
        policy: Some("fifo 80".into()),
        phase: Some("idle".into()),
    };
    let bounds = Bounds::of(&run, &asked).unwrap();
    let condition = &bounds.conditions[0];
    assert!((condition.exceed_per_hour() - 0.5).abs() < 1e-9);
    assert!(condition.examined.observed.largest < 31_001);
    assert_eq!(condition.limit_ns, None);
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let place = tempfile::tempdir().unwrap();
    let run = write(place.path(), &healthy(), 0, "900 us");
    let asked = BoundOrder {
        policy: Some("RR 50".into()),
        ..order(1e-6)
    };
    let refused = Bounds::of(&run, &asked).unwrap_err();
    assert!(matches!(refused, BoundsError::NoSuchCondition { .. }));
    assert!(
        refused.to_string().contains("there are FIFO 80, idle"),
        "{refused}"
    );
    let place = tempfile::tempdir().unwrap();
    let samples = &healthy()[..WARM_UP as usize];
    let nothing = write(place.path(), samples, 0, "900 us");
    let refused = Bounds::of(&nothing, &order(1e-6)).unwrap_err();
    assert!(matches!(refused, BoundsError::NoValues { .. }), "{refused}");
}
