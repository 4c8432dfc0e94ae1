//! Events of a run other than samples, as stored in the log.
//!
//! Together the events contain everything in the manifest; they judge nothing.

mod core_latency;
mod kernel;
mod modules;
mod read;
mod sections;
mod segment;
mod start;

pub use core_latency::{CoreGravity, CoreLatency, CoreStageLatency};
pub use kernel::{
    KernelLatency, KernelNoise, SegmentTraced, SelfTestFound, StageLatency, TracingSetUp,
};
pub use modules::{BusExchanges, CacheRuns, CacheState, ModuleTimes};
pub use sections::{KernelSections, SectionFound, SectionInterrupt, SectionKind, SectionsEffect};
pub use segment::{
    CoreCounts, CountersRead, Effective, Obstacle, PageFaults, SegmentEnded, SegmentStarted,
    ThreadEnd, ThreadEnded, ThreadStarted,
};
pub use start::{PlannedSegment, RunStarted, ScenarioText, Tool, run_id};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::imported::Imported;

/// One event of a run. Fields and kinds added by later versions are skipped, not refused.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The first event of every log.
    RunStarted(Box<RunStarted>),
    /// The machine was looked at.
    FactsTaken(FactsTaken),
    /// A segment's threads are set up; its samples follow.
    SegmentStarted(SegmentStarted),
    /// All of a segment's samples have been appended.
    SegmentEnded(SegmentEnded),
    /// Tracing is set up for the run's traced segments.
    TracingSetUp(TracingSetUp),
    /// A segment's kernel events are in their file.
    SegmentTraced(SegmentTraced),
    /// The kernel measured wake-ups by itself, under a phase's loads.
    KernelLatency(KernelLatency),
    /// The kernel's measurement of withheld CPU time, under a phase's loads.
    KernelNoise(KernelNoise),
    /// Non-preemptible sections in the kernel's events, under a phase's loads.
    KernelSections(Box<KernelSections>),
    /// A real-time core measured its own latencies, under a phase's loads.
    CoreLatency(Box<CoreLatency>),
    /// Another tool's measurement with its histograms.
    Imported(Box<Imported>),
    /// Something a reader of the run should know.
    Note {
        /// One line for a person.
        text: String,
    },
    /// The last event of a log whose recorder ended normally.
    RunEnded {
        /// How it ended.
        ending: Ending,
    },
    /// A kind of event that this version does not know. Never written.
    Unknown,
}

impl Event {
    /// Whether the event closes something: the last room on a full disk is kept for these.
    pub(crate) fn is_closing(&self) -> bool {
        matches!(
            self,
            Self::SegmentEnded(_) | Self::Note { .. } | Self::RunEnded { .. }
        )
    }
}

/// When the machine was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Before the first segment.
    Before,
    /// Between or in segments.
    During,
    /// After the last segment.
    After,
}

/// The state of the machine at one time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactsTaken {
    /// Before, during or after the measurement.
    pub when: When,
    /// Phase under way, if any.
    #[serde(default)]
    pub phase: Option<String>,
    /// Repetition under way, if any, from 0.
    #[serde(default)]
    pub repetition: Option<u32>,
    /// Instant, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// The facts, in the machine room's own words.
    pub facts: Value,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum Ending {
    /// Everything planned was executed.
    Complete,
    /// Someone stopped it; the recorder still ended normally.
    Interrupted,
    /// It could not continue.
    Failed {
        /// One line for a person.
        reason: String,
    },
    /// The log stops without an end: the recorder was killed or the power failed. Never stored in a
    /// log; a manifest uses it for a recovered or running run.
    CutShort,
    /// An ending that this version does not know. Never written.
    #[serde(other)]
    Unknown,
}
