//! The loop's tolerance, in its own terms.
//!
//! The room `verdict` applies it to a run.

use serde::{Deserialize, Serialize};

/// The criterion that a condition (one policy under one load) must meet, with the required
/// evidence. All times are resolved nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// A due time is missed when its cycle wakes later than this after it (wake-up latency), in
    /// nanoseconds.
    pub latency_ns: Option<u64>,
    /// A due time is missed when its cycle's work ends later than this after it (response time),
    /// in nanoseconds. Skipped due times are always missed.
    pub deadline_ns: u64,
    /// Largest tolerated share of due times missed, 0 to 1. With 0, no miss is tolerated, and
    /// `evidence` is required.
    pub miss_fraction: f64,
    /// With `miss_fraction` 0: the upper confidence bound on the miss probability that the run
    /// must reach (3·10⁻³ needs about 1000 due times without a miss).
    pub evidence: Option<f64>,
    /// One-sided confidence of the bound on the miss fraction, such as 0.95.
    pub confidence: f64,
    /// Largest tolerated number of consecutive missed due times.
    pub consecutive_misses: Option<u64>,
    /// Longest tolerated time from the end of one cycle to the end of the next, in nanoseconds.
    pub outage_ns: Option<u64>,
    /// Largest tolerated share of the cycles in which a loop on a real-time core switched into Linux, 0 to 1; with
    /// more the condition is invalid.
    pub mode_switches: f64,
    /// Which policies must hold for the whole run to pass.
    pub policies: PoliciesNeeded,
}

/// Which policies must hold for the whole run to pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoliciesNeeded {
    /// One policy that holds under every load is enough: the question is which to use.
    Any,
    /// Every policy must hold under every load.
    Every,
}
