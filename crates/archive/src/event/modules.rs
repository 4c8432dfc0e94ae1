//! Parts of the loop's work that timed themselves.

use serde::{Deserialize, Serialize};

/// A part of the loop's work that timed itself: a module of a controller.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ModuleTimes {
    /// Its name.
    pub name: String,
    /// The longest that a run of it should take, in nanoseconds; `None` without a budget.
    pub budget_ns: Option<u64>,
    /// How often it ran.
    pub runs: u64,
    /// Time of all runs, in nanoseconds.
    pub sum_ns: u64,
    /// Longest run, in nanoseconds.
    pub max_ns: u64,
    /// Runs longer than the budget.
    pub over_budget: u64,
    /// Number of the loop's due times between its runs; `None` if it has no rate of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// How often it was due again before it had run; only for a part with a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// For work that measures cache-related delay; `None` for any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caches: Option<CacheRuns>,
    /// For work that exchanges process data with a bus; `None` for any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchanges: Option<BusExchanges>,
}

/// Exchanges with a bus by outcome. All times in nanoseconds. Each bin with values: smallest and
/// largest value, count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BusExchanges {
    /// The interface, or its substitute.
    pub bus: String,
    /// Number of devices that answered.
    pub devices: u16,
    /// The working counter that is right.
    pub counter: u16,
    /// How often process data were sent, or should have been.
    pub exchanges: u64,
    /// Answers in which not all devices took part.
    pub wrong_counter: u64,
    /// Answers that came after the loop had stopped waiting for them.
    pub late: u64,
    /// Frames that never returned.
    pub lost: u64,
    /// Frames that could not be sent.
    pub not_sent: u64,
    /// Frames that passed the reference clock after the devices had applied that period's outputs.
    pub after_output: u64,
    /// From sending to the answer, for correct answers.
    pub round_trip: Vec<(i64, i64, u64)>,
    /// How much later than usual a frame passed the reference clock.
    pub behind: Vec<(i64, i64, u64)>,
    /// How far a device's clock was from the reference, looked at now and then.
    pub clock_difference: Vec<(i64, i64, u64)>,
}

/// Runs through a working set from a known state of the caches. All times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheRuns {
    /// In which state.
    pub state: CacheState,
    /// The working set, in bytes.
    pub working_set_bytes: u64,
    /// Bytes that the preempting thread read and wrote.
    pub preempting_bytes: u64,
    /// Each bin with values, ascending: smallest and largest value, count. For warm runs their
    /// time, for others their excess over a warm run right after them.
    pub bins: Vec<(u64, u64, u64)>,
}

/// Event before a run through a working set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// The same run, on the same CPU.
    Warm,
    /// Another thread ran on the CPU.
    Preempted,
    /// The thread was moved to another CPU.
    Migrated,
}
