//! Begin and end of a segment: its threads' counts, and its loads' proofs.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wakepath_timeline::{DueTimes, LoadProof, Policy};

use super::ModuleTimes;

/// A stretch of measuring under one condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentStarted {
    /// Number of the segment, counted from 0 in the order of execution.
    pub segment: u32,
    /// Phase it belongs to.
    pub phase: String,
    /// Repetition of the phase, from 0.
    pub repetition: u32,
    /// Condition it measures, as a person reads it.
    pub condition: String,
    /// Whether kernel events are recorded in it; see [`super::PlannedSegment::traced`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub traced: bool,
    /// The measured loop threads.
    pub threads: Vec<ThreadStarted>,
}

/// One loop thread at the start of a segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadStarted {
    /// Number of the thread within the run.
    pub thread: u16,
    /// Its name.
    pub name: String,
    /// When each of its cycles is due; the Parquet file relies on it to the nanosecond.
    pub due: DueTimes,
    /// The requested policy.
    pub requested: Policy,
    /// Policy read back from the kernel.
    pub effective: Effective,
    /// The thread's CPUs.
    pub cpus: Vec<u16>,
    /// First cycle after the warm-up.
    pub first_judged_cycle: u64,
    /// The cycle after the last one, which is the number of due times, skipped ones included.
    pub end_cycle: u64,
}

/// A thread's settings in effect, as the kernel reports them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Effective {
    /// As a person reads it.
    pub text: String,
    /// In full, in the loop library's own words.
    pub details: Value,
}

/// The end of a segment, with the counts that must add up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SegmentEnded {
    /// Number of the segment.
    pub segment: u32,
    /// Its threads.
    pub threads: Vec<ThreadEnded>,
    /// Proof of each load's work.
    #[serde(default, deserialize_with = "crate::load_proofs::read")]
    pub loads: Vec<LoadProof>,
}

/// One loop thread at the end of a segment. Each executed cycle is either written or lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadEnded {
    /// Number of the thread.
    pub thread: u16,
    /// Samples that the loop wrote into the ring, as the loop counted them.
    pub written: u64,
    /// Samples that the recorder took out of the ring and appended to the log.
    pub recorded: u64,
    /// Samples that the loop could not write because the ring was full.
    pub lost: u64,
    /// Due times at which the loop started no cycle, if the loop counted them.
    #[serde(default)]
    pub skipped: Option<u64>,
    /// Page faults in the loop after its warm-up, if the loop lived to report them.
    #[serde(default)]
    pub page_faults: Option<PageFaults>,
    /// Parts of the work that timed themselves, after the warm-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<ModuleTimes>,
    /// Hardware counters of the loop's cycles, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<CountersRead>,
    /// Counts of its real-time core, after its warm-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_a_core: Option<CoreCounts>,
    /// Why the thread ended.
    pub ended: ThreadEnd,
}

/// Result of the hardware counters that a scenario requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountersRead {
    /// Sums over some cycles of the loop after its warm-up, in user space only.
    Counted {
        /// Cycles of the loop.
        cycles: u64,
        /// CPU cycles.
        cpu_cycles: u64,
        /// Instructions retired.
        instructions: u64,
        /// Misses of the last-level cache.
        last_level_misses: u64,
    },
    /// They don't exist, or can't be read by this user.
    Missing {
        /// One line for a person.
        reason: String,
    },
}

/// Counts of EVL or Cobalt for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CoreCounts {
    /// Switches into Linux.
    pub mode_switches: u64,
    /// Switches of the core's scheduler to the thread.
    pub context_switches: u64,
    /// Calls of the core.
    pub calls: u64,
    /// Wake-ups by another CPU, counted only by EVL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_wake_ups: Option<u64>,
    /// Page faults on the core, counted only by Cobalt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_faults: Option<u64>,
    /// CPU time on the core, ns.
    pub run_time_ns: u64,
}

/// Page faults of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PageFaults {
    /// Served without I/O.
    pub minor: u64,
    /// Served from disk.
    pub major: u64,
}

/// Why a loop thread ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
pub enum ThreadEnd {
    /// It served its last due time.
    AllCycles,
    /// It was set to end at its first overrun, and had one.
    Overrun,
    /// It was asked to stop.
    Stopped,
    /// It could not continue.
    Failed {
        /// The obstacle, as far as verdicts distinguish them.
        #[serde(default, skip_serializing_if = "Obstacle::is_other")]
        obstacle: Obstacle,
        /// One line for a person.
        reason: String,
    },
    /// A reason that this version does not know. Never written.
    #[serde(other)]
    Unknown,
}

impl ThreadEnd {
    /// Its process died, or did not answer and was killed.
    pub fn died(reason: impl Into<String>) -> Self {
        Self::Failed {
            obstacle: Obstacle::Died,
            reason: reason.into(),
        }
    }

    /// It could not continue, for a reason that has no kind of its own.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed {
            obstacle: Obstacle::Other,
            reason: reason.into(),
        }
    }
}

/// Reason why a loop thread can't begin or continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// The guard stopped it: it took its CPU without sleeping.
    Guard,
    /// A right is missing.
    MissingRight,
    /// Its process died, or did not answer and was killed.
    Died,
    /// Anything else, and every obstacle in older runs, which did not distinguish them.
    #[default]
    #[serde(other)]
    Other,
}

impl Obstacle {
    fn is_other(&self) -> bool {
        *self == Self::Other
    }
}
