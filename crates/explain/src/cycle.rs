//! The explanation of one cycle: its pieces, their stretches, how it was woken. Types only.

use crate::cause::Cause;
use std::fmt;
use wakepath_timeline::{Sample, SoftIrq, Thread};

/// One executed cycle with what its time was spent on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The cycle as the loop saw it.
    pub sample: Sample,
    /// How the loop was woken.
    pub woken: WokenBy,
    /// From the due time to the first instruction, without a gap or an overlap. Empty for a
    /// wake-up that was not late at all.
    pub latency: Vec<Piece>,
    /// From the first instruction to the end of the work, likewise.
    pub execution: Vec<Piece>,
}

impl Explained {
    /// How many pieces it has.
    pub fn pieces(&self) -> usize {
        self.latency.len() + self.execution.len()
    }

    /// Sum of the pieces of the latency, in nanoseconds: the measured latency, or 0 for an early
    /// wake-up.
    pub fn latency_ns(&self) -> u64 {
        self.latency.iter().map(Piece::ns).sum()
    }

    /// Latency that the events explain, in nanoseconds.
    pub fn explained_ns(&self) -> u64 {
        let explained = self
            .latency
            .iter()
            .filter(|piece| piece.cause.is_explained());
        explained.map(Piece::ns).sum()
    }
}

/// A part of a cycle's time that has one cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Begin, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// End, in nanoseconds on `CLOCK_MONOTONIC`.
    pub to_ns: u64,
    /// Part of the wake-up path.
    pub stretch: Stretch,
    /// Why.
    pub cause: Cause,
}

impl Piece {
    /// Its length in nanoseconds.
    pub fn ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }
}

/// Part of the wake-up path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stretch {
    /// Due time → timer interrupt.
    DueToInterrupt,
    /// Timer interrupt → expiry of the loop's own timer.
    InterruptToExpiry,
    /// Expiry → waking.
    ExpiryToWaking,
    /// Waking → the loop is switched in.
    WakingToSwitch,
    /// Switch-in → first instruction of the cycle.
    SwitchToUser,
    /// The loop was not asleep at its due time: there was no wake-up.
    NotAsleep,
    /// The cycle's own work.
    Execution,
}

impl Stretch {
    /// The stretches of a latency, in their order.
    pub const OF_LATENCY: [Self; 6] = [
        Self::DueToInterrupt,
        Self::InterruptToExpiry,
        Self::ExpiryToWaking,
        Self::WakingToSwitch,
        Self::SwitchToUser,
        Self::NotAsleep,
    ];
}

impl fmt::Display for Stretch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::DueToInterrupt => "due → interrupt",
            Self::InterruptToExpiry => "interrupt → expiry",
            Self::ExpiryToWaking => "expiry → waking",
            Self::WakingToSwitch => "waking → switch-in",
            Self::SwitchToUser => "switch-in → user",
            Self::NotAsleep => "not asleep when due",
            Self::Execution => "execution",
        })
    }
}

/// The word for [`WokenBy::Thread`].
pub(crate) const BY_THREAD: &str = "by-thread";

/// How a cycle was woken.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum WokenBy {
    /// Direct: from the hard timer interrupt.
    Direct,
    /// Deferred: the timer expired in SoftIRQ context, in this thread if the SoftIRQ has its own
    /// (`ktimers/0`, `ksoftirqd/0`).
    Deferred {
        /// Vector.
        vector: SoftIrq,
        /// Thread that ran it.
        thread: Option<Thread>,
    },
    /// By a thread, such as one that gives the loop its beat by a futex.
    Thread(Thread),
    /// By an interrupt or SoftIRQ, but not by a timer.
    Other,
    /// Not at all: it was not asleep at its due time.
    NotAsleep,
    /// The events don't show it.
    Unknown,
}

impl WokenBy {
    /// One word for tables and scripts.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Deferred { .. } => "deferred",
            Self::Thread(_) => BY_THREAD,
            Self::Other => "other",
            Self::NotAsleep => "not-asleep",
            Self::Unknown => "unknown",
        }
    }
}
