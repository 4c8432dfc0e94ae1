//! Non-preemptible sections in the kernel's events, summarised while they were read.

use super::kernel::StageLatency;
use serde::{Deserialize, Serialize};

/// The sections of a CPU under a phase's loads. Times in nanoseconds, without interrupts, but
/// including the cost of recording.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KernelSections {
    /// The phase.
    pub phase: String,
    /// CPU whose events these are.
    pub cpu: u16,
    /// How long events were recorded.
    pub observed_ns: u64,
    /// Events.
    pub events: u64,
    /// Events that were lost; a section across them is in no figure.
    pub lost: u64,
    /// Preemption or interrupts off, by other code than the scheduler's own call (D_POID).
    pub preemption_off: SectionKind,
    /// Both on, between such a section and the resulting call of the scheduler (D_PAIE); `None` if
    /// only the longest section is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_scheduler: Option<SectionKind>,
    /// Preemption off to call the scheduler, until it has returned (D_PSD); likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<SectionKind>,
    /// Within that, from interrupts off for the switch (D_ST); likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<SectionKind>,
    /// The longest interrupt that woke the measured thread, with its timer's delay.
    pub own_interrupt_ns: u64,
    /// The longest way from the scheduler's return to that thread's first instruction.
    pub after_scheduler_ns: u64,
    /// The most that interrupts took in any window of the bound.
    pub interference_ns: u64,
    /// The longest with something off, one per code location, longest first.
    pub longest: Vec<SectionFound>,
    /// Interrupts, the longest first.
    pub interrupts: Vec<SectionInterrupt>,
    /// Effect of the recording on the measured thread's wake-ups.
    pub effect: SectionsEffect,
    /// Reason why there are no figures, or only the longest section, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_available: Option<String>,
}

/// Sections of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SectionKind {
    /// The longest observed, in nanoseconds; no bound.
    pub longest_ns: u64,
    /// Their number.
    pub count: u64,
}

/// Sections that begin at one place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SectionFound {
    /// The function that they begin in.
    pub began: String,
    /// The one that the longest ended in.
    pub ended: String,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
    /// Their number.
    pub count: u64,
}

/// An interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SectionInterrupt {
    /// Its name in the kernel.
    pub name: String,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
    /// The shortest time from the beginning of one to that of the next, in nanoseconds; `None` if
    /// only one came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shortest_distance_ns: Option<u64>,
    /// Their number.
    pub count: u64,
}

/// Wake-ups of a thread of FIFO 95 on that CPU, in turns with and without the events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SectionsEffect {
    /// Its period, in nanoseconds.
    pub period_ns: u64,
    /// Without.
    pub without: StageLatency,
    /// With them.
    pub with: StageLatency,
}
