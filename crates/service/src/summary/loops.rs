//! One loop of a service's history.

use crate::history::RoundFinding;
use std::collections::BTreeMap;
use wakepath_scenario::Criterion;
use wakepath_statistics::LatencyHistogram;
use wakepath_verdict::{ConditionName, DueTally};

/// One loop, under the criterion that it has now.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopSummary {
    /// Its period in nanoseconds.
    pub period_ns: u64,
    /// The policy of its thread.
    pub policy: String,
    /// The condition that it is judged as.
    pub condition: ConditionName,
    /// Its criterion; `None` if the requested one doesn't fit the loop.
    pub criterion: Option<Criterion>,
    /// Counts of its due times by outcome.
    pub tally: DueTally,
    /// Times that it ended with its program, while it ran.
    pub died: u64,
    /// Times that the machine went down while it ran.
    pub switched_off: u64,
    /// All latencies.
    pub latencies: LatencyHistogram,
    /// By day in UTC, such as `2026-11-23`.
    pub days: BTreeMap<String, Day>,
    /// Findings in rounds, other than counts.
    pub rounds: RoundFindings,
    /// Minutes under another criterion, which are not in these figures.
    pub other_criterion: u64,
    /// Segment and end of the last minute.
    pub(super) last_to: (String, u64),
    /// Whether it has begun without a recorded end.
    pub(super) is_under_way: bool,
}

/// Findings about a loop in a scenario's rounds, other than its counts: the number of rounds, and
/// the last reason.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RoundFindings {
    /// Rounds that are no evidence, and are not in the counts: number and last reason.
    pub invalid: (u64, String),
    /// Rounds that break the criterion by more than counts.
    pub failed: (u64, String),
    /// Rounds that leave something open.
    pub undecided: (u64, String),
}

impl RoundFindings {
    pub(super) fn take(&mut self, finding: RoundFinding) {
        let (of, why) = match finding {
            RoundFinding::Invalid(why) => (&mut self.invalid, why),
            RoundFinding::Failed(why) => (&mut self.failed, why),
            RoundFinding::Undecided(why) => (&mut self.undecided, why),
        };
        *of = (of.0 + 1, why);
    }
}

/// One day of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Day {
    /// Due times without those lost.
    pub due: u64,
    /// Misses.
    pub missed: u64,
    /// Not recorded.
    pub lost: u64,
    /// Largest latency.
    pub max_ns: i64,
}

impl LoopSummary {
    pub(super) fn new(
        period_ns: u64,
        condition: ConditionName,
        criterion: Option<Criterion>,
    ) -> Self {
        Self {
            period_ns,
            policy: String::new(),
            condition,
            criterion,
            tally: DueTally::default(),
            died: 0,
            switched_off: 0,
            latencies: LatencyHistogram::new(),
            days: BTreeMap::new(),
            rounds: RoundFindings::default(),
            other_criterion: 0,
            last_to: (String::new(), 0),
            is_under_way: false,
        }
    }

    /// Cycles that aren't recorded.
    pub fn lost(&self) -> u64 {
        lost_in(&self.tally)
    }
}

/// Lost samples of all kinds.
pub(crate) fn lost_in(tally: &DueTally) -> u64 {
    tally.lost.saturating_add(tally.lost_elsewhere)
}
