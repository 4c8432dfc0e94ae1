//! Wakepath's own processes while a segment was traced.
//!
//! Identified by number and start time, because any program can have the same name.

use serde::{Deserialize, Serialize};

/// One of wakepath's own processes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnProcess {
    /// Its purpose.
    pub role: OwnRole,
    /// Its number.
    pub process: u32,
    /// When it started, in clock ticks since boot: field 22 of `/proc/PID/stat`. No other process
    /// has both.
    pub start_ticks: u64,
    /// Its threads, as far as they were observed.
    pub threads: Vec<OwnProcessThread>,
}

/// A thread of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnProcessThread {
    /// Its number.
    pub thread: u32,
    /// When it started, in nanoseconds on `CLOCK_MONOTONIC`, early by a clock tick at most.
    pub from_ns: u64,
    /// Time at which it was found to have ended, in nanoseconds on `CLOCK_MONOTONIC`; none if it
    /// ran until the segment's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<u64>,
}

/// Purpose of one of wakepath's processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OwnRole {
    /// It measures, or watches: it plans, starts and waits.
    Measuring,
    /// It moves samples to disk.
    Recorder,
    /// Records kernel events.
    Probe,
    /// The loop's process, besides the loop's threads.
    Loop,
    /// It keeps the loads.
    LoadSupervisor,
    /// A load, whose effect on the loop is intended.
    LoadWorker,
    /// A later version knows it.
    #[serde(other)]
    Other,
}

impl OwnRole {
    /// Whether it belongs to the tool itself, rather than to a requested load.
    pub fn is_tool(self) -> bool {
        self != Self::LoadWorker
    }
}
