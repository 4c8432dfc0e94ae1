//! Why a policy did not pass, in the few words that fit next to its verdict, and in fewer for a terminal's
//! row. The whole reason is in the chapters.

use crate::label::policy as label;
use serde::{Deserialize, Serialize};
use wakepath_assess::Assessment;
use wakepath_timeline::duration::{apart_from, length, long, three_digits};
use wakepath_timeline::one_line;
use wakepath_verdict::{Judgement, Margin, Outcome, Reason, count, fraction};

/// The reason of a row; its texts are empty where the policy passed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// The phase that decided.
    pub phase: Option<String>,
    /// The reason: `0.61 % missed, needs 12 s more`.
    pub reason: String,
    /// A text short enough for a row: `needs 12 s`; empty if nothing so short is true.
    pub brief: String,
    /// Position of the sentence in [`super::Answer::because`] that gives the same reason.
    pub sentence: Option<usize>,
}

impl Why {
    /// With its phase: `stress: 0.61 % missed, needs 12 s more`.
    pub(crate) fn whole(&self) -> String {
        match &self.phase {
            Some(phase) => format!("{phase}: {}", self.reason),
            None => self.reason.clone(),
        }
    }
}

/// Of the row with this label. Of a policy with this outcome the reason is one for that outcome: a phase that can't be
/// judged does not explain a failure in another.
pub(super) fn why(assessment: &Assessment, row: &str, outcome: Option<Outcome>) -> Why {
    let own = assessment.conditions.iter();
    let own: Vec<&Judgement> = own.filter(|of| label(&of.name) == row).collect();
    let told = own.iter().flat_map(|of| {
        let bearing = of.reasons.iter();
        let bearing = bearing.filter_map(|reason| Some((reason, gravity(reason.bearing())?)));
        bearing.map(|(reason, gravity)| {
            let decides = Some(reason.bearing()) == outcome;
            (*of, reason, (decides, gravity))
        })
    });
    // The worst; of several the one of the condition that missed most.
    let worst = told.max_by(|a, b| {
        let by_misses = Margin::by_misses(a.0.margin, b.0.margin);
        a.2.cmp(&b.2)
            .then(by_misses)
            .then(rank(a.1).cmp(&rank(b.1)))
    });
    if let Some((of, reason, _)) = worst {
        return Why {
            phase: Some(one_line(&of.name.phase)),
            reason: one_line(&words(reason)),
            brief: brief(reason),
            sentence: None,
        };
    }
    let missing = assessment.not_measured.iter();
    let mut missing = missing.filter(|of| own.is_empty() && one_line(&of.condition) == row);
    let reason = missing.next().map(|of| one_line(&of.reason));
    Why {
        reason: reason.unwrap_or_default(),
        ..Why::default()
    }
}

/// Only reasons against passing are shown.
fn gravity(bearing: Outcome) -> Option<u8> {
    match bearing {
        Outcome::Invalid => Some(2),
        Outcome::Failed => Some(1),
        Outcome::Undecided => Some(0),
        Outcome::Passed | Outcome::VirtualTime | Outcome::NotJudged => None,
    }
}

/// Of several reasons of one condition the share of misses says most.
fn rank(reason: &Reason) -> u8 {
    match reason {
        Reason::MissFractionAbove { .. }
        | Reason::MissFractionUndecided { .. }
        | Reason::MissesDepend { .. } => 3,
        // As the judge lists them: the sentence above the row has the first.
        Reason::ConsecutiveMissesAbove { .. } => 2,
        Reason::OutageAbove { .. } => 1,
        _ => 0,
    }
}

fn words(reason: &Reason) -> String {
    let share = |missed: u64, due: u64| fraction(missed as f64 / due.max(1) as f64);
    match reason {
        Reason::MissFractionAbove { missed, due, .. } => {
            format!("{} missed", share(*missed, *due))
        }
        Reason::MissesObserved { missed, .. } => format!("{} missed, none allowed", count(*missed)),
        Reason::ConsecutiveMissesAbove { longest, limit } => {
            format!(
                "{} missed in a row, {} allowed",
                count(*longest),
                count(*limit)
            )
        }
        Reason::OutageAbove {
            longest_ns,
            limit_ns,
        } => format!(
            "outage of {}, {} allowed",
            apart_from(longest_ns.cast_signed(), limit_ns.cast_signed()),
            length(*limit_ns)
        ),
        Reason::MissFractionUndecided {
            missed, due, more, ..
        }
        | Reason::MissesDepend {
            missed, due, more, ..
        } => match more {
            Some(more) => format!(
                "{} missed, needs {} more",
                share(*missed, *due),
                long(more.seconds)
            ),
            None => format!("{} missed, too many", share(*missed, *due)),
        },
        Reason::EvidenceMissing { more, .. } => match more {
            Some(more) => format!("none missed, needs {} more", long(more.seconds)),
            None => "too few due times".to_owned(),
        },
        other => other.to_string(),
    }
}

/// Without what the row's figures say already.
fn brief(reason: &Reason) -> String {
    let share = |missed: u64, due: u64| fraction(missed as f64 / due.max(1) as f64);
    match reason {
        Reason::MissFractionAbove { missed, due, .. } => {
            format!("{} missed", share(*missed, *due))
        }
        Reason::MissesObserved { missed, .. } => format!("{} missed", count(*missed)),
        Reason::ConsecutiveMissesAbove { longest, .. } => format!("{} in a row", count(*longest)),
        Reason::OutageAbove { longest_ns, .. } => {
            format!("outage {}", three_digits(longest_ns.cast_signed()))
        }
        Reason::MissFractionUndecided { more: None, .. }
        | Reason::MissesDepend { more: None, .. } => "too many missed".to_owned(),
        Reason::MissFractionUndecided {
            more: Some(more), ..
        }
        | Reason::MissesDepend {
            more: Some(more), ..
        }
        | Reason::EvidenceMissing {
            more: Some(more), ..
        } => format!("needs {}", coarse(more.seconds)),
        Reason::EvidenceMissing { more: None, .. } => "too few due times".to_owned(),
        _ => String::new(),
    }
}

/// A time to wait in its largest unit alone, rounded up.
fn coarse(seconds: f64) -> String {
    let whole = long(seconds);
    let unit = match whole.split(' ').nth(1) {
        Some("min") => 60.0,
        Some("h") => 3_600.0,
        Some("days") => 86_400.0,
        _ => return whole,
    };
    long((seconds / unit).ceil() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_verdict::MoreNeeded;

    #[test]
    fn reasons_are_told_in_a_few_words() {
        let more = Some(MoreNeeded {
            due_times: 1_000,
            seconds: 11.2,
        });
        let undecided = |more| Reason::MissFractionUndecided {
            missed: 3,
            due: 490,
            evidence_unit: 1.0,
            at_most: 0.016,
            confidence: 0.95,
            criterion: 0.005,
            more,
        };
        assert_eq!(words(&undecided(more)), "0.61 % missed, needs 12 s more");
        assert_eq!(words(&undecided(None)), "0.61 % missed, too many");
        let outage = Reason::OutageAbove {
            longest_ns: 74_123_000,
            limit_ns: 12_000_000,
        };
        assert_eq!(words(&outage), "outage of 74.1 ms, 12 ms allowed");
        assert_eq!(brief(&undecided(more)), "needs 12 s");
        assert_eq!(brief(&undecided(None)), "too many missed");
        assert_eq!(brief(&outage), "outage 74.1 ms");
    }

    #[test]
    fn a_row_gives_the_reason_that_the_sentence_above_it_gives() {
        let in_a_row = Reason::ConsecutiveMissesAbove {
            longest: 8,
            limit: 1,
        };
        let outage = Reason::OutageAbove {
            longest_ns: 8_070_000,
            limit_ns: 3_000_000,
        };
        assert!(rank(&in_a_row) > rank(&outage));
    }

    #[test]
    fn a_time_to_wait_is_rounded_up_to_its_largest_unit() {
        let all = [0.2, 119.0, 1_353.0, 7_300.0, 172_900.0].map(coarse);
        assert_eq!(all, ["1 s", "119 s", "23 min", "3 h", "3 days"]);
    }
}
