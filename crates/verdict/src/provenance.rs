//! Provenance of the numbers: facts that a run must state before it is judged.

use crate::SkippedCounts;
use serde::Serialize;
use wakepath_timeline::Policy;

/// How a condition was measured, over all its segments. The default is a run that recorded nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Provenance {
    /// Samples that the loop wrote or tried to write, warm-up included.
    pub written: u64,
    /// Samples that reached the recording, warm-up included.
    pub recorded: u64,
    /// Samples that the loop could not hand over.
    pub lost: u64,
    /// Kernel events that the samples were made of and that are missing, and their CPUs.
    pub lost_events: u64,
    /// CPUs of the missing events.
    pub lost_events_cpus: Vec<u16>,
    /// For each segment and thread whose loop counted what it skipped: its count, and the samples'.
    pub skipped: Vec<SkippedCounts>,
    /// Requested policies and what the kernel said was in effect, for each thread.
    pub policies: Vec<EffectivePolicy>,
    /// Loads of the phase without proof; empty for an idle phase.
    pub unproven_loads: Vec<UnprovenLoad>,
    /// Loops that ended before their time.
    pub early_ends: Vec<EarlyEnd>,
    /// Facts of the machine that changed between before and after.
    pub changes: Vec<FactChange>,
    /// Why the loop's work can't be called real-time, if it can't: the measurement stands, and
    /// nobody should promise more than it.
    pub not_real_time: Option<String>,
    /// Largest share of the cycles in which a loop may have left its real-time core for Linux, 0 to 1.
    pub mode_switches_tolerated: f64,
    /// Nanoseconds of virtual time per instruction; `None` for time that passes.
    pub virtual_ns_per_instruction: Option<u32>,
}

/// A thread's requested policy and the one that the kernel reported.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EffectivePolicy {
    /// Name of the thread's task.
    pub task: String,
    /// Asked for.
    pub requested: Policy,
    /// Read back while the loop ran; `None` if that failed.
    pub effective: Option<Policy>,
}

/// A load that did not prove its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnprovenLoad {
    /// Name of the load.
    pub load: String,
    /// Why there is no proof.
    pub why: String,
}

/// Why a loop ended before the end of its segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EarlyEnd {
    /// A safety guard ended it, a limit on real-time CPU use for instance.
    Guard {
        /// The guard's message.
        detail: String,
    },
    /// A signal killed it.
    Killed {
        /// Number of the signal.
        signal: i32,
    },
    /// It reported an error.
    Error {
        /// The error.
        detail: String,
    },
    /// It was configured to stop at the first overrun, and there was one.
    Overrun {
        /// The cycle that overran.
        cycle: u64,
    },
    /// The user ended the run. The judged window must end there too.
    Interrupted,
}

/// A fact of the machine that changed during the condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FactChange {
    /// The kernel's clock source: instants before and after don't compare.
    ClockSource {
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// A frequency governor.
    Governor {
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// The CPU was throttled.
    Throttled {
        /// The machine's report: heat, power, under-voltage, and how often.
        detail: String,
    },
    /// A hypervisor took CPU time away.
    Steal {
        /// Stolen time in nanoseconds, summed over CPUs.
        stolen_ns: u64,
    },
    /// Anything else.
    Other {
        /// Which fact.
        fact: String,
        /// Before.
        from: String,
        /// After.
        to: String,
    },
}
