//! Latency that a real-time core measured itself.

use serde::{Deserialize, Serialize};

/// Lateness of a real-time core's timer, measured by its testing device at the end of a phase.
///
/// Measured under the phase's loads, at the priority, the period and on the CPU of a loop, which
/// didn't run at that time. Not part of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CoreLatency {
    /// The phase.
    pub phase: String,
    /// The loop's condition.
    pub condition: String,
    /// The loop's policy, in words: the condition's, or in a task set its own.
    pub policy: String,
    /// Names of the loop's threads that have all of these settings.
    pub threads: Vec<String>,
    /// The loop's CPU.
    pub cpu: u16,
    /// Period of the timer, in nanoseconds.
    pub period_ns: u64,
    /// Time by which the core's timers expire early, if it reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gravity: Option<CoreGravity>,
    /// From the due time to the timer's handler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handler: Option<CoreStageLatency>,
    /// From the due time to a thread of the kernel's own that the core schedules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<CoreStageLatency>,
    /// Why figures are missing, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_available: Option<String>,
}

/// Gravity of a core's timers, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CoreGravity {
    /// For timers that only call a handler.
    pub handler_ns: i64,
    /// For timers that wake a kernel thread.
    pub thread_ns: i64,
    /// For timers that wake a program's thread, like the loop's.
    pub program_ns: i64,
}

/// Latencies of one stage, in nanoseconds; negative if the timer expired early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CoreStageLatency {
    /// Number of periods.
    pub periods: u64,
    /// The least.
    pub smallest_ns: i64,
    /// The mean.
    pub mean_ns: i64,
    /// The largest observed; no bound.
    pub largest_ns: i64,
    /// Periods that passed before the one before them was served.
    pub overruns: u64,
    /// The CPU of the measurement, if the core reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u16>,
}
