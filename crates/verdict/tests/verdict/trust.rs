//! Each way in which a run can be untrustworthy, or was cut short.

use crate::judging::sentences;
use crate::runs::*;
use wakepath_scenario::PoliciesNeeded;
use wakepath_timeline::{Policy, Sample, SampleFlags};
use wakepath_verdict::{
    Advice, CycleRecord, EarlyEnd, EffectivePolicy, FactChange, FlightFinding, Outcome, Provenance,
    Reason, SkippedCounts, UnprovenLoad, judge, overall,
};

#[test]
fn what_can_not_be_trusted_is_invalid() {
    let good = sound(2000);
    let cases: Vec<(Provenance, &str)> = vec![
        (
            Provenance {
                lost: 3,
                recorded: 1997,
                ..good.clone()
            },
            "3 of 2000 samples were lost",
        ),
        (
            Provenance {
                written: 2001,
                ..good.clone()
            },
            "the loop wrote 2001 samples but 2000 recorded and 0 lost make 2000",
        ),
        (
            Provenance {
                skipped: vec![SkippedCounts {
                    counted: 1,
                    left_out: 4,
                }],
                ..good.clone()
            },
            "the loop counted 1 skipped due time but its samples leave out 4",
        ),
        (
            Provenance {
                recorded: 1999,
                written: 1999,
                ..good.clone()
            },
            "1999 samples were recorded but 2000 given to judge",
        ),
        (
            Provenance {
                unproven_loads: vec![UnprovenLoad {
                    load: "memory".into(),
                    why: "wrote nothing".into(),
                }],
                ..good.clone()
            },
            "the load memory did not prove its work: wrote nothing",
        ),
        (
            Provenance {
                policies: vec![EffectivePolicy {
                    task: "control".into(),
                    requested: FIFO,
                    effective: Some(Policy::Other { nice: 0 }),
                }],
                ..good.clone()
            },
            "control asked for FIFO 80 but ran under OTHER nice 0",
        ),
        (
            Provenance {
                early_ends: vec![EarlyEnd::Killed { signal: 9 }],
                ..good.clone()
            },
            "signal 9 killed the loop",
        ),
        (
            Provenance {
                changes: vec![FactChange::ClockSource {
                    from: "tsc".into(),
                    to: "hpet".into(),
                }],
                ..good.clone()
            },
            "the clock source changed from tsc to hpet during the run",
        ),
    ];
    assert_eq!(
        judged_with(&criterion(), 2000, &clean(0..2000), &good).outcome,
        Outcome::Passed
    );
    for (provenance, sentence) in cases {
        let found = judged_with(&criterion(), 2000, &clean(0..2000), &provenance);
        assert_eq!(found.outcome, Outcome::Invalid, "{sentence}");
        assert!(
            sentences(&found).contains(&sentence.to_owned()),
            "{:?}",
            sentences(&found)
        );
    }
}

#[test]
fn equal_counts_of_skipped_due_times_hold_nothing_back() {
    let counts = SkippedCounts {
        counted: 4,
        left_out: 4,
    };
    let provenance = Provenance {
        skipped: vec![counts],
        ..sound(2000)
    };
    let found = judged_with(&criterion(), 2000, &clean(0..2000), &provenance);
    assert_eq!(found.outcome, Outcome::Passed);
}

#[test]
fn an_invalid_run_stays_invalid_when_it_also_violates_the_criterion() {
    let provenance = Provenance {
        lost: 1,
        written: 1001,
        ..sound(1000)
    };
    let found = judged_with(&criterion(), 2000, &clean(0..1000), &provenance);
    assert_eq!(found.outcome, Outcome::Invalid);
    assert_eq!(found.reasons[0].bearing(), Outcome::Invalid);
    assert!(
        found
            .reasons
            .iter()
            .any(|reason| matches!(reason, Reason::MissFractionAbove { .. }))
    );
}

#[test]
fn an_interruption_in_the_warm_up_is_undecided_whatever_the_loads_had_done_until_then() {
    let provenance = Provenance {
        early_ends: vec![EarlyEnd::Interrupted],
        unproven_loads: vec![UnprovenLoad {
            load: "cpu".into(),
            why: "no rounds were done in 0.000 s".into(),
        }],
        ..sound(0)
    };
    let found = judged_with(&criterion(), 0, &[], &provenance);
    assert_eq!(found.outcome, Outcome::Undecided, "{:?}", found.reasons);
    assert_eq!(found.reasons, [Reason::InterruptedInWarmUp]);

    // That its cycles can't be flown follows: the advice is to let it end.
    let mut with_flight = found;
    with_flight.reasons.push(Reason::Flight {
        finding: FlightFinding::NotFlown {
            why: "no cycle was recorded".into(),
        },
    });
    let overall = overall(PoliciesNeeded::Every, &[with_flight]);
    assert_eq!(overall.policies[0].advice, Some(Advice::MeasureToTheEnd));
}

#[test]
fn an_overrun_that_stops_the_loop_fails_and_an_interruption_decides_nothing() {
    let ended = |cause| Provenance {
        early_ends: vec![cause],
        ..sound(2000)
    };
    let of = |cause| judged_with(&criterion(), 2000, &clean(0..2000), &ended(cause)).outcome;
    assert_eq!(of(EarlyEnd::Overrun { cycle: 1999 }), Outcome::Failed);
    assert_eq!(of(EarlyEnd::Interrupted), Outcome::Undecided);
    assert_eq!(
        of(EarlyEnd::Guard {
            detail: "limit".into()
        }),
        Outcome::Invalid
    );
}

#[test]
fn a_changed_governor_is_a_caution() {
    let change = FactChange::Governor {
        from: "performance".into(),
        to: "powersave".into(),
    };
    let provenance = Provenance {
        changes: vec![change],
        ..sound(2000)
    };
    let found = judged_with(&criterion(), 2000, &clean(0..2000), &provenance);
    assert_eq!(found.outcome, Outcome::Passed);
    assert_eq!(
        found.cautions[0].to_string(),
        "the frequency governor changed from performance to powersave during the run"
    );
}

#[test]
fn contradictory_samples_faulty_work_and_empty_windows_are_invalid() {
    let criterion = criterion();
    let mut record = CycleRecord::new(&criterion);
    let doubled = [sample(1, 0, 10), sample(1, 0, 10)];
    assert!(record.add(window(0..2), &doubled).is_err());
    let (name, provenance) = (name(FIFO, "idle"), sound(2));
    let condition = wakepath_verdict::Condition {
        name: &name,
        record: &record,
        provenance: &provenance,
    };
    let found = judge(condition, &criterion);
    assert_eq!(found.outcome, Outcome::Invalid);
    assert_eq!(
        sentences(&found)[0],
        "the samples contradict themselves: cycle 1 follows cycle 1: cycle numbers must increase"
    );
    assert_eq!(judged(&criterion, 0, &[]).outcome, Outcome::Invalid);
    let mut faulty = clean(0..2000);
    faulty[77].flags = SampleFlags::WORK_FAULT;
    assert_eq!(judged(&criterion, 2000, &faulty).outcome, Outcome::Invalid);
}

#[test]
fn a_run_whose_latency_steps_up_is_judged_with_a_caution() {
    let samples: Vec<Sample> = (0..2000)
        .map(|cycle| sample(cycle, if cycle < 1000 { 20_000 } else { 60_000 }, 100_000))
        .collect();
    let found = judged(&criterion(), 2000, &samples);
    assert_eq!(found.outcome, Outcome::Passed);
    assert_eq!(
        found.cautions[0].to_string(),
        "latencies changed during the run: median 20.0 µs in the first half, 60.0 µs in the second \
         (distributions apart by 100 %); the bounds assume that they don't"
    );
}
