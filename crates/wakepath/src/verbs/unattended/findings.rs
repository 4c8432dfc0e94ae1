//! What a round shows beside its counts: conditions that are no evidence, and reasons that no count tells, such as the
//! vehicle's flight. The counts of all rounds are judged together elsewhere.

use std::collections::BTreeMap;
use wakepath_archive::{SegmentRecord, ThreadRecord};
use wakepath_assess::{Assessment, NotMeasured};
use wakepath_scenario::Scenario;
use wakepath_service::{Bears, RoundFinding, loop_name};
use wakepath_verdict::{ConditionName, DEFAULT_EVIDENCE, Judgement, Outcome, Reason};

/// By the name of the loop; where a condition has several threads, a finding about all of them is each one's.
pub fn findings(
    segments: &[SegmentRecord],
    assessment: &Assessment,
) -> BTreeMap<String, RoundFinding> {
    let mut found = BTreeMap::new();
    for segment in segments.iter().filter(|of| !of.traced) {
        let is_one = segment.threads.len() == 1;
        for thread in &segment.threads {
            let own = (!is_one).then_some(thread.name.as_str());
            let name = loop_name(&segment.condition, &segment.phase, own);
            let of = |one: &&Judgement| is_of(&one.name, segment, thread);
            match assessment.conditions.iter().find(of) {
                None => {
                    let of = |one: &&NotMeasured| {
                        one.condition == segment.condition && one.phase == segment.phase
                    };
                    let reason = assessment.not_measured.iter().find(of);
                    let why = reason.map_or("it was not judged", |of| &of.reason);
                    found.insert(name, RoundFinding::Invalid(why.to_owned()));
                }
                Some(judgement) => {
                    found.extend(of_judgement(judgement).map(|finding| (name, finding)));
                }
            }
        }
    }
    found
}

fn is_of(name: &ConditionName, segment: &SegmentRecord, thread: &ThreadRecord) -> bool {
    let policy = name
        .policy
        .is_none_or(|policy| policy.to_string() == segment.condition);
    let task = name.task.as_ref().is_none_or(|task| *task == thread.name);
    policy && task && name.phase == segment.phase
}

fn of_judgement(judgement: &Judgement) -> Option<RoundFinding> {
    let with = |bearing: Outcome| {
        let beside = |reason: &&Reason| bearing == Outcome::Invalid || !is_counted(reason);
        let mut reasons = judgement
            .reasons
            .iter()
            .filter(|of| of.bearing() == bearing);
        reasons.find(beside).map(ToString::to_string)
    };
    with(Outcome::Invalid)
        .map(RoundFinding::Invalid)
        .or_else(|| with(Outcome::Failed).map(RoundFinding::Failed))
        .or_else(|| with(Outcome::Undecided).map(RoundFinding::Undecided))
}

/// Whether a reason is told by counts, which are judged over all rounds.
fn is_counted(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::MissesObserved { .. }
            | Reason::MissFractionAbove { .. }
            | Reason::MissFractionUndecided { .. }
            | Reason::MissFractionWithin { .. }
            | Reason::EvidenceMissing { .. }
            | Reason::NoMissesObserved { .. }
            | Reason::ConsecutiveMissesAbove { .. }
            | Reason::ConsecutiveMissesWithin { .. }
            | Reason::OutageAbove { .. }
            | Reason::OutageWithin { .. }
    )
}

/// What a thread bears by the scenario.
pub fn bears(scenario: &Scenario, thread: &ThreadRecord) -> Bears {
    let criterion = &scenario.criterion;
    // As where a run is judged: a deadline of one period is each task's own.
    let deadline_ns = match criterion.deadline_ns == scenario.period_ns {
        true => thread.due.period_ns,
        false => criterion.deadline_ns,
    };
    Bears {
        latency_ns: criterion.latency_ns,
        deadline_ns: Some(deadline_ns),
        miss_fraction: criterion.miss_fraction,
        evidence: criterion.evidence.unwrap_or(DEFAULT_EVIDENCE),
        confidence: criterion.confidence,
        consecutive_misses: criterion.consecutive_misses,
        outage_ns: criterion.outage_ns,
    }
}
