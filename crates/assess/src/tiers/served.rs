//! Due times held against a criterion for how soon each is served, and the verdict that bounds on the share of
//! late ones allow. What served them, a thread or an edge, is not known here.

use std::collections::BTreeSet;
use wakepath_scenario::Criterion;
use wakepath_statistics::MissClusters;
use wakepath_timeline::{Sample, SampleFlags};
use wakepath_verdict::{CLUSTER_GAP, JudgedWindow, Outcome};

/// Due times of one condition, held against a tier. A due time at which no cycle ran counts with the latency
/// that it suffered, and no more: a loop of 1 ms that skips one still serves a tier of 200 ms.
pub(super) struct Served {
    criterion: Criterion,
    pub misses: MissClusters,
    threads: BTreeSet<u32>,
    pub largest_ns: Option<i64>,
}

impl Served {
    pub fn new(criterion: Criterion) -> Self {
        Self {
            criterion,
            misses: MissClusters::new(CLUSTER_GAP),
            threads: BTreeSet::new(),
            largest_ns: None,
        }
    }

    pub fn add(&mut self, window: JudgedWindow, samples: &[Sample]) {
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

    pub fn serve(&mut self, due_ns: u64, wake_ns: u64, end_ns: u64, unanswered: bool) {
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
    pub fn judged(
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

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::Tier;
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
        let mut served = Served::new(Tier::named(tier).unwrap().criterion());
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
        let mut slow = Served::new(Tier::named("1 ms tier").unwrap().criterion());
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
