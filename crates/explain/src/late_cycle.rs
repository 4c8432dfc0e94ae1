//! A late cycle as it is written to `explanation.json` and shown.

use crate::cause::{Cause, RanIn};
use crate::cycle::{Explained, Piece};
use crate::share::shares;
use crate::told::{LateLine, LateSection};
use serde::{Deserialize, Serialize};

/// One late cycle with its pieces.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateCycle {
    /// Segment of the run.
    pub segment: u32,
    /// Number of the cycle.
    pub cycle: u64,
    /// When it was due, in nanoseconds on `CLOCK_MONOTONIC`.
    pub due_ns: u64,
    /// Its latency, in nanoseconds.
    pub latency_ns: i64,
    /// Its execution time, in nanoseconds.
    pub execution_ns: i64,
    /// How it was woken: `direct`, `deferred`, …
    pub woken: String,
    /// The latency by stretch and cause; the shares add up to it. Absent from runs that older
    /// versions explained.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<LateShare>,
    /// Pieces of the latency; they add up to it.
    pub pieces: Vec<LatePiece>,
    /// Pieces of the execution; they add up to it.
    pub execution: Vec<LatePiece>,
    /// Sections that the loop timed itself, in their order; of a loop of the user's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<LateSection>,
    /// Lines that the loop logged in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<LateLine>,
}

/// A piece of a late cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatePiece {
    /// Part of the wake-up path.
    pub stretch: String,
    /// Kind of cause.
    pub kind: String,
    /// Kind of its own cause, if it is only a consequence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
    /// As a person reads it.
    pub cause: String,
    /// Begin after the due time, in nanoseconds.
    pub from_ns: u64,
    /// Length in nanoseconds.
    pub ns: u64,
    /// Stack at which the thread blocked or ran, if recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<LateStack>,
}

/// The stack of a thread that blocked or ran, the innermost function first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateStack {
    /// Functions of the program.
    pub user: Vec<String>,
    /// Functions of the kernel.
    pub kernel: Vec<String>,
}

/// One cause's share of a stretch of a late cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateShare {
    /// Part of the wake-up path.
    pub stretch: String,
    /// Kind of cause.
    pub kind: String,
    /// As a person reads it; without a thread's number where several of a name are put together.
    pub cause: String,
    /// In how many pieces.
    pub times: u64,
    /// Their time, in nanoseconds.
    pub ns: u64,
}

impl LateCycle {
    /// A cycle as it is written.
    pub fn new(cycle: &Explained, segment: u32) -> Self {
        let due_ns = cycle.sample.due_ns;
        let pieces = |pieces: &[Piece]| {
            let written = pieces.iter().map(|piece| LatePiece {
                stretch: piece.stretch.to_string(),
                kind: piece.cause.kind().into(),
                behind: piece.cause.behind().map(Into::into),
                cause: piece.cause.to_string(),
                from_ns: piece.from_ns.saturating_sub(due_ns),
                ns: piece.ns(),
                stack: LateStack::new(&piece.cause),
            });
            written.collect()
        };
        Self {
            segment,
            cycle: cycle.sample.cycle,
            due_ns,
            latency_ns: cycle.sample.latency_ns(),
            execution_ns: cycle.sample.execution_ns(),
            woken: cycle.woken.word().into(),
            shares: shares(&cycle.latency)
                .into_iter()
                .map(|share| LateShare {
                    stretch: share.stretch.to_string(),
                    kind: share.cause.kind().into(),
                    cause: share.cause.to_string(),
                    times: share.times,
                    ns: share.ns,
                })
                .collect(),
            pieces: pieces(&cycle.latency),
            execution: pieces(&cycle.execution),
            sections: Vec::new(),
            said: Vec::new(),
        }
    }
}

impl LateStack {
    /// The stack at which the thread blocked or ran, if recorded.
    pub fn new(cause: &Cause) -> Option<Self> {
        let place = match cause {
            Cause::Blocked(wait) => wait.place.as_ref()?,
            Cause::UserCode(RanIn::Function(place)) => place,
            Cause::Overrun(because) => return Self::new(because),
            _ => return None,
        };
        Some(Self {
            user: place.user.clone(),
            kernel: place.kernel.clone(),
        })
    }
}
