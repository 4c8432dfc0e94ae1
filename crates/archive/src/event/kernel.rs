//! Data from the kernel: how its events were recorded, and measurements of its own tracers.

use serde::{Deserialize, Serialize};

use crate::own_process::OwnProcess;
use crate::trace::{MissingEvents, TraceMode};

/// Setup of the tracing of a run's traced segments, and its cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TracingSetUp {
    /// The recording backend, for display.
    pub backend: String,
    /// Why it is that one, in a few words; empty in runs of before there was a choice.
    #[serde(default)]
    pub because: String,
    /// CPUs whose events are recorded.
    pub cpus: Vec<u16>,
    /// How the buffer is used.
    pub mode: TraceMode,
    /// Buffer of each CPU, in bytes.
    pub buffer_bytes: u64,
    /// Cost of an event to the CPU that it occurs on, in nanoseconds, as measured before the run.
    pub ns_per_event: Option<f64>,
    /// Events that were wanted and are not recorded.
    pub missing: Vec<MissingEvents>,
    /// Whether the wake-ups of a thread show their whole path, by CPU.
    pub self_tests: Vec<SelfTestFound>,
}

/// Result of a self-test of the tracing on one CPU.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SelfTestFound {
    /// The CPU.
    pub cpu: u16,
    /// Whether nothing was lacking.
    pub passed: bool,
    /// The observed and the missing events, in one line.
    pub text: String,
}

/// Result of a segment's trace. The events are in `segment-N.events`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SegmentTraced {
    /// Number of the segment.
    pub segment: u32,
    /// Events in the file.
    pub events: u64,
    /// Events that were recorded and read, kept or not.
    pub taken: u64,
    /// Events lost.
    pub lost: u64,
    /// CPUs of an imported trace whose events were lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_cpus: Vec<u16>,
    /// Events overwritten by newer ones: the oldest of a flight recorder that was too small.
    pub overwritten: u64,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// CPU time of the probe's process while the segment ran, in nanoseconds.
    pub cpu_time_ns: u64,
    /// Duration of the recording, in nanoseconds.
    pub wall_ns: u64,
    /// Wakepath's own processes during it, reported by the recorder; none in runs of versions that
    /// did not record them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Vec<OwnProcess>>,
}

/// Latencies that the kernel's tracer `timerlat` measured under a phase's loads: those of a timer's
/// interrupt and of a kernel thread with FIFO 95.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KernelLatency {
    /// The phase.
    pub phase: String,
    /// CPU that it measured on.
    pub cpu: u16,
    /// Period of the thread, in nanoseconds.
    pub period_ns: u64,
    /// From the due time to the timer's interrupt.
    pub interrupt: StageLatency,
    /// From the due time to the thread.
    pub thread: StageLatency,
    /// Reason why there are no figures, in one line; the figures are 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_available: Option<String>,
}

/// Noise that the kernel's tracer `osnoise` measured under a phase's loads: CPU time withheld from
/// a kernel thread with FIFO 95 that never sleeps, by cause. Only interruptions longer than the
/// tracer's threshold count, by default 5 µs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KernelNoise {
    /// The phase.
    pub phase: String,
    /// CPU that it measured on.
    pub cpu: u16,
    /// How long the thread looked, in nanoseconds.
    pub looked_ns: u64,
    /// How much of it was taken away, in nanoseconds.
    pub noise_ns: u64,
    /// Longest single interruption, in nanoseconds; no bound.
    pub largest_ns: u64,
    /// Noises in which nothing of this kernel ran: hypervisor, firmware or hardware.
    pub hardware: u64,
    /// Interrupts that can't be masked.
    pub nmis: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// SoftIRQs.
    pub softirqs: u64,
    /// Times that another thread ran.
    pub threads: u64,
    /// Reason why there are no figures, in one line; the figures are 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_available: Option<String>,
}

/// Latencies of one stage, in nanoseconds; each is a measured value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StageLatency {
    /// Number of measurements.
    pub samples: u64,
    /// The least.
    pub least_ns: i64,
    /// Half of them are at most this.
    pub median_ns: i64,
    /// 99 % of them are at most this.
    pub p99_ns: i64,
    /// The largest observed; no bound.
    pub largest_ns: i64,
}
