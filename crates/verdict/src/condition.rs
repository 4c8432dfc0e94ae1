//! One condition: a policy under the load of a phase, with what was measured and what was judged.

use crate::{
    Caution, CycleRecord, CycleSummary, MoreNeeded, Observation, Outcome, Provenance, Reason,
};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use wakepath_timeline::Policy;

/// Which condition it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionName {
    /// The policy compared; `None` for a task set in which every task has its own.
    pub policy: Option<Policy>,
    /// The phase, such as `idle`.
    pub phase: String,
    /// The task, where tasks are judged one by one (each against its own deadline).
    pub task: Option<String>,
}

/// The judged condition.
#[derive(Debug, Clone, Copy)]
pub struct Condition<'a> {
    /// Which condition.
    pub name: &'a ConditionName,
    /// Its due times.
    pub record: &'a CycleRecord,
    /// How they were measured.
    pub provenance: &'a Provenance,
}

/// The verdict on one condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// Which condition.
    pub name: ConditionName,
    /// The verdict.
    pub outcome: Outcome,
    /// Reasons, most serious first.
    pub reasons: Vec<Reason>,
    /// Cautions for the reader; they never change the outcome.
    pub cautions: Vec<Caution>,
    /// The largest values observed; no bounds, and no part in the verdict.
    pub observations: Vec<Observation>,
    /// How much longer the run must be, where a longer one would decide it.
    pub more: Option<MoreNeeded>,
    /// How far from the criterion; compares policies that passed. `None` without a criterion.
    pub margin: Option<Margin>,
    /// The figures judged.
    pub cycles: CycleSummary,
}

impl Judgement {
    /// With one more reason, and the outcome that follows.
    #[must_use]
    pub fn with(mut self, reason: Reason) -> Self {
        self.reasons.push(reason);
        self.reasons.sort_by_cached_key(Reason::rank);
        self.outcome = Outcome::of_reasons(self.reasons.iter().map(Reason::bearing));
        self.more = self.more.filter(|_| self.outcome == Outcome::Undecided);
        self
    }

    /// Without a verdict, because no criterion was given. Doubts about the run itself stay.
    #[must_use]
    pub fn without_criterion(mut self) -> Self {
        self.more = None;
        self.margin = None;
        self.cycles = self.cycles.without_criterion();
        // They speak of misses.
        self.cautions.retain(|caution| !caution.is_of_misses());
        self.reasons
            .retain(|reason| reason.bearing() == Outcome::Invalid);
        self.with(Reason::NoCriterion)
    }
}

/// How far a condition stayed from its criterion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Margin {
    /// Share of due times missed.
    pub miss_fraction: f64,
    /// Smallest of 1 − largest latency / latency bound and 1 − largest response / deadline;
    /// negative beyond the limit. The largest values are those of `count` observed.
    pub head_room: f64,
    /// Due times observed. Maxima of unequal counts don't compare.
    pub count: u64,
}

impl Margin {
    /// Orders by the share of due times missed; no margin comes first.
    pub fn by_misses(one: Option<Self>, other: Option<Self>) -> Ordering {
        let missed = |of: Option<Self>| of.map_or(-1.0, |margin| margin.miss_fraction);
        missed(one).total_cmp(&missed(other))
    }

    /// Orders by the share of due times missed, then by the room left, most room first.
    pub fn by_tightness(one: Option<Self>, other: Option<Self>) -> Ordering {
        let room = |of: Option<Self>| of.map_or(f64::INFINITY, |margin| margin.head_room);
        Self::by_misses(one, other).then(room(other).total_cmp(&room(one)))
    }
}

impl fmt::Display for ConditionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.policy {
            Some(policy) => write!(f, "{policy}, {}", self.phase)?,
            None => write!(f, "{}", self.phase)?,
        }
        match &self.task {
            Some(task) => write!(f, ", {task}"),
            None => Ok(()),
        }
    }
}
