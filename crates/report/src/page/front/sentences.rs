//! The verdict and what follows from it in plain sentences, for a reader who has not seen the
//! documentation.

use crate::answer::{self, Answer, is_idle};
use crate::page::sections::sentence;
use wakepath_assess::Assessment;
use wakepath_explain::Explanation;
use wakepath_timeline::count::all_of;
use wakepath_timeline::duration::{apart_from, length, three_digits};
use wakepath_verdict::{
    Judgement, MoreNeeded, Observed, Outcome, Reason, Recommendation, count, counted, fraction,
    upper_fraction,
};

/// Advice, and its evidence.
pub(super) fn two(assessment: &Assessment, answer: &Answer) -> [String; 2] {
    let policies = assessment.overall.policies.len();
    let machine = if is_idle(assessment) {
        "on this machine without load"
    } else {
        "on this machine"
    };
    let nearest = || match answer::nearest(assessment, assessment.outcome) {
        Some(of) => stands_against(of, policies > 1),
        None => answer
            .because
            .first()
            .map(|text| sentence(text))
            .unwrap_or_default(),
    };
    match (assessment.outcome, &assessment.overall.recommendation) {
        (Outcome::Passed, Some(found)) => recommended(found, policies, machine),
        (Outcome::Passed, None) => [
            format!("The loop meets its criterion {machine}: every condition passed."),
            answer
                .because
                .first()
                .map(|text| sentence(text))
                .unwrap_or_default(),
        ],
        (Outcome::Failed, _) => {
            let failed = assessment.overall.policies.iter();
            let failed = failed.filter(|of| of.outcome == Outcome::Failed).count();
            let said = match (policies, failed) {
                (0 | 1, _) => "The loop does not meet its criterion on this machine.".to_owned(),
                (all, failed) if all == failed => format!(
                    "The loop does not meet its criterion on this machine: {} failed.",
                    all_of(all as u64, "policy", "policies")
                ),
                (all, failed) => format!(
                    "The loop does not meet its criterion on this machine: {failed} of {all} policies \
                     failed."
                ),
            };
            [said, nearest()]
        }
        (Outcome::Undecided, _) => [
            "This run does not decide yet whether the loop meets its criterion on this machine.".to_owned(),
            nearest(),
        ],
        (Outcome::Invalid, _) => [
            "This run is invalid: the measurement went wrong."
                .to_owned(),
            nearest(),
        ],
        (Outcome::NotJudged, _) if !assessment.cache_delays.is_empty() => [
            "The run measured cache losses: there is nothing to judge."
                .to_owned(),
            String::new(),
        ],
        (Outcome::NotJudged, _) => [
            "The run was measured but not judged: it has no criterion.".to_owned(),
            String::new(),
        ],
        (Outcome::VirtualTime, _) => [
            "The run was made on an emulated machine in virtual time: it shows how long the software's \
             paths are, not how late a loop would be on real hardware."
                .to_owned(),
            String::new(),
        ],
    }
    .map(|text| text.trim().to_owned())
}

/// The reason why a condition does not pass, in a sentence.
fn stands_against(of: &Judgement, is_nearest: bool) -> String {
    let policy = of.name.policy.map(|policy| policy.to_string());
    let phase = &of.name.phase;
    let so = match (policy, is_nearest) {
        (Some(policy), true) => format!("{policy} came nearest: in phase {phase} it"),
        (Some(policy), false) => format!("In phase {phase}, under {policy}, it"),
        (None, _) => format!("In phase {phase} it"),
    };
    let mut bearing = of.reasons.iter();
    let reason = bearing.find(|reason| reason.bearing() == of.outcome);
    let missed = |missed: u64, due: u64| {
        let share = fraction(missed as f64 / due.max(1) as f64);
        format!(
            "missed {} of {} due times ({share})",
            count(missed),
            count(due)
        )
    };
    let would_decide = |more: &Option<MoreNeeded>| match more {
        Some(more) => format!(
            "; {} would decide it",
            counted(more.due_times, "more due time", "more due times")
        ),
        None => String::new(),
    };
    let does = match reason {
        Some(Reason::MissFractionAbove {
            missed: times,
            due,
            criterion,
            ..
        }) => format!(
            "{}; at most {} is tolerated",
            missed(*times, *due),
            fraction(*criterion)
        ),
        Some(Reason::MissesObserved {
            missed: times, due, ..
        }) => {
            format!("{}, and none is tolerated", missed(*times, *due))
        }
        Some(Reason::ConsecutiveMissesAbove { longest, limit }) => format!(
            "missed {} in a row; {} tolerated",
            counted(*longest, "due time", "due times"),
            match limit {
                0 => "none is".to_owned(),
                1 => "at most 1 is".to_owned(),
                limit => format!("at most {} are", count(*limit)),
            }
        ),
        Some(Reason::OutageAbove {
            longest_ns,
            limit_ns,
        }) => format!(
            "had an outage of {}; at most {} is tolerated",
            apart_from(longest_ns.cast_signed(), limit_ns.cast_signed()),
            length(*limit_ns)
        ),
        Some(Reason::MissFractionUndecided {
            missed: times,
            due,
            at_most,
            criterion,
            more,
            ..
        }) => match more {
            Some(_) => format!(
                "{}; {} are too few to decide{}",
                missed(*times, *due),
                count(*due),
                would_decide(more)
            ),
            None => missed_up_to(missed(*times, *due), *at_most, *criterion),
        },
        Some(Reason::MissesDepend {
            missed: times,
            due,
            evidence_unit,
            at_most,
            criterion,
            more,
            ..
        }) => {
            let worth = count((*due as f64 / evidence_unit) as u64);
            let what = if *times > 0 { "misses" } else { "near misses" };
            match more {
                Some(_) => format!(
                    "{}; {what} come together, so {} are worth {worth} independent ones, too few to \
                     decide{}",
                    missed(*times, *due),
                    counted(*due, "due time", "due times"),
                    would_decide(more)
                ),
                None => missed_up_to(missed(*times, *due), *at_most, *criterion),
            }
        }
        Some(Reason::EvidenceMissing { due, more, .. }) => format!(
            "missed none of {} due times, too few to decide{}",
            count(*due),
            would_decide(more)
        ),
        Some(other) => return sentence(&format!("{}: {other}", of.name)),
        None => return format!("{} decided it.", of.name),
    };
    format!("{so} {does}.")
}

/// Misses that the next step says no longer run will make few enough.
fn missed_up_to(missed: String, at_most: f64, criterion: f64) -> String {
    format!(
        "{missed}; the true share can be up to {}, and at most {} is tolerated",
        upper_fraction(at_most, criterion),
        fraction(criterion)
    )
}

fn recommended(found: &Recommendation, policies: usize, machine: &str) -> [String; 2] {
    let first = match (policies, found.among) {
        (0 | 1, _) => format!(
            "The loop meets its criterion {machine} under {}.",
            found.policy
        ),
        (all, 1) if found.open == 0 => format!(
            "Run this loop under {}: it is the only one of {all} policies that passed.",
            found.policy
        ),
        (all, 1) => format!(
            "Run this loop under {}: it is the only one of {all} policies that passed so far, and {} \
             not decided.",
            found.policy,
            counted(found.open, "other is", "others are")
        ),
        (_, among) if found.equivalent + 1 == among => format!(
            "Run this loop under {}: {among} policies passed, this run can't distinguish them, and it is \
             the usual one.",
            found.policy
        ),
        (_, among) => format!(
            "Run this loop under {}: {among} policies passed, and some of the others miss more.",
            found.policy
        ),
    };
    let missed = if found.margin.miss_fraction > 0.0 {
        format!(
            "it missed {} in its worst phase",
            fraction(found.margin.miss_fraction)
        )
    } else {
        "it missed nothing".to_owned()
    };
    let due = counted(found.margin.count, "due time", "due times");
    let room = match found.margin.head_room {
        room if room >= 0.0 => format!(
            ", and the largest value observed left {} of the limit",
            fraction(room)
        ),
        _ => String::new(),
    };
    [first, format!("Of {due}, {missed}{room}.")]
}

/// Limits of what the run shows.
pub(super) fn not_shown(assessment: &Assessment, explanation: Option<&Explanation>) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(answer::observed(assessment).map(|text| sentence(&text)));
    lines.extend(explanation.and_then(|of| not_traced(assessment, of)));
    let measured = assessment.conditions.iter().filter(|of| {
        let cycles = &of.cycles;
        cycles.scheduled > 0 && cycles.judged_seconds > 0.0
    });
    if let Some(of) = measured.min_by_key(|of| of.cycles.scheduled) {
        let seconds = of.cycles.judged_seconds / of.cycles.threads.max(1) as f64;
        lines.push(format!(
            "Events rarer than once in {}, which is {} of a condition.",
            three_digits((seconds * 1e3).round() as i64 * 1_000_000),
            counted(of.cycles.scheduled, "due time", "due times")
        ));
    }
    let quick = assessment.run.quick.iter();
    lines.extend(quick.map(|terms| sentence(&format!("this was a quick check: {terms}"))));
    let missing = assessment.not_measured.len() as u64;
    if missing > 0 {
        lines.push(format!(
            "The loop in {} that could not be measured.",
            counted(missing, "condition", "conditions")
        ));
    }
    lines.push(
        "The loop under other loads, on another machine, or after changes to this one.".into(),
    );
    if assessment.conditions.len() > 1 {
        let runs = count(assessment.conditions.len() as u64);
        lines.push(format!(
            "Differences from run to run of the same {runs} conditions: measure several, with restarts \
             between them."
        ));
    }
    lines
}

/// The traced cycles are not the judged ones. If none of the nearest policy was half as late as the judged ones, the
/// causes on this page are not those of its worst latency.
fn not_traced(assessment: &Assessment, explanation: &Explanation) -> Option<String> {
    if !matches!(assessment.outcome, Outcome::Failed | Outcome::Undecided) {
        return None;
    }
    let nearest = answer::nearest(assessment, assessment.outcome)?
        .name
        .policy?;
    let judged = assessment.conditions.iter();
    let judged = judged.filter(|of| of.name.policy == Some(nearest));
    let latencies = judged.flat_map(|of| &of.observations);
    let latencies = latencies.filter(|seen| seen.of == Observed::LatencyAsScheduled);
    let largest = latencies.map(|seen| seen.largest_ns).max()?;
    let policy = nearest.to_string();
    let traced = explanation.conditions.iter();
    let traced = traced.filter(|of| of.condition == policy);
    let traced = traced.flat_map(|of| &of.worst);
    let traced = traced.map(|cycle| cycle.latency_ns).max()?;
    (largest > traced.saturating_mul(2)).then(|| {
        format!(
            "The cause of the largest latency of {policy}, {}: no traced cycle was later than {}.",
            three_digits(largest),
            three_digits(traced)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::Policy;
    use wakepath_verdict::Margin;

    #[test]
    fn misses_that_no_longer_run_mends_are_said_with_their_bound() {
        assert_eq!(
            missed_up_to("missed 6 of 100 due times (6 %)".into(), 0.114, 0.05),
            "missed 6 of 100 due times (6 %); the true share can be up to 12 %, and at most 5 % \
             is tolerated"
        );
    }

    #[test]
    fn a_recommendation_is_two_plain_sentences() {
        let mut found = Recommendation {
            policy: Policy::Fifo { priority: 50 },
            margin: Margin {
                miss_fraction: 0.0,
                head_room: 0.13,
                count: 12_500,
            },
            among: 1,
            equivalent: 0,
            open: 0,
            equal_counts: true,
        };
        assert_eq!(
            recommended(&found, 8, "on this machine"),
            [
                "Run this loop under FIFO 50: it is the only one of 8 policies that passed.",
                "Of 12 500 due times, it missed nothing, and the largest value observed left 13 % \
                 of the limit."
            ]
        );
        assert_eq!(
            recommended(&found, 1, "on this machine without load")[0],
            "The loop meets its criterion on this machine without load under FIFO 50."
        );
        found.open = 3;
        assert!(
            recommended(&found, 8, "on this machine")[0]
                .ends_with("that passed so far, and 3 others are not decided.")
        );
        (found.among, found.equivalent) = (5, 4);
        assert!(recommended(&found, 8, "on this machine")[0].ends_with(
            "5 policies passed, this run can't distinguish them, and it is the usual one."
        ));
        found.margin.head_room = -1.0;
        found.margin.miss_fraction = 0.001;
        assert_eq!(
            recommended(&found, 1, "on this machine")[1],
            "Of 12 500 due times, it missed 0.1 % in its worst phase."
        );
    }
}
