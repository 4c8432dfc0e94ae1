//! Messages between the measuring process and the process that drives a pin, one line of JSON each.

use crate::LineName;
use crate::record::PinStep;
use serde::{Deserialize, Serialize};
use wakepath_rt::{Effective, Preparation};

/// The order, sent once on standard input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The line that is driven.
    pub drive: LineName,
    /// The line that it is wired to.
    pub read: LineName,
    /// Memory, affinity, timer slack, policy of the loop.
    pub preparation: Preparation,
    /// Settings of the thread that takes the edges.
    pub reader: Preparation,
    /// CPU time in microseconds that the loop can use without sleeping before the guard stops it.
    pub guard_us: u64,
    /// One after the other.
    pub steps: Vec<StepOrder>,
}

/// A square wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepOrder {
    /// From one edge to the next, in nanoseconds.
    pub half_period_ns: u64,
    /// Number of edges.
    pub edges: u64,
}

/// From the process that drives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reply {
    /// The lines are requested and wired, and the loop is ready.
    Ready {
        /// Settings in effect for the loop.
        effective: Effective,
        /// One line for each setting that differs from the request.
        shortfalls: Vec<String>,
    },
    /// A step has ended.
    Step(PinStep),
    /// Nothing more follows.
    Failed {
        /// One line.
        reason: String,
    },
}
