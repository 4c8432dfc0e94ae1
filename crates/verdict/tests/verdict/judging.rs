//! Each part of the criterion.

use crate::runs::*;
use wakepath_scenario::Criterion;
use wakepath_timeline::{Sample, SampleFlags};
use wakepath_verdict::{Caution, CycleRecord, Judgement, Outcome, Provenance, Reason, judge};

/// Clean cycles in which those for which `late` holds wake 0.6 ms late.
fn with_late(count: u64, late: impl Fn(u64) -> bool) -> Vec<Sample> {
    let latency = |cycle| if late(cycle) { 600_000 } else { 20_000 };
    (0..count)
        .map(|cycle| sample(cycle, latency(cycle), 100_000))
        .collect()
}

pub fn sentences(judgement: &Judgement) -> Vec<String> {
    judgement.reasons.iter().map(ToString::to_string).collect()
}

#[test]
fn a_clean_run_passes_with_its_bound() {
    let found = judged(&criterion(), 1375, &clean(0..1375));
    assert_eq!(found.outcome, Outcome::Passed);
    assert_eq!(
        sentences(&found),
        [
            "missed 0 of 1375 due times: the miss fraction is at most 0.22 % (95 % confidence), \
             criterion 0.5 %; enough for misses in groups of up to 2"
        ]
    );
    assert_eq!(found.more, None);
    assert!(found.cautions.is_empty());
    assert_eq!(
        found.observations[1].to_string(),
        "response time: 120 µs is the largest of 1375 observed; the next exceeds it with a \
         probability of at most 0.22 % (95 % confidence) if they are independent"
    );
}

#[test]
fn a_short_clean_run_is_undecided_and_says_how_much_more_it_takes() {
    let found = judged(&criterion(), 100, &clean(0..100));
    assert_eq!(found.outcome, Outcome::Undecided);
    // 598 due times without a miss bound the fraction by 0.5 % at 95 %.
    let more = found.more.unwrap();
    assert_eq!(more.due_times, 498);
    assert!((more.seconds - 0.498).abs() < 1e-9);
    assert!(
        sentences(&found)[0].ends_with("498 more due times (1 s) would decide it at this rate")
    );
    assert_eq!(
        judged(&criterion(), 598, &clean(0..598)).outcome,
        Outcome::Passed
    );
    assert_eq!(
        judged(&criterion(), 597, &clean(0..597)).outcome,
        Outcome::Undecided
    );
}

#[test]
fn many_lone_misses_fail_and_few_leave_it_undecided() {
    let often = judged(
        &criterion(),
        10_000,
        &with_late(10_000, |cycle| cycle % 100 == 0),
    );
    assert_eq!(often.outcome, Outcome::Failed);
    assert_eq!(
        sentences(&often),
        [
            "missed 100 of 10 000 due times (1 %): the miss fraction is at least 0.84 % (95 % \
             confidence), criterion 0.5 %"
        ]
    );
    let near = judged(
        &criterion(),
        10_000,
        &with_late(10_000, |cycle| cycle % 190 == 0),
    );
    assert_eq!(near.outcome, Outcome::Undecided);
    assert!(sentences(&near)[0].ends_with("at this rate a longer run would not pass"));
    let seldom = judged(
        &criterion(),
        10_000,
        &with_late(10_000, |cycle| cycle % 1000 == 0),
    );
    assert_eq!(seldom.outcome, Outcome::Passed);
}

#[test]
fn near_misses_that_come_together_leave_a_run_without_a_miss_undecided() {
    let run = |near: &dyn Fn(u64) -> bool, execution_ns| {
        let latency = |cycle| if near(cycle) { 400_000 } else { 20_000 };
        let samples: Vec<Sample> = (0..3000)
            .map(|cycle| sample(cycle, latency(cycle), execution_ns))
            .collect();
        judged(&criterion(), 3000, &samples)
    };
    let together = run(&|cycle| cycle % 1000 < 40, 100_000);
    assert_eq!(together.outcome, Outcome::Undecided);
    assert!(matches!(
        together.reasons[0],
        Reason::MissesDepend { missed: 0, .. }
    ));
    let text = sentences(&together).remove(0);
    assert!(text.contains("0 of 3000 due times: near misses come together"));
    assert!(text.ends_with("would decide it at this rate"), "{text}");
    // The same number alone, and cycles that always take most of their time.
    for alone in [
        run(&|cycle| cycle % 25 == 0, 100_000),
        run(&|_| false, 800_000),
    ] {
        assert_eq!(alone.outcome, Outcome::Passed);
    }
}

#[test]
fn misses_that_come_together_are_one_piece_of_evidence() {
    // 20 of 10 000 would pass alone; as one stall they are one event in 500 stretches.
    let stall = judged(
        &criterion(),
        10_000,
        &with_late(10_000, |cycle| (500..520).contains(&cycle)),
    );
    assert_eq!(stall.outcome, Outcome::Undecided);
    assert!(matches!(
        stall.reasons[0],
        Reason::MissesDepend { missed: 20, .. }
    ));
    assert!(sentences(&stall)[0].contains("independent due times"));
    assert!(matches!(
        stall.cautions[0],
        Caution::MissesCluster {
            missed: 20,
            clusters: 1,
            largest: 20
        }
    ));
    assert!(stall.more.is_some());
}

#[test]
fn one_stall_fails_no_condition_unless_it_takes_most_of_it() {
    let stalled = |late: u64| {
        let samples = with_late(2000, |cycle| (500..500 + late).contains(&cycle));
        judged(&criterion(), 2000, &samples).outcome
    };
    // Nobody knows how often such a stall comes.
    assert_eq!(stalled(50), Outcome::Undecided);
    // Twenty times the criterion: at most one run in 20 misses so much, however misses depend.
    assert_eq!(stalled(201), Outcome::Failed);
}

#[test]
fn with_no_tolerated_miss_one_miss_fails_and_none_needs_the_evidence() {
    let strict = Criterion {
        miss_fraction: 0.0,
        evidence: Some(3e-3),
        ..criterion()
    };
    let one = judged(&strict, 10_000, &with_late(10_000, |cycle| cycle == 7));
    assert_eq!(one.outcome, Outcome::Failed);
    assert_eq!(
        sentences(&one),
        ["missed 1 of 10 000 due times (0 of them skipped); none may be missed"]
    );
    let short = judged(&strict, 997, &clean(0..997));
    assert_eq!(short.outcome, Outcome::Undecided);
    assert_eq!(short.more.unwrap().due_times, 1);
    let enough = judged(&strict, 998, &clean(0..998));
    assert_eq!(enough.outcome, Outcome::Passed);
    let unsaid = Criterion {
        evidence: None,
        ..strict
    };
    assert_eq!(
        judged(&unsaid, 998, &clean(0..998)).outcome,
        Outcome::Passed
    );
    assert_eq!(
        judged(&unsaid, 997, &clean(0..997)).outcome,
        Outcome::Undecided
    );
}

#[test]
fn hard_limits_fail_whatever_the_fraction_says() {
    let lax = Criterion {
        miss_fraction: 0.5,
        ..criterion()
    };
    let samples = with_late(10_000, |cycle| (500..503).contains(&cycle));
    assert_eq!(judged(&lax, 10_000, &samples).outcome, Outcome::Passed);
    let two = Criterion {
        consecutive_misses: Some(2),
        ..lax.clone()
    };
    let found = judged(&two, 10_000, &samples);
    assert_eq!(found.outcome, Outcome::Failed);
    assert_eq!(sentences(&found)[0], "3 misses in a row, 2 tolerated");
    let three = Criterion {
        consecutive_misses: Some(3),
        ..lax.clone()
    };
    let found = judged(&three, 10_000, &samples);
    assert_eq!(found.outcome, Outcome::Passed);
    assert!(sentences(&found).contains(
        &"at most 3 misses in a row (largest of 10 000 due times observed), 3 tolerated".to_owned()
    ));
    // Cycle 500 ends 0.58 ms later than a clean one: 1.58 ms after the end of cycle 499.
    let outage = Criterion {
        outage_ns: Some(1_580_000),
        ..lax.clone()
    };
    assert_eq!(judged(&outage, 10_000, &samples).outcome, Outcome::Passed);
    let outage = Criterion {
        outage_ns: Some(1_579_999),
        ..lax
    };
    let found = judged(&outage, 10_000, &samples);
    assert_eq!(found.outcome, Outcome::Failed);
    assert_eq!(
        sentences(&found)[0],
        "no cycle ended for 1 580 000 ns, 1.58 ms tolerated"
    );
}

#[test]
fn more_due_times_are_asked_for_only_where_they_would_decide() {
    let provenance = Provenance {
        lost: 1,
        written: 101,
        ..sound(100)
    };
    let found = judged_with(&criterion(), 100, &clean(0..100), &provenance);
    assert_eq!((found.outcome, found.more), (Outcome::Invalid, None));
    let away = Criterion {
        outage_ns: Some(1),
        ..criterion()
    };
    let found = judged(&away, 100, &clean(0..100));
    assert_eq!((found.outcome, found.more), (Outcome::Failed, None));
}

#[test]
fn a_cycle_whose_exchange_had_no_right_answer_is_a_miss_however_early_it_was() {
    let mut samples = clean(0..2000);
    for number in [10, 77, 78] {
        samples[number].flags = SampleFlags::UNANSWERED;
    }
    let found = judged(&criterion(), 2000, &samples);
    let misses = found.cycles.misses.unwrap();
    assert_eq!(
        (misses.missed, misses.longest_run),
        (3, Some(2)),
        "{misses:?}"
    );
    assert_eq!(found.cycles.executed_late, Some(3));
}

#[test]
fn threads_side_by_side_are_not_independent_evidence() {
    let criterion = criterion();
    let of = |threads: u32| {
        let mut record = CycleRecord::new(&criterion);
        for thread in 0..threads {
            let window = wakepath_verdict::JudgedWindow {
                thread,
                ..window(0..400)
            };
            record.add(window, &clean(0..400)).unwrap();
        }
        let provenance = sound(400 * u64::from(threads));
        let name = name(FIFO, "idle");
        judge(
            wakepath_verdict::Condition {
                name: &name,
                record: &record,
                provenance: &provenance,
            },
            &criterion,
        )
    };
    assert_eq!(of(1).outcome, Outcome::Undecided);
    let four = of(4);
    assert_eq!(four.outcome, Outcome::Undecided);
    // 198 more for each of four threads.
    assert_eq!(four.more.unwrap().due_times, 4 * 198);
    assert!((four.more.unwrap().seconds - 0.198).abs() < 1e-9);
}

#[test]
fn a_judgement_can_be_written_as_json() {
    let found = judged(&criterion(), 1375, &clean(0..1375));
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["outcome"], "passed");
    assert_eq!(json["reasons"][0]["kind"], "miss-fraction-within");
    assert_eq!(json["cycles"]["scheduled"], 1375);
    assert_eq!(json["cycles"]["response"]["quantiles"][0]["value"], 120_000);
}
