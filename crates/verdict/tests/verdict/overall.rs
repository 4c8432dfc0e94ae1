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
        Passed
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

#[test]
fn the_recommended_policy_has_the_largest_margin_in_its_worst_phase() {
    let all = [
        judgement(OTHER, "idle", Passed, 5_000),
        judgement(OTHER, "stress", Passed, 400_000),
        judgement(FIFO, "idle", Passed, 50_000),
        judgement(FIFO, "stress", Passed, 60_000),
    ];
    let found = overall(Any, &all).recommendation.unwrap();
    assert_eq!(found.policy, FIFO);
    assert_eq!(found.among, 2);
    assert!(found.equal_counts);
    assert!((found.margin.head_room - 0.84).abs() < 1e-12);
    // One policy alone leaves nothing to recommend.
    assert_eq!(overall(Any, &all[..2]).recommendation, None);
}
