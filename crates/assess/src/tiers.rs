//! Which timing tiers a run's policies reach: the run judged anew by each tier's criterion. It measures
//! nothing, and makes no tier of a latency that was measured more seldom.

use crate::changes::run_changes;
use crate::conditions::group;
use crate::error::AssessmentError;
use crate::identity::{RunIdentity, identity, scenario_of};
use crate::judged::judged_with;
use serde::Serialize;
use std::collections::BTreeSet;
use wakepath_archive::{Run, SegmentRecord};
use wakepath_scenario::{Criterion, TIERS, Tier};
use wakepath_statistics::MissClusters;
use wakepath_timeline::{Sample, SampleFlags};
use wakepath_verdict::{CLUSTER_GAP, JudgedWindow, Outcome};

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
}

/// One tier.
#[derive(Debug, Clone, Serialize)]
pub struct ReachedTier {
    /// The tier.
    #[serde(flatten)]
    pub tier: Tier,
    /// What a loop must keep; `None` where no thread can.
    pub needs: Option<Criterion>,
    /// Whether some policy reaches it in every phase; `None` where no thread can.
    pub outcome: Option<Outcome>,
    /// What became of each policy.
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
    /// Why it is no better than that, in a few words; empty where it is reached.
    pub why: String,
}

impl Tiers {
    /// Judges a run by each tier.
    ///
    /// # Errors
    /// When the run or its scenario can't be read.
    pub fn of(run: &Run) -> Result<Self, AssessmentError> {
        let period_ns = scenario_of(run)?.period_ns;
        let tiers = TIERS.iter().map(|tier| reached(run, tier, period_ns));
        Ok(Self {
            run: identity(run),
            period_ns,
            kernel: kernel(run),
            tiers: tiers.collect::<Result<_, _>>()?,
        })
    }

    /// 0 where every tier that a thread can reach is, 2 where one is not, else 3.
    pub fn exit_code(&self) -> u8 {
        let outcomes = self.tiers.iter().filter_map(|tier| tier.outcome);
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
        let mut served = Served::new(tier);
        let mut each = |_: &SegmentRecord, window: JudgedWindow, samples: &[Sample]| {
            served.add(window, samples);
        };
        let judgement = judged_with(run, &scenario, &condition, &changes, &mut each)?;
        let (outcome, why) = served.judged(judgement.outcome, period_ns > tier.period_ns, || {
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
        let tally = served.misses.tally();
        one.scheduled += tally.due;
        one.missed += tally.missed;
        one.largest_latency_ns = one.largest_latency_ns.max(served.largest_ns);
        // A policy has the gravest outcome of its phases, and its reason.
        if place.is_none() || gravity(outcome) > gravity(one.outcome) {
            one.outcome = outcome;
            one.why = match why.is_empty() {
                true => why,
                false => format!("{}: {why}", condition.phase),
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

/// Due times of one condition, held against a tier. A due time at which no cycle ran counts with the latency
/// that it suffered, and no more: a loop of 1 ms that skips one still serves a tier of 200 ms.
struct Served {
    criterion: Criterion,
    misses: MissClusters,
    threads: BTreeSet<u32>,
    largest_ns: Option<i64>,
}

impl Served {
    fn new(tier: &Tier) -> Self {
        Self {
            criterion: tier.criterion(),
            misses: MissClusters::new(CLUSTER_GAP),
            threads: BTreeSet::new(),
            largest_ns: None,
        }
    }

    fn add(&mut self, window: JudgedWindow, samples: &[Sample]) {
        let end_ns = window.due.due_ns(window.end_cycle);
        let mut next = window.first_judged_cycle;
        let judged = samples
            .iter()
            .filter(|one| one.cycle >= window.first_judged_cycle);
        for sample in judged {
            for cycle in next..=sample.cycle.min(window.end_cycle - 1) {
                let due_ns = window.due.due_ns(cycle);
                let unanswered =
                    cycle == sample.cycle && sample.flags.contains(SampleFlags::UNANSWERED);
                self.serve(due_ns, sample.wake_ns, sample.end_ns, unanswered);
            }
            next = next.max(sample.cycle + 1);
            if next >= window.end_cycle {
                break;
            }
        }
        for cycle in next..window.end_cycle {
            self.serve(window.due.due_ns(cycle), end_ns, end_ns, false);
        }
        self.misses.end_series();
        self.threads.insert(window.thread);
    }

    fn serve(&mut self, due_ns: u64, wake_ns: u64, end_ns: u64, unanswered: bool) {
        let since = |ns: u64| ns.saturating_sub(due_ns);
        let late = self
            .criterion
            .latency_ns
            .is_some_and(|limit| since(wake_ns) > limit);
        self.misses
            .push(late || since(end_ns) > self.criterion.deadline_ns || unanswered);
        let latency_ns = wake_ns.wrapping_sub(due_ns).cast_signed();
        self.largest_ns = self.largest_ns.max(Some(latency_ns));
    }

    /// The outcome, and why it is no better; `own` is that of the run's own verdict on the condition, which says
    /// whether its samples can be trusted.
    fn judged(
        &self,
        own: Outcome,
        seldom: bool,
        reason: impl FnOnce() -> String,
    ) -> (Outcome, String) {
        if matches!(own, Outcome::Invalid | Outcome::VirtualTime) {
            return (own, reason());
        }
        let tally = self.misses.tally();
        if tally.due == 0 {
            return (
                Outcome::Undecided,
                "its samples are not there one by one".into(),
            );
        }
        let Criterion {
            confidence,
            miss_fraction,
            ..
        } = self.criterion;
        let at_most = tally.upper_bound(confidence, self.threads.len() as u64);
        let at_least = tally.lower_bound(confidence);
        let counted = format!(
            "{} of {} due times were served too late: at least {:.2} % and at most {:.2} %",
            tally.missed,
            tally.due,
            at_least * 100.0,
            at_most * 100.0
        );
        match (at_most <= miss_fraction, at_least > miss_fraction) {
            (true, _) if seldom => {
                // What is woken as seldom may be later when it is woken more often.
                let why = "kept, but its loop was due more seldom than this tier is";
                (Outcome::Undecided, why.into())
            }
            (true, _) => (Outcome::Passed, String::new()),
            (_, true) => (Outcome::Failed, counted),
            _ => (Outcome::Undecided, counted),
        }
    }
}

/// As the facts have it.
fn kernel(run: &Run) -> Option<String> {
    let facts = wakepath_machine::Facts::of_json(&run.manifest.facts.first()?.facts).ok()?;
    facts.fixed.kernel.release.known().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::DueTimes;

    /// A loop of 1 ms that wakes 20 µs after each due time but for a stall of `stall` periods at cycle 1000.
    fn served(tier: &str, cycles: u64, stall: u64) -> (Outcome, u64) {
        let due = DueTimes {
            start_ns: 1_000,
            period_ns: 1_000_000,
        };
        let sample = |cycle: u64| {
            let wake_ns = due.due_ns(cycle) + 20_000;
            Sample {
                cycle,
                due_ns: due.due_ns(cycle),
                wake_ns,
                end_ns: wake_ns + 10_000,
                ..Sample::default()
            }
        };
        let ran = (0..cycles).filter(|cycle| !(1000..1000 + stall).contains(cycle));
        let samples: Vec<Sample> = ran.map(sample).collect();
        let window = JudgedWindow {
            due,
            first_judged_cycle: 0,
            end_cycle: cycles,
            thread: 0,
        };
        let mut served = Served::new(Tier::named(tier).unwrap());
        served.add(window, &samples);
        let judged = served.judged(Outcome::Failed, false, String::new);
        (judged.0, served.misses.tally().missed)
    }

    #[test]
    fn a_skipped_due_time_counts_with_the_latency_that_it_suffered() {
        // They wait 5.02, 4.02, 3.02, 2.02 and 1.02 ms: all above 100 µs, four above 2 ms, none above 20 ms.
        assert_eq!(served("1 ms tier", 10_000, 5).1, 5);
        assert_eq!(served("20 ms tier", 10_000, 5).1, 4);
        assert_eq!(served("200 ms tier", 10_000, 5), (Outcome::Passed, 0));
    }

    #[test]
    fn the_verdict_is_that_of_bounds_on_the_share() {
        // Without a miss the bound is 1 − 0.05^(1/n): 0.49971 % for 598 due times, 0.50054 % for 597.
        assert_eq!(served("1 ms tier", 598, 0).0, Outcome::Passed);
        assert_eq!(served("1 ms tier", 597, 0).0, Outcome::Undecided);
        assert_eq!(served("1 ms tier", 10_000, 200).0, Outcome::Failed);
    }

    #[test]
    fn what_was_due_more_seldom_proves_no_tier() {
        let mut slow = Served::new(Tier::named("1 ms tier").unwrap());
        (0..10_000).for_each(|_| slow.serve(0, 20_000, 30_000, false));
        assert_eq!(
            slow.judged(Outcome::Passed, false, String::new).0,
            Outcome::Passed
        );
        assert_eq!(
            slow.judged(Outcome::Passed, true, String::new).0,
            Outcome::Undecided
        );
        assert_eq!(
            slow.judged(Outcome::Invalid, false, String::new).0,
            Outcome::Invalid
        );
    }
}
