//! Which timing tiers a run's policies reach: the run judged again by each tier's criterion. It measures
//! nothing, and makes no tier of a latency that was measured more seldom.

mod matching;
mod pin;
mod served;

pub use pin::{Pin, PinInTier, PinStepFigures, kept_pin};

use crate::changes::run_changes;
use crate::conditions::group;
use crate::error::AssessmentError;
use crate::identity::{RunIdentity, identity, scenario_of};
use crate::judged::judged_with;
use serde::Serialize;
use served::Served;
use wakepath_archive::{Run, SegmentRecord};
use wakepath_scenario::{Criterion, TIERS, Tier};
use wakepath_timeline::Sample;
use wakepath_verdict::{JudgedWindow, Outcome};

/// All tiers, by the evidence of one run.
#[derive(Debug, Clone, Serialize)]
pub struct Tiers {
    /// Which run.
    pub run: RunIdentity,
    /// Its loop's period, in nanoseconds.
    pub period_ns: u64,
    /// The kernel's release; `None` where the run does not know it.
    pub kernel: Option<String>,
    /// From the shortest to the longest.
    pub tiers: Vec<ReachedTier>,
    /// How finely a pin was driven; `None` without one.
    pub pin: Option<Pin>,
}

/// One tier.
#[derive(Debug, Clone, Serialize)]
pub struct ReachedTier {
    /// The tier.
    #[serde(flatten)]
    pub tier: Tier,
    /// The criterion of a loop; `None` if no thread can meet it.
    pub needs: Option<Criterion>,
    /// Whether some policy reaches it in every phase; `None` if no thread can.
    pub outcome: Option<Outcome>,
    /// Outcome of each policy.
    pub policies: Vec<PolicyInTier>,
}

/// A policy in a tier.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyInTier {
    /// Its name, or "own" for a task set in which each task has one.
    pub policy: String,
    /// Over all phases.
    pub outcome: Outcome,
    /// Due times of all phases.
    pub scheduled: u64,
    /// Of those, the ones that were served later than the tier allows.
    pub missed: u64,
    /// Largest wake-up latency over all due times, in nanoseconds.
    pub largest_latency_ns: Option<i64>,
    /// Why it is no better, in a few words; empty if it is reached.
    pub why: String,
}

impl Tiers {
    /// Judges a run by each tier.
    ///
    /// # Errors
    /// When the run or its scenario can't be read.
    pub fn new(run: &Run) -> Result<Self, AssessmentError> {
        let period_ns = scenario_of(run)?.period_ns;
        let tiers = TIERS.iter().map(|tier| reached(run, tier, period_ns));
        Ok(Self {
            run: identity(run),
            period_ns,
            kernel: kernel(run),
            tiers: tiers.collect::<Result<_, _>>()?,
            pin: kept_pin(run)?
                .map(|record| Pin::new(&record, run.manifest.virtual_time.is_some())),
        })
    }

    /// 0 if every tier that a thread can reach is reached, by its pin too if one was driven, 2 if
    /// one is not, otherwise 3.
    pub fn exit_code(&self) -> u8 {
        let by_pin = self.pin.iter().flat_map(|pin| &pin.tiers);
        let threads = self.tiers.iter().filter_map(|tier| tier.outcome);
        let outcomes = threads.chain(by_pin.map(|tier| tier.outcome));
        let codes: Vec<u8> = outcomes.map(Outcome::exit_code).collect();
        let order = [2, 1, 3, 0];
        let gravest = order.into_iter().find(|code| codes.contains(code));
        gravest.unwrap_or(3)
    }
}

fn reached(run: &Run, tier: &'static Tier, period_ns: u64) -> Result<ReachedTier, AssessmentError> {
    let mut reached = ReachedTier {
        tier: *tier,
        needs: None,
        outcome: None,
        policies: Vec::new(),
    };
    if tier.out_of_reach.is_some() {
        return Ok(reached);
    }
    let mut scenario = scenario_of(run)?;
    scenario.criterion = tier.criterion();
    let changes = run_changes(&run.manifest.facts);
    let mut lacks_one = false;
    for condition in group(&run.manifest, &scenario) {
        if condition.never_started().is_some() {
            lacks_one = true;
            continue;
        }
        let mut served = Served::new(tier.criterion());
        let mut each = |_: &SegmentRecord, window: JudgedWindow, samples: &[Sample]| {
            served.add(window, samples);
        };
        let judgement = judged_with(run, &scenario, &condition, &changes, &mut each)?;
        let seldom = period_ns > tier.period_ns;
        let (outcome, why) = served.judged(&judgement.name, judgement.outcome, seldom, || {
            let reason = judgement.reasons.first();
            reason.map_or(String::new(), ToString::to_string)
        });
        let policy = condition
            .policy
            .map_or("own".to_owned(), |one| one.to_string());
        let place = reached.policies.iter().position(|one| one.policy == policy);
        let at = place.unwrap_or(reached.policies.len());
        if place.is_none() {
            reached.policies.push(PolicyInTier {
                policy,
                outcome,
                scheduled: 0,
                missed: 0,
                largest_latency_ns: None,
                why: String::new(),
            });
        }
        let one = &mut reached.policies[at];
        let tally = served.tally();
        one.scheduled += tally.scheduled();
        one.missed += tally.misses.missed;
        one.largest_latency_ns = one.largest_latency_ns.max(tally.largest_suffered_ns);
        // A policy has the worst outcome of its phases, and its reason.
        if place.is_none() || gravity(outcome) > gravity(one.outcome) {
            one.outcome = outcome;
            one.why = if why.is_empty() {
                why
            } else {
                format!("{}: {why}", condition.phase)
            };
        }
    }
    let mut outcomes = reached.policies.iter().map(|one| one.outcome);
    let best = outcomes.by_ref().min_by_key(|&outcome| gravity(outcome));
    reached.outcome = Some(match best {
        // A policy that could not be measured might have reached it.
        Some(Outcome::Failed) | None if lacks_one => Outcome::Undecided,
        best => best.unwrap_or(Outcome::Invalid),
    });
    reached.needs = Some(scenario.criterion);
    Ok(reached)
}

fn gravity(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed => 0,
        Outcome::NotJudged | Outcome::Undecided => 1,
        Outcome::VirtualTime => 2,
        Outcome::Invalid => 3,
        Outcome::Failed => 4,
    }
}

/// As the facts have it.
fn kernel(run: &Run) -> Option<String> {
    let facts = wakepath_machine::Facts::of_json(&run.manifest.facts.first()?.facts).ok()?;
    facts.fixed.kernel.release.known().cloned()
}
