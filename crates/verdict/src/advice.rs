//! Advice that would bring a policy to an answer, by its own reasons. Printing adds the commands.

use crate::{EarlyEnd, FlightFinding, Judgement, MoreNeeded, Outcome, Reason};
use serde::Serialize;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Advice {
    /// A longer run would decide it.
    MeasureLonger {
        /// How many times as long each condition has to be measured, at least.
        times: f64,
        /// Needs of the condition that needs most.
        more: MoreNeeded,
    },
    /// It was cut off, or not run everywhere: the same again, to its end.
    MeasureToTheEnd,
    /// At this miss rate a longer run won't pass: remove the causes of late cycles first.
    FindCauses {
        /// Where cycles are late.
        places: Vec<String>,
    },
    /// A right is missing.
    GetRight,
}

/// Needs of one undecided condition.
enum Asks {
    Time(f64, MoreNeeded),
    ItsEnd,
    Causes,
    /// Nothing that could be advised: its reason says what is not recorded.
    Nothing,
}

/// The advice for a policy that is undecided in these conditions; `lacks_places`: whether it was not
/// run in others.
pub(crate) fn advice(undecided: &[(String, &Judgement)], lacks_places: bool) -> Option<Advice> {
    let asks: Vec<(&String, Asks)> = undecided
        .iter()
        .map(|(place, judgement)| (place, asks(judgement)))
        .collect();
    let late = asks.iter().filter(|(_, asks)| matches!(asks, Asks::Causes));
    let places: Vec<String> = late.map(|(place, _)| (*place).clone()).collect();
    if !places.is_empty() {
        return Some(Advice::FindCauses { places });
    }
    let ends = || asks.iter().any(|(_, asks)| matches!(asks, Asks::ItsEnd));
    if lacks_places || ends() {
        return Some(Advice::MeasureToTheEnd);
    }
    let mut longest: Option<(f64, MoreNeeded)> = None;
    for (_, asks) in &asks {
        match asks {
            Asks::Time(times, more) if longest.is_none_or(|(most, _)| *times > most) => {
                longest = Some((*times, *more));
            }
            Asks::Time(..) => {}
            // A longer run would decide the others and leave this one.
            Asks::ItsEnd | Asks::Causes | Asks::Nothing => return None,
        }
    }
    longest.map(|(times, more)| Advice::MeasureLonger { times, more })
}

fn asks(judgement: &Judgement) -> Asks {
    let mut asks = Asks::Nothing;
    // What else a run that was cut off before its first cycle lacks follows from that.
    if judgement.reasons.contains(&Reason::InterruptedInWarmUp) {
        return Asks::ItsEnd;
    }
    let reasons = judgement.reasons.iter();
    for reason in reasons.filter(|reason| reason.bearing() == Outcome::Undecided) {
        match reason {
            Reason::MissFractionUndecided { more: None, .. }
            | Reason::MissesDepend { more: None, .. }
            | Reason::EvidenceMissing { more: None, .. } => return Asks::Causes,
            Reason::NotRecorded { .. }
            | Reason::Flight {
                finding: FlightFinding::NotFlown { .. },
            } => return Asks::Nothing,
            Reason::EndedEarly {
                cause: EarlyEnd::Interrupted,
            } => asks = Asks::ItsEnd,
            Reason::MissFractionUndecided {
                due,
                more: Some(more),
                ..
            }
            | Reason::MissesDepend {
                due,
                more: Some(more),
                ..
            }
            | Reason::EvidenceMissing {
                due,
                more: Some(more),
                ..
            } if !matches!(asks, Asks::ItsEnd) => {
                let times = 1.0 + more.due_times as f64 / (*due).max(1) as f64;
                asks = Asks::Time(times, *more);
            }
            _ => {}
        }
    }
    asks
}
