//! Every missed due time, one by one; skipped ones that follow each other as one entry, which
//! loses nothing: each is a period less late than the one before.

use serde::Serialize;

/// All missed due times of a condition, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Violations {
    /// Cycles that ran too late.
    pub late: Vec<LateCycle>,
    /// Due times at which none ran.
    pub skipped: Vec<SkippedCycles>,
}

/// A cycle that woke or ended too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LateCycle {
    /// Index of the due time within the condition.
    pub index: u64,
    /// Wake-up latency in nanoseconds.
    pub latency_ns: i64,
    /// Response time in nanoseconds.
    pub response_ns: i64,
    /// Whether the due time had passed before the loop came round to wait for it.
    pub after_overrun: bool,
}

/// Due times after one another at which no cycle ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SkippedCycles {
    /// Index of the first within the condition.
    pub index: u64,
    /// How many.
    pub count: u64,
    /// Latency that the first suffered, in nanoseconds; each later one a period less.
    pub latency_ns: i64,
}

impl Violations {
    /// Missed due times.
    pub fn count(&self) -> u64 {
        let skipped: u64 = self.skipped.iter().map(|skipped| skipped.count).sum();
        self.late.len() as u64 + skipped
    }
}
