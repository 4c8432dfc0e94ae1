//! From the verdicts on all conditions to the verdict on the run. A policy holds when it holds
//! under every load; whether one policy or all must hold is the criterion's choice.

use crate::advice::{Advice, advice};
use crate::wording::{count, counted, fraction};
use crate::{Judgement, Margin, Outcome};
use serde::Serialize;
use std::fmt;
use wakepath_scenario::PoliciesNeeded;
use wakepath_timeline::Policy;

/// The verdict on a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overall {
    /// The verdict.
    pub outcome: Outcome,
    /// Which policies had to hold.
    pub needed: PoliciesNeeded,
    /// Outcome of each policy, in the order of the judgements.
    pub policies: Vec<PolicyOutcome>,
    /// Which policy to use; `None` if none passed, or there was but one.
    pub recommendation: Option<Recommendation>,
}

/// A policy over all phases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyOutcome {
    /// The policy; `None` for a task set in which every task has its own.
    pub policy: Option<Policy>,
    /// Failed if it failed anywhere, else invalid if it is invalid anywhere, else virtual time if
    /// it is in virtual time, else undecided if it is undecided anywhere or was not run in every
    /// phase, else passed.
    pub outcome: Outcome,
    /// Phases (and tasks) that decided it: those with this outcome, or those it was not run in.
    pub decided_by: Vec<String>,
    /// Its worst margin over all phases; `None` without a criterion.
    pub margin: Option<Margin>,
    /// Advice that would bring it to an answer, if it has none and there is any.
    pub advice: Option<Advice>,
}

/// The policy to use among those that passed: the usual one of those that missed no more than another
/// did, as far as the run can tell them apart. FIFO comes first, at its lowest priority, then RR, then
/// DEADLINE, then other real-time policies. Largest values decide nothing: they are noise.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// The policy.
    pub policy: Policy,
    /// Its worst margin over all phases.
    pub margin: Margin,
    /// How many policies passed.
    pub among: u64,
    /// How many of these the run can't tell from it.
    pub equivalent: u64,
    /// How many policies have no answer yet.
    pub open: u64,
    /// Whether all that passed were observed over nearly as many due times (within a tenth).
    /// Otherwise their largest values don't compare.
    pub equal_counts: bool,
}

/// Combines the verdicts on all conditions.
///
/// - `Any`: passed if some policy passed in every phase and no condition is invalid; failed if
///   every policy failed somewhere; otherwise undecided, or invalid if only invalid conditions
///   prevent an answer.
/// - `Every`: failed if any policy failed, then invalid, then undecided, otherwise passed.
///
/// Virtual time is no answer to either: a run in it is of its own kind, unless it is invalid. So is
/// one without a criterion.
/// No condition at all is invalid.
pub fn overall(needed: PoliciesNeeded, judgements: &[Judgement]) -> Overall {
    let policies = policies(judgements);
    let any = |outcome| policies.iter().any(|policy| policy.outcome == outcome);
    let order = match needed {
        PoliciesNeeded::Any => [
            Outcome::VirtualTime,
            Outcome::NotJudged,
            Outcome::Passed,
            Outcome::Undecided,
            Outcome::Invalid,
            Outcome::Failed,
        ],
        PoliciesNeeded::Every => [
            Outcome::Failed,
            Outcome::Invalid,
            Outcome::VirtualTime,
            Outcome::NotJudged,
            Outcome::Undecided,
            Outcome::Passed,
        ],
    };
    let outcome = order
        .into_iter()
        .find(|&outcome| any(outcome))
        .unwrap_or(Outcome::Invalid);
    // Something went wrong during the measurement: the passed conditions are not evidence either.
    let is_invalid = |judgement: &Judgement| judgement.outcome == Outcome::Invalid;
    let outcome = match outcome {
        Outcome::Passed if judgements.iter().any(is_invalid) => Outcome::Invalid,
        other => other,
    };
    let recommendation = recommendation(&policies, judgements);
    Overall {
        outcome,
        needed,
        policies,
        recommendation,
    }
}

/// Phase, with the task where tasks are judged one by one.
fn place(judgement: &Judgement) -> String {
    match &judgement.name.task {
        Some(task) => format!("{}, {task}", judgement.name.phase),
        None => judgement.name.phase.clone(),
    }
}

fn policies(judgements: &[Judgement]) -> Vec<PolicyOutcome> {
    let mut places: Vec<String> = Vec::new();
    let mut names: Vec<Option<Policy>> = Vec::new();
    for judgement in judgements {
        let place = place(judgement);
        if !places.contains(&place) {
            places.push(place);
        }
        if !names.contains(&judgement.name.policy) {
            names.push(judgement.name.policy);
        }
    }
    let of = |policy: Option<Policy>| {
        let own: Vec<&Judgement> = judgements
            .iter()
            .filter(|judgement| judgement.name.policy == policy)
            .collect();
        let not_run: Vec<String> = places
            .iter()
            .filter(|place| {
                !own.iter()
                    .any(|judgement| crate::overall::place(judgement) == **place)
            })
            .cloned()
            .collect();
        let found = gravest(&own);
        let lacks_places = !not_run.is_empty();
        let (outcome, decided_by) = match found {
            None if !not_run.is_empty() => (Outcome::Undecided, not_run),
            found => {
                let outcome = found.unwrap_or(Outcome::Passed);
                let with_it = own.iter().filter(|judgement| judgement.outcome == outcome);
                (outcome, with_it.map(|judgement| place(judgement)).collect())
            }
        };
        let undecided: Vec<(String, &Judgement)> = own
            .iter()
            .filter(|judgement| judgement.outcome == Outcome::Undecided)
            .map(|judgement| (place(judgement), *judgement))
            .collect();
        let advice = (outcome == Outcome::Undecided)
            .then(|| advice(&undecided, lacks_places))
            .flatten();
        let margins = own.iter().filter_map(|judgement| judgement.margin);
        let margin = margins.reduce(worse);
        PolicyOutcome {
            policy,
            outcome,
            decided_by,
            margin,
            advice,
        }
    };
    names.into_iter().map(of).collect()
}

fn worse(one: Margin, other: Margin) -> Margin {
    Margin {
        miss_fraction: one.miss_fraction.max(other.miss_fraction),
        head_room: one.head_room.min(other.head_room),
        count: one.count.min(other.count),
    }
}

fn recommendation(policies: &[PolicyOutcome], judgements: &[Judgement]) -> Option<Recommendation> {
    if policies.len() < 2 {
        return None;
    }
    let mut passed: Vec<(Policy, Margin)> = policies
        .iter()
        .filter(|policy| policy.outcome == Outcome::Passed)
        .filter_map(|policy| Some((policy.policy?, policy.margin?)))
        .collect();
    passed.sort_by_cached_key(|(policy, _)| usual(*policy));
    let comparisons = passed.len() * passed.len() * judgements.len();
    let misses_more = |one: Policy, other: Policy| misses_more(judgements, one, other, comparisons);
    let is_beaten = |one: Policy| passed.iter().any(|(other, _)| misses_more(one, *other));
    let &(policy, margin) = passed.iter().find(|(policy, _)| !is_beaten(*policy))?;
    let others = passed.iter().filter(|(other, _)| *other != policy);
    let equivalent = others.filter(|(other, _)| !misses_more(*other, policy));
    let open = [Outcome::Undecided, Outcome::Invalid];
    let counts = || passed.iter().map(|(_, margin)| margin.count);
    let (least, most) = (counts().min()?, counts().max()?);
    Some(Recommendation {
        policy,
        margin,
        among: passed.len() as u64,
        equivalent: equivalent.count() as u64,
        open: policies
            .iter()
            .filter(|policy| open.contains(&policy.outcome))
            .count() as u64,
        equal_counts: most - least <= most / 10,
    })
}

/// Rank of policies with indistinguishable results; of equal ones the first named.
fn usual(policy: Policy) -> (u32, u32) {
    match policy {
        Policy::Fifo { priority } => (0, priority.into()),
        Policy::RoundRobin { priority } => (1, priority.into()),
        Policy::Deadline { .. } => (2, 0),
        other if other.is_real_time() => (3, 0),
        _ => (4, 0),
    }
}

/// Whether `one` misses more than `other` in some place, beyond chance: its lower bound is above the
/// other's upper bound, at 95 % confidence over all comparisons together.
fn misses_more(judgements: &[Judgement], one: Policy, other: Policy, comparisons: usize) -> bool {
    let confidence = 1.0 - 0.05 / (2.0 * comparisons as f64);
    let of = |policy| {
        judgements
            .iter()
            .filter(move |judgement| judgement.name.policy == Some(policy))
            .filter_map(|judgement| {
                let misses = judgement.cycles.misses?.tally();
                Some((place(judgement), misses, judgement.cycles.threads))
            })
    };
    of(one).any(|(at, missed, threads)| {
        let at_least = missed.lower_bound(confidence, threads);
        at_least > 0.0
            && of(other).any(|(beside, misses, threads)| {
                beside == at && at_least > misses.upper_bound(confidence, threads)
            })
    })
}

impl fmt::Display for Recommendation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Margin {
            miss_fraction,
            head_room,
            count: due,
        } = self.margin;
        let missed = if miss_fraction > 0.0 {
            format!("missed {} in its worst phase", fraction(miss_fraction))
        } else {
            "missed nothing".to_owned()
        };
        let passed = count(self.among);
        match (self.among, self.equivalent + 1 == self.among) {
            (1, _) if self.open == 0 => write!(f, "{}: the only policy that passed", self.policy)?,
            (1, _) => write!(
                f,
                "{}: the only policy that passed so far, {} not decided",
                self.policy,
                counted(self.open, "other is", "others are")
            )?,
            (_, true) => write!(
                f,
                "{}: the usual one of the {passed} policies that passed, which are equivalent here",
                self.policy
            )?,
            (_, false) => write!(
                f,
                "{}: of the {passed} policies that passed, {} equivalent and the others miss more",
                self.policy,
                counted(self.equivalent, "other is", "others are")
            )?,
        }
        write!(f, "; it {missed}")?;
        if head_room >= 0.0 {
            let left = fraction(head_room);
            write!(
                f,
                " and the largest of {} observed left {left} of the limit",
                count(due)
            )?;
        }
        if self.among > 1 && !self.equal_counts {
            write!(
                f,
                "; the policies were observed over unequal counts, so compare with care"
            )?;
        }
        Ok(())
    }
}
/// The outcome of several conditions shown as one; `None` if all passed.
pub fn gravest(judgements: &[&Judgement]) -> Option<Outcome> {
    let order = [
        Outcome::Failed,
        Outcome::Invalid,
        Outcome::VirtualTime,
        Outcome::NotJudged,
        Outcome::Undecided,
    ];
    let of = |outcome| judgements.iter().any(|judged| judged.outcome == outcome);
    order.into_iter().find(|&outcome| of(outcome))
}
