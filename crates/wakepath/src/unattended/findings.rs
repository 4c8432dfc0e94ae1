//! Findings about a round besides its counts: conditions that are not evidence, and reasons that no
//! count shows, such as the vehicle's flight. The counts of all rounds are judged together
//! elsewhere.

use std::collections::BTreeMap;
use wakepath_archive::SegmentRecord;
use wakepath_assess::{Assessment, NotMeasured};
use wakepath_service::{RoundFinding, RoundThread, loop_name};
use wakepath_verdict::{Judgement, Outcome, Reason};

/// By the name of the loop; if a condition has several threads, a finding about all of them is each one's.
pub fn findings(
    segments: &[SegmentRecord],
    threads: &BTreeMap<(u32, u16), RoundThread>,
    assessment: &Assessment,
) -> BTreeMap<String, RoundFinding> {
    let mut found = BTreeMap::new();
    let of_run = of_run(assessment);
    for segment in segments.iter().filter(|of| !of.traced) {
        let is_one = segment.threads.len() == 1;
        for thread in &segment.threads {
            let own = (!is_one).then_some(thread.name.as_str());
            let name = loop_name(&segment.condition, &segment.phase, own);
            let judged = threads.get(&(segment.segment, thread.thread));
            let of = |one: &&Judgement| judged.is_some_and(|of| of.condition == one.name);
            if let Some(finding) = &of_run {
                found.insert(name, finding.clone());
                continue;
            }
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

/// Faults of the whole round, not of one condition.
fn of_run(assessment: &Assessment) -> Option<RoundFinding> {
    let is_invalid = |one: &Judgement| one.outcome == Outcome::Invalid;
    let is_own = assessment.conditions.iter().any(is_invalid);
    let remark = assessment.remarks.first();
    let why = remark.filter(|_| assessment.outcome == Outcome::Invalid && !is_own)?;
    Some(RoundFinding::Invalid(why.clone()))
}

fn of_judgement(judgement: &Judgement) -> Option<RoundFinding> {
    let with = |bearing: Outcome| {
        let mut reasons = judgement.reasons.iter();
        let beside = |reason: &&Reason| reason.bearing() == bearing && !reason.is_counted();
        reasons.find(beside).map(ToString::to_string)
    };
    with(Outcome::Invalid)
        .map(RoundFinding::Invalid)
        .or_else(|| with(Outcome::Failed).map(RoundFinding::Failed))
        .or_else(|| with(Outcome::Undecided).map(RoundFinding::Undecided))
}
