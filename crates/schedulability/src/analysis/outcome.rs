//! Result of an analysis: proved, refuted, or neither.

use crate::bound::Bound;
use crate::sched_deadline::Parameters;

/// The answer for a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Analysis {
    /// One for each task, in the set's order.
    pub tasks: Vec<TaskAnswer>,
    /// Over all tasks.
    pub outcome: Outcome,
}

/// The answer for one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskAnswer {
    /// The bound on its response.
    pub bound: Bound,
    /// Whether every job is done by its deadline. Under EDF this can be known without a response:
    /// it is the whole CPU's demand that decides.
    pub schedulable: bool,
    /// Upper bound on how much a deadline can be missed, in nanoseconds, if there is one although the
    /// deadline itself is not proved.
    pub tardiness_ns: Option<u64>,
    /// Parameters for SCHED_DEADLINE; `None` under any other policy.
    pub parameters: Option<Parameters>,
}

/// Over a set, or one CPU's part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Every deadline is met.
    Schedulable,
    /// The tests at hand can't show that all deadlines are met; no counterexample is known.
    NotProvable,
    /// A deadline is missed when jobs come as they may.
    NotSchedulable(Refuted),
}

/// What refutes a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refuted {
    /// More execution than CPU time.
    Overload,
    /// This task's response, exact, is beyond its deadline.
    Response {
        /// Place of the task.
        task: usize,
    },
    /// In a stretch of time more is due than it holds.
    Demand {
        /// The stretch, in nanoseconds.
        length_ns: u64,
        /// Demand in it, in nanoseconds.
        needed_ns: u64,
    },
    /// Played through from these first releases, this task misses.
    Played {
        /// Place of the task.
        task: usize,
        /// The missed deadline, in nanoseconds from the start.
        deadline_ns: u64,
        /// Place of each task that shares the queue, and its first release in nanoseconds.
        offsets_ns: Vec<(usize, u64)>,
    },
}

impl Outcome {
    /// The worse of two parts.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (refuted @ Self::NotSchedulable(_), _) | (_, refuted @ Self::NotSchedulable(_)) => {
                refuted
            }
            (Self::NotProvable, _) | (_, Self::NotProvable) => Self::NotProvable,
            _ => Self::Schedulable,
        }
    }
}
