//! Statements about the largest values of runs written as a recorder writes them: bounded if the run is
//! long enough or every gate passes, otherwise refused by name.

use serde_json::json;
use std::path::Path;
use wakepath_archive::{
    Effective, Ending, Event, LogWriter, Run, RunStarted, ScenarioText, SegmentEnded,
    SegmentStarted, ThreadEnd, ThreadEnded, ThreadStarted,
};
use wakepath_assess::{Assessment, BoundMetric, BoundOrder, Bounds, BoundsError, Exceed};
use wakepath_extremes::{Answer, GateName, Pareto, Random};
use wakepath_report::{Style, ToText, bounds_details};
use wakepath_timeline::{DueTimes, Policy, Sample, SampleFlags};
use wakepath_verdict::Outcome;

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
    if random.unit() < 0.05 {
        20_000 + tail.draw(random) as u64
    } else {
        10_000 + (random.unit() * 10_000.0) as u64
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
                flags: if cycle < WARM_UP {
                    SampleFlags::WARM_UP
                } else {
                    SampleFlags::default()
                },
                ..Sample::default()
            }
        })
        .collect()
}

/// Data that the loop and the recorder report about a recording, in addition to its samples.
struct Said {
    lost: u64,
    /// Samples that the loop says it wrote beyond those recorded.
    written_more: u64,
    skipped: Option<u64>,
    effective: serde_json::Value,
}

impl Default for Said {
    fn default() -> Self {
        Self {
            lost: 0,
            written_more: 0,
            skipped: None,
            effective: json!({ "policy": POLICY }),
        }
    }
}

fn write(directory: &Path, samples: &[Sample], lost: u64, limit: &str) -> Run {
    let said = Said {
        lost,
        ..Said::default()
    };
    write_said(directory, samples, said, limit)
}

fn write_said(directory: &Path, samples: &[Sample], said: Said, limit: &str) -> Run {
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
                details: said.effective,
            },
            cpus: vec![1],
            first_judged_cycle: WARM_UP,
            end_cycle: CYCLES,
        }],
    }));
    log.append_samples(0, 0, samples).unwrap();
    let recorded = samples.len() as u64;
    log.append_event(&Event::SegmentEnded(SegmentEnded {
        segment: 0,
        threads: vec![ThreadEnded {
            thread: 0,
            written: recorded + said.written_more,
            recorded,
            lost: said.lost,
            skipped: said.skipped,
            page_faults: None,
            modules: Vec::new(),
            counters: None,
            on_a_core: None,
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
    let bounds = Bounds::new(&run, &order(2e-5)).unwrap();
    assert_eq!(failing(&bounds), [], "{bounds:#?}");
    let bound = bounds.conditions[0].bound_ns().unwrap();
    let observed = bounds.conditions[0].examined.observed;
    assert_eq!(observed.count, CYCLES - WARM_UP);
    assert!(
        bound as i64 >= 3 * observed.largest && bound < 400_000,
        "{bound}"
    );
    assert_eq!(bounds.exit_code(), 0);
    let text = bounds.to_text(Style::default());
    assert!(text.starts_with("largest wake-up latency: "), "{text}");
    assert!(text.contains(" times\n"), "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    let details = bounds_details(&bounds, Style::default());
    for part in [
        "passed reach",
        "Ljung–Box",
        "mean excess",
        "if rarer values continue",
    ] {
        assert!(details.contains(part), "{part}: {details}");
    }

    let place = tempfile::tempdir().unwrap();
    let tight = write(place.path(), &healthy(), 0, "50 us");
    let bounds = Bounds::new(&tight, &order(2e-5)).unwrap();
    assert!(bounds.conditions[0].is_above_limit(), "{bounds:#?}");
    assert_eq!(bounds.exit_code(), 2);
}

#[test]
fn a_run_that_is_long_enough_needs_no_theory() {
    let place = tempfile::tempdir().unwrap();
    let run = write(place.path(), &healthy(), 0, "900 us");
    let bounds = Bounds::new(&run, &order(1e-3)).unwrap();
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
    let bounds = Bounds::new(&run, &order(1e-3)).unwrap();
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
    let bounds = Bounds::new(&run, &order(2e-5)).unwrap();
    assert_eq!(failing(&bounds), [GateName::Provenance]);
    let text = bounds.to_text(Style::default());
    assert!(text.contains("4 of 30 004 samples were lost"), "{text}");
    assert!(text.contains("; fix: "), "{text}");
}

/// The findings of the first gate for a run whose verdict is invalid.
fn objection(samples: &[Sample], said: Said) -> String {
    let place = tempfile::tempdir().unwrap();
    let run = write_said(place.path(), samples, said, "900 us");
    let judged = Assessment::new(&run).unwrap();
    assert_eq!(judged.overall.outcome, Outcome::Invalid);
    let bounds = Bounds::new(&run, &order(1e-3)).unwrap();
    assert_eq!(failing(&bounds), [GateName::Provenance]);
    assert_eq!(bounds.conditions[0].bound_ns(), None);
    assert_eq!(bounds.exit_code(), 3);
    let gate = &bounds.conditions[0].examined.gates[0];
    assert!(gate.cure.is_some(), "{gate:?}");
    gate.finding.clone()
}

#[test]
fn a_policy_that_could_not_be_read_back_refuses() {
    let unread = Said {
        effective: json!({}),
        ..Said::default()
    };
    let found = objection(&healthy(), unread);
    assert!(found.contains("could not be read"), "{found}");
}

#[test]
fn samples_that_vanished_refuse() {
    let vanished = Said {
        written_more: 3,
        ..Said::default()
    };
    let found = objection(&healthy(), vanished);
    assert!(found.contains("30 000 recorded and 0 lost"), "{found}");
}

#[test]
fn skipped_periods_that_were_counted_otherwise_refuse() {
    let counted = Said {
        skipped: Some(2),
        ..Said::default()
    };
    let found = objection(&healthy(), counted);
    assert!(found.contains("counted 2 skipped"), "{found}");
}

fn objection_to(change: fn(&mut Sample)) -> String {
    let mut samples = healthy();
    change(&mut samples[20_000]);
    objection(&samples, Said::default())
}

#[test]
fn a_fault_of_the_work_refuses() {
    let found = objection_to(|sample| sample.flags = SampleFlags::WORK_FAULT);
    assert!(found.contains("a fault in 1 of 29 990 cycles"), "{found}");
}

#[test]
fn cycles_that_overlap_refuse() {
    let found = objection_to(|sample| sample.wake_ns = sample.due_ns - 990_000);
    assert!(found.contains("before the end of the cycle"), "{found}");
}

#[test]
fn a_warm_up_among_judged_cycles_refuses() {
    let found = objection_to(|sample| sample.flags = SampleFlags::WARM_UP);
    assert!(found.contains("marked as warm-up"), "{found}");
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
    let bounds = Bounds::new(&run, &asked).unwrap();
    let condition = &bounds.conditions[0];
    assert!((condition.exceeding_per_hour() - 0.5).abs() < 1e-9);
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
    let refused = Bounds::new(&run, &asked).unwrap_err();
    assert!(matches!(refused, BoundsError::NoSuchCondition { .. }));
    assert!(
        refused.to_string().contains("there are FIFO 80, idle"),
        "{refused}"
    );
    let place = tempfile::tempdir().unwrap();
    let samples = &healthy()[..WARM_UP as usize];
    let nothing = write(place.path(), samples, 0, "900 us");
    let refused = Bounds::new(&nothing, &order(1e-6)).unwrap_err();
    assert!(matches!(refused, BoundsError::NoValues { .. }), "{refused}");
}
