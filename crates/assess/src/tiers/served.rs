//! Due times held against a criterion for how soon each is served, and the verdict that bounds on the share of
//! late ones allow. What served them, a thread or an edge, is not known here.

use wakepath_scenario::Criterion;
use wakepath_timeline::Sample;
use wakepath_verdict::{
    Account, ConditionName, DueTally, JudgedWindow, Limits, Outcome, Skipped, judged, shown_by,
};

/// Due times of one condition, held against a tier. A due time at which no cycle ran counts with the latency
/// that it suffered, and no more: a loop of 1 ms that skips one still serves a tier of 200 ms.
pub(super) struct Served {
    criterion: Criterion,
    account: Account,
}

impl Served {
    pub fn new(criterion: Criterion) -> Self {
        Self {
            account: Account::with(Limits::new(&criterion), Skipped::ServedByNext),
            criterion,
        }
    }

    /// Adds a segment of one thread that contradicts itself nowhere.
    pub fn add(&mut self, window: JudgedWindow, samples: &[Sample]) {
        let _ = self.account.add_segment(window, samples, |_| ());
    }

    /// Their tally.
    pub fn tally(&self) -> DueTally {
        self.account.tally()
    }

    /// The outcome, and why it is no better; `own` is that of the run's own verdict on the condition, which says
    /// whether its samples can be trusted.
    pub fn judged(
        &self,
        name: &ConditionName,
        own: Outcome,
        seldom: bool,
        reason: impl FnOnce() -> String,
    ) -> (Outcome, String) {
        if matches!(own, Outcome::Invalid | Outcome::VirtualTime) {
            return (own, reason());
        }
        let tally = self.tally();
        if let Some(inconsistency) = tally.inconsistency {
            return (Outcome::Invalid, inconsistency.to_string());
        }
        if tally.scheduled() == 0 {
            return (Outcome::Undecided, "it has no individual samples".into());
        }
        let reasons = shown_by(&tally, &self.criterion);
        let found = judged(name, &tally, reasons, &self.criterion);
        match found.outcome {
            Outcome::Passed if seldom => {
                // A thread that wakes as seldom might be later if it is woken more often.
                let why = "met, but its loop's rate is below this tier's";
                (Outcome::Undecided, why.into())
            }
            Outcome::Passed => (Outcome::Passed, String::new()),
            outcome => (
                outcome,
                found
                    .reasons
                    .first()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::Tier;
    use wakepath_timeline::DueTimes;
    use wakepath_verdict::Gaps;

    /// A loop of 1 ms that wakes 20 µs after each due time except for a stall of `stall` periods at cycle 1000.
    fn served(tier: &str, cycles: u64, stall: u64) -> (Outcome, u64) {
        let served = loop_of(cycles, stall, tier);
        let judged = served.judged(&name(), Outcome::Failed, false, String::new);
        (judged.0, served.tally().misses.missed)
    }

    fn name() -> ConditionName {
        ConditionName {
            policy: None,
            phase: "idle".into(),
            task: None,
        }
    }

    fn loop_of(cycles: u64, stall: u64, tier: &str) -> Served {
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
            lost: 0,
            gaps: Gaps::Skipped,
        };
        let mut served = Served::new(Tier::named(tier).unwrap().criterion());
        served.add(window, &samples);
        served
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
        // One stall, but of more than twenty times what may be missed.
        assert_eq!(served("1 ms tier", 10_000, 1_200).0, Outcome::Failed);
    }

    #[test]
    fn what_was_due_more_seldom_proves_no_tier() {
        let slow = loop_of(10_000, 0, "1 ms tier");
        assert_eq!(
            slow.judged(&name(), Outcome::Passed, false, String::new).0,
            Outcome::Passed
        );
        assert_eq!(
            slow.judged(&name(), Outcome::Passed, true, String::new).0,
            Outcome::Undecided
        );
        assert_eq!(
            slow.judged(&name(), Outcome::Invalid, false, String::new).0,
            Outcome::Invalid
        );
    }
}
