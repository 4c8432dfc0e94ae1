//! Which policies must hold, and which one to use.

use crate::runs::*;
use wakepath_scenario::PoliciesNeeded::{Any, Every};
use wakepath_timeline::{Policy, Sample};
use wakepath_verdict::Outcome::{self, *};
use wakepath_verdict::{Judgement, Provenance, overall};

const OTHER: Policy = Policy::Other { nice: 0 };

fn judgement(policy: Policy, phase: &str, outcome: Outcome, latency_ns: i64) -> Judgement {
    let count = if outcome == Undecided { 100 } else { 1000 };
    let latency = if outcome == Failed {
        700_000
    } else {
        latency_ns
    };
    let samples: Vec<Sample> = (0..count)
        .map(|cycle| sample(cycle, latency, 100_000))
        .collect();
    let lost = u64::from(outcome == Invalid);
    let provenance = Provenance {
        lost,
        written: count + lost,
        ..sound(count)
    };
    let mut found = judged_with(&criterion(), count, &samples, &provenance);
    found.name = name(policy, phase);
    assert_eq!(found.outcome, outcome);
    found
}

fn run(outcomes: [[Outcome; 2]; 2]) -> Vec<Judgement> {
    [OTHER, FIFO]
        .into_iter()
        .zip(outcomes)
        .flat_map(|(policy, [idle, stress])| {
            [
                judgement(policy, "idle", idle, 20_000),
                judgement(policy, "stress", stress, 30_000),
            ]
        })
        .collect()
}

#[test]
fn any_passes_when_one_policy_holds_in_every_phase() {
    let found = overall(Any, &run([[Passed, Failed], [Passed, Passed]]));
    assert_eq!(found.outcome, Passed);
    assert_eq!(found.policies[0].outcome, Failed);
    assert_eq!(found.policies[0].decided_by, ["stress"]);
    assert_eq!(
        found.recommendation.unwrap().to_string(),
        "FIFO 80: the only policy that passed; it missed nothing and the largest of 1000 \
         observed left 87 % of the limit"
    );
}

#[test]
fn any_fails_only_when_every_policy_failed_somewhere() {
    assert_eq!(
        overall(Any, &run([[Passed, Failed], [Failed, Passed]])).outcome,
        Failed
    );
    assert_eq!(
        overall(Any, &run([[Passed, Failed], [Undecided, Passed]])).outcome,
        Undecided
    );
    assert_eq!(
        overall(Any, &run([[Invalid, Failed], [Failed, Passed]])).outcome,
        Failed
    );
}

#[test]
fn an_invalid_condition_never_helps_a_pass() {
    assert_eq!(
        overall(Any, &run([[Passed, Invalid], [Failed, Passed]])).outcome,
        Invalid
    );
    assert_eq!(
        overall(Any, &run([[Passed, Invalid], [Passed, Undecided]])).outcome,
        Undecided
    );
    assert_eq!(
        overall(Any, &run([[Passed, Invalid], [Passed, Passed]])).outcome,
        Invalid
    );
    // A policy that failed in another phase hides nothing.
    assert_eq!(
        overall(Any, &run([[Invalid, Failed], [Passed, Passed]])).outcome,
        Invalid
    );
    assert_eq!(
        overall(Every, &run([[Passed, Invalid], [Passed, Passed]])).outcome,
        Invalid
    );
    assert_eq!(overall(Any, &[]).outcome, Invalid);
    assert_eq!(overall(Every, &[]).outcome, Invalid);
}

#[test]
fn every_needs_every_policy() {
    assert_eq!(
        overall(Every, &run([[Passed, Passed], [Passed, Passed]])).outcome,
        Passed
    );
    assert_eq!(
        overall(Every, &run([[Passed, Undecided], [Passed, Passed]])).outcome,
        Undecided
    );
    assert_eq!(
        overall(Every, &run([[Invalid, Undecided], [Failed, Passed]])).outcome,
        Failed
    );
}

#[test]
fn a_policy_that_missed_a_phase_has_not_passed() {
    let mut all = run([[Passed, Passed], [Passed, Failed]]);
    all.remove(1);
    let found = overall(Any, &all);
    assert_eq!(found.outcome, Undecided);
    assert_eq!(found.policies[0].decided_by, ["stress"]);
}

/// As [`judgement`], passed with these of 10 000 due times missed.
fn missing(policy: Policy, late: impl Fn(u64) -> bool, latency_ns: i64) -> Judgement {
    let samples: Vec<Sample> = (0..10_000)
        .map(|cycle| {
            if late(cycle) {
                sample(cycle, 700_000, 100_000)
            } else {
                sample(cycle, latency_ns, 100_000)
            }
        })
        .collect();
    let mut found = judged_with(&criterion(), 10_000, &samples, &sound(10_000));
    found.name = name(policy, "idle");
    assert_eq!(found.outcome, Passed);
    found
}

#[test]
fn of_policies_that_the_run_cannot_tell_apart_the_usual_one_is_recommended() {
    let round_robin = Policy::RoundRobin { priority: 99 };
    let highest = Policy::Fifo { priority: 99 };
    let all = [
        missing(round_robin, |_| false, 5_000),
        missing(highest, |cycle| cycle == 7, 5_000),
        missing(FIFO, |cycle| cycle % 4000 == 9, 400_000),
        missing(OTHER, |cycle| cycle % 4000 == 9, 5_000),
    ];
    let found = overall(Any, &all).recommendation.unwrap();
    assert_eq!((found.policy, found.among, found.equivalent), (FIFO, 4, 3));
    assert!(
        found.to_string().starts_with(
            "FIFO 80: the usual one of the 4 policies that passed, which are equivalent here; it \
             missed 0.03 %"
        ),
        "{found}"
    );
    assert!(found.equal_counts);
    // One policy alone leaves nothing to recommend.
    assert_eq!(overall(Any, &all[..1]).recommendation, None);
}

#[test]
fn a_policy_that_surely_misses_more_is_not_recommended() {
    let round_robin = Policy::RoundRobin { priority: 99 };
    let all = [
        missing(FIFO, |cycle| cycle % 300 == 9, 5_000),
        missing(round_robin, |_| false, 5_000),
        missing(OTHER, |_| false, 5_000),
    ];
    let found = overall(Any, &all).recommendation.unwrap();
    assert_eq!((found.policy, found.equivalent), (round_robin, 1));
}

#[test]
fn the_only_policy_that_passed_is_not_called_so_while_others_are_undecided() {
    let all = run([[Undecided, Passed], [Passed, Passed]]);
    let found = overall(Any, &all).recommendation.unwrap();
    assert!(
        found
            .to_string()
            .starts_with("FIFO 80: the only policy that passed so far, 1 other is not decided;"),
        "{found}"
    );
}
