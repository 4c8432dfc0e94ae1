//! What happens in a run besides samples, as it is written into the log. Together the events hold
//! everything the manifest says; they judge nothing.

use crate::imported::Imported;
use crate::own_process::OwnProcess;
use crate::virtual_time::VirtualTime;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wakepath_timeline::{DueTimes, LoadProof, Policy};

use crate::trace::{MissingEvents, TraceMode};

/// One event of a run. Fields and kinds added by later versions are skipped, not refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The kernel measured what takes a CPU away, under a phase's loads.
    KernelNoise(KernelNoise),
    /// Another tool measured; its histograms come with it.
    Imported(Box<Imported>),
    /// Something a reader of the run should know.
    Note {
        /// One line for a person.
        text: String,
    },
    /// The last event of a log whose recorder ended by itself.
    RunEnded {
        /// How it ended.
        ending: Ending,
    },
    /// A kind of event that this version does not know. Never written.
    #[serde(other)]
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

/// How a run came about: its tool, its scenario, its clock and what it meant to do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunStarted {
    /// Name of the run, unique among archives; see [`run_id`].
    pub run_id: String,
    /// The program that measures.
    pub tool: Tool,
    /// Its command line, word by word.
    pub command: Vec<String>,
    /// Wall-clock start, RFC 3339 in UTC.
    pub started: String,
    /// What was measured on which terms.
    pub scenario: ScenarioText,
    /// Clock that all instants are read from, `CLOCK_MONOTONIC` and the kernel's clock source.
    pub clock_source: String,
    /// What a reader should know from the start, one line each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Segments the run means to execute, in order.
    #[serde(default)]
    pub planned: Vec<PlannedSegment>,
    /// The virtual time that the run is in; none for time that passes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtual_time: Option<VirtualTime>,
}

/// The name of a run: its start with everything but digits and letters taken out, and four random
/// bytes so that two machines that start in the same second differ.
pub fn run_id(started: &str, random: [u8; 4]) -> String {
    let start: String = started
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    format!("{start}-{:08x}", u32::from_be_bytes(random))
}

/// The program that wrote a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Commit it was built from, where known.
    #[serde(default)]
    pub commit: Option<String>,
}

/// A scenario as it was resolved for the run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ScenarioText {
    /// Its name.
    pub name: String,
    /// The whole of it as TOML, defaults filled in.
    pub toml: String,
}

/// A segment that the run means to execute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedSegment {
    /// Number of the segment.
    pub segment: u32,
    /// Phase it belongs to.
    pub phase: String,
    /// Repetition of the phase, from 0.
    pub repetition: u32,
    /// Condition it measures, as a person reads it.
    pub condition: String,
    /// Whether kernel events are recorded meanwhile. Such a segment shows why cycles are late; the
    /// condition is judged by the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub traced: bool,
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

/// What the machine looked like at one instant.
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
    /// Whether kernel events are recorded meanwhile; see [`PlannedSegment::traced`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub traced: bool,
    /// The loop threads that are measured.
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
    /// Policy asked for.
    pub requested: Policy,
    /// Policy read back from the kernel.
    pub effective: Effective,
    /// CPUs the thread may run on.
    pub cpus: Vec<u16>,
    /// First cycle after the warm-up.
    pub first_judged_cycle: u64,
    /// The cycle after the last one: the thread has this many due times, skipped ones included.
    pub end_cycle: u64,
}

/// What the kernel says it applies to a thread.
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
    /// What each load proves it did.
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
    /// Due times at which the loop started no cycle, where the loop counted them.
    #[serde(default)]
    pub skipped: Option<u64>,
    /// Page faults in the loop after its warm-up, where the loop lived to tell.
    #[serde(default)]
    pub page_faults: Option<PageFaults>,
    /// Parts of the work that timed themselves, after the warm-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<ModuleTimes>,
    /// Hardware counters of the loop's cycles, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<CountersRead>,
    /// Why the thread ended.
    pub ended: ThreadEnd,
}

/// What became of the hardware counters that a scenario asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountersRead {
    /// Sums over so many cycles of the loop after its warm-up, in user space alone.
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
    /// There are none, or none that may be read.
    Missing {
        /// One line for a person.
        reason: String,
    },
}

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
    /// After so many due times of the loop it should run again; `None` where it has no rate of its
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// How often it was due again before it had run, which only a part with a rate can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late: Option<u64>,
    /// Of work that measures what a job loses of its caches; `None` for any other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caches: Option<CacheRuns>,
}

/// Runs through a working set whose caches were in a known state. All times in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheRuns {
    /// In which state.
    pub state: CacheState,
    /// The working set, in bytes.
    pub working_set_bytes: u64,
    /// What the thread that preempted it read and wrote, in bytes.
    pub preempting_bytes: u64,
    /// Bins that hold values, ascending: smallest and largest value, count. Of warm runs their time,
    /// of others how much longer they took than a warm run right after them.
    pub bins: Vec<(u64, u64, u64)>,
}

/// What happened before a run through a working set.
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

/// How a run's traced segments are traced, and what that costs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TracingSetUp {
    /// What records, as a person reads it.
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
    /// What an event costs the CPU that it happens on, in nanoseconds, as measured before the run.
    pub ns_per_event: Option<f64>,
    /// Events that were wanted and are not recorded.
    pub missing: Vec<MissingEvents>,
    /// Whether the wake-ups of a thread show their whole path, by CPU.
    pub self_tests: Vec<SelfTestFound>,
}

/// What a self-test of the tracing found on one CPU.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SelfTestFound {
    /// The CPU.
    pub cpu: u16,
    /// Whether nothing was lacking.
    pub passed: bool,
    /// What was seen and what was lacking, in one line.
    pub text: String,
}

/// What came of a segment's trace. The events are in `segment-N.events`.
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
    /// Events overwritten by newer ones: the oldest of a flight recorder that was too small.
    pub overwritten: u64,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// CPU time of the probe's process while the segment ran, in nanoseconds.
    pub cpu_time_ns: u64,
    /// How long recording went on, in nanoseconds.
    pub wall_ns: u64,
    /// Wakepath's own processes meanwhile, told by whoever had the segment traced; none in runs of
    /// versions that did not record them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<Vec<OwnProcess>>,
}

/// What the kernel's own tracer (`timerlat`) measured under a phase's loads: how late a timer's
/// interrupt and a kernel thread of FIFO 95 were.
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
    /// Why there are no figures, in one line; the figures are 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_available: Option<String>,
}

/// What the kernel's own tracer (`osnoise`) measured under a phase's loads: how much of its CPU a
/// kernel thread of FIFO 95 that never sleeps does not get, and what took it. Only what takes more
/// than the tracer's threshold at a time, 5 µs as a rule, is noise to it.
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
    /// The most that was taken at once, in nanoseconds, which is no bound.
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
    /// Why there are no figures, in one line; the figures are 0 then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_available: Option<String>,
}

/// Latencies of one stage, in nanoseconds; each is one that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StageLatency {
    /// How many were measured.
    pub samples: u64,
    /// The least.
    pub least_ns: i64,
    /// Half of them are at most this.
    pub median_ns: i64,
    /// 99 % of them are at most this.
    pub p99_ns: i64,
    /// The largest observed, which is no bound.
    pub largest_ns: i64,
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
    /// It was told to end at its first overrun, and had one.
    Overrun,
    /// It was asked to stop.
    Stopped,
    /// It could not go on.
    Failed {
        /// What kept it from going on, as far as judging tells it apart.
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
    /// It could not go on, for a reason that is like no other.
    pub fn failed(reason: impl Into<String>) -> Self {
        Self::Failed {
            obstacle: Obstacle::Other,
            reason: reason.into(),
        }
    }
}

/// What keeps a loop thread from beginning or from going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// The guard stopped it: it took its CPU without sleeping.
    Guard,
    /// A right is missing.
    MissingRight,
    /// Anything else, and everything in runs of before obstacles were told apart.
    #[default]
    #[serde(other)]
    Other,
}

impl Obstacle {
    fn is_other(&self) -> bool {
        *self == Self::Other
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum Ending {
    /// Everything planned was executed.
    Complete,
    /// Someone stopped it; the recorder still ended by itself.
    Interrupted,
    /// It could not go on.
    Failed {
        /// One line for a person.
        reason: String,
    },
    /// The log stops without an end: the recorder was killed or the power went. Never written
    /// into a log; a manifest says it of a recovered or a still running run.
    CutShort,
    /// An ending that this version does not know. Never written.
    #[serde(other)]
    Unknown,
}
