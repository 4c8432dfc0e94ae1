//! Messages between the measuring process and the probe's process, one line of JSON each.

use crate::Apart;
use crate::usdt::Mark;
use serde::{Deserialize, Serialize};
use wakepath_archive::{
    KernelLatency, KernelNoise, KernelSections, SegmentTraced, ThreadOf, TraceMode, TracingSetUp,
};

/// What to trace: the first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// CPUs to be traced, ascending.
    pub cpus: Vec<u16>,
    /// Length of the longest segment in nanoseconds.
    pub segment_ns: u64,
    /// The source; `None`: the cheapest available one.
    #[serde(default)]
    pub backend: Option<Backend>,
    /// How the buffer is used; `None`: whichever fits.
    pub mode: Option<TraceMode>,
    /// Bytes of each CPU's buffer; `None`: chosen.
    pub buffer_bytes: Option<u64>,
    /// Wake-up latency in nanoseconds above which a cycle's events are kept; `None`: all are kept.
    /// Only a flight recorder can forget the others.
    pub keep_above_ns: Option<u64>,
    /// Places of a program's code that are recorded.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Whether a viewer waits for an event: then the trace is written more often.
    #[serde(default)]
    pub is_awaited: bool,
    /// CPUs that a control group keeps for itself.
    #[serde(default)]
    pub apart: Option<Apart>,
}

/// What records events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// An instance of tracefs.
    Tracefs,
    /// `perf_event_open`.
    Perf,
}

/// From the measuring process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// Record from now on; answered by [`Reply::Begun`].
    Begin {
        /// Number of the segment.
        segment: u32,
    },
    /// Record the system calls of these threads too, of the segment under way; answered by
    /// [`Reply::Following`].
    Follow {
        /// Threads of the watched program, those that were named before among them or not.
        threads: Vec<ThreadOf>,
    },
    /// Let the kernel itself measure wake-ups on each traced CPU; answered by [`Reply::Timerlat`].
    Timerlat {
        /// Period of its thread, in nanoseconds.
        period_ns: u64,
        /// How long on each CPU, in nanoseconds.
        for_ns: u64,
    },
    /// Let the kernel measure what takes each traced CPU away; answered by [`Reply::Osnoise`].
    Osnoise {
        /// How long on each CPU, in nanoseconds.
        for_ns: u64,
    },
    /// Look at the sections of kernel code that keep threads from running; answered by
    /// [`Reply::Sections`].
    Sections {
        /// CPUs, one after the other.
        cpus: Vec<u16>,
        /// Period of the thread that runs alongside, in nanoseconds.
        period_ns: u64,
        /// How long on each CPU, in nanoseconds.
        for_ns: u64,
    },
    /// Stop, write the trace; answered by [`Reply::Ended`]. The segment's samples are in the log.
    End,
}

/// From the probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// There is no tracing, and why; the probe has ended.
    Unavailable {
        /// One line, with the remedy.
        reason: String,
    },
    /// Ready for the first segment.
    Ready(Box<Ready>),
    /// The kernel's own measurement, or why there is none; the caller names the phase.
    Timerlat(Vec<KernelLatency>),
    /// Likewise.
    Osnoise(Vec<KernelNoise>),
    /// Likewise.
    Sections(Vec<KernelSections>),
    /// Recording.
    Begun,
    /// The threads are known; their system calls are recorded if possible.
    Following,
    /// The segment's trace is written, or could not be.
    Ended {
        /// Its outcome.
        trace: Option<SegmentTraced>,
        /// What went wrong, in one line; the trace is then missing or cut short.
        problem: Option<String>,
    },
}

/// The probe is ready.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    /// Its entry in the run's record.
    pub set_up: TracingSetUp,
    /// Instances of dead processes that were removed.
    pub orphans: Vec<String>,
}
