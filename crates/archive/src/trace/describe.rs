//! A trace's own description: the setup at its beginning, the counts at its end.

use serde::{Deserialize, Serialize};

/// The beginning of a trace: events, CPUs and backend.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TraceDescription {
    /// Number of the segment.
    pub segment: u32,
    /// Recorded CPUs, ascending. Events of other CPUs are missing.
    pub cpus: Vec<u16>,
    /// The recording backend, for display: `tracefs instance`.
    pub backend: String,
    /// Clock of the events: `CLOCK_MONOTONIC`, that of the samples.
    pub clock: String,
    /// How the buffer was used.
    pub mode: TraceMode,
    /// Buffer of each CPU, in bytes.
    pub buffer_bytes: u64,
    /// Recorded kinds of events.
    pub recorded: Vec<EventKind>,
    /// Events that were wanted and are not recorded, with the reason.
    pub missing: Vec<MissingEvents>,
    /// When recording began, in nanoseconds on `CLOCK_MONOTONIC`.
    pub began_ns: u64,
}

impl TraceDescription {
    /// Whether events of this kind are recorded when they happen.
    pub fn records(&self, kind: EventKind) -> bool {
        self.recorded.contains(&kind)
    }
}

/// How a buffer was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceMode {
    /// Nobody reads while the segment runs; the oldest events are overwritten.
    #[default]
    FlightRecorder,
    /// A process empties the buffer while the segment runs.
    Drained,
    /// A mode that this version does not know. Never written.
    #[serde(other)]
    Unknown,
}

/// A kind of event, as in [`wakepath_timeline::What`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// Device interrupts; on Arm all interrupts.
    DeviceInterrupt,
    /// The CPU's own timer, as a vector (x86).
    LocalTimer,
    /// Other vectors of the CPU (x86).
    Vector,
    /// A SoftIRQ is marked.
    SoftIrqRaise,
    /// A SoftIRQ runs.
    SoftIrq,
    /// A high-resolution timer's callback runs.
    TimerExpiry,
    /// A high-resolution timer is programmed.
    TimerStart,
    /// A thread is about to be woken.
    Waking,
    /// A woken thread is put on a run queue.
    WakeUp,
    /// The CPU changes threads.
    Switch,
    /// A thread moves to another CPU.
    Migrate,
    /// A thread inherits a priority by a lock.
    Inherits,
    /// An inter-processor interrupt is sent.
    IpiSend,
    /// Idle states.
    Idle,
    /// The frequency is set.
    Frequency,
    /// Page faults.
    PageFault,
    /// Marks of a watched program.
    Mark,
    /// Calls of functions of a watched program's libraries.
    Call,
    /// System calls of a watched program's threads.
    SystemCall,
    /// A kind that this version does not know. Never written.
    #[serde(other)]
    Unknown,
}

/// Events that aren't recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingEvents {
    /// The backend's name for them: `ipi:ipi_send_cpu`.
    pub events: String,
    /// The kind of event that needs them.
    pub kind: EventKind,
    /// Why, in one line: `this kernel does not have it`.
    pub reason: String,
}

/// The end of a trace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TraceEnd {
    /// When recording ended, in nanoseconds on `CLOCK_MONOTONIC`.
    pub ended_ns: u64,
    /// Which of the recorded events are in the file.
    pub kept: Kept,
    /// Counts of each CPU.
    pub cpus: Vec<CpuCount>,
    /// Threads of the watched program, whenever they were found: events are kept from before.
    #[serde(default)]
    pub members: Vec<ThreadOf>,
}

/// A thread of the watched program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadOf {
    /// The thread.
    pub thread: u32,
    /// Its process.
    pub process: u32,
}

/// Which of the recorded events were kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Kept {
    /// Everything that the buffer still held.
    #[default]
    All,
    /// Only those within these windows, ascending and apart.
    Windows {
        /// From, to.
        windows: Vec<KeptWindow>,
    },
    /// A choice that this version does not know. Never written.
    #[serde(other)]
    Unknown,
}

/// A stretch of time whose events were kept, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWindow {
    /// From, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// To, in nanoseconds on `CLOCK_MONOTONIC`.
    pub to_ns: u64,
}

/// Counts of one CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuCount {
    /// The CPU.
    pub cpu: u16,
    /// Events in the file, [`wakepath_timeline::What::Lost`] not counted.
    pub events: u64,
    /// Events that the kernel recorded and that were taken out of its buffer, kept or not.
    pub taken: u64,
    /// Events overwritten by newer ones: all of them older than `complete_from_ns`.
    pub overwritten: u64,
    /// Events lost elsewhere: each gap is a [`wakepath_timeline::What::Lost`] in the file.
    pub lost: u64,
    /// Time after which nothing was overwritten.
    pub complete_from_ns: u64,
}
