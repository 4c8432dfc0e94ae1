//! Timers that were programmed, and their callbacks under way.

use super::activation::{Activation, is_tick, outlives_sleep};
use std::sync::Arc;

/// A programmed time is taken for one of `CLOCK_MONOTONIC` where the timer expires after it and not
/// later than this, in nanoseconds; clocks that count from 1970 are decades away.
pub(super) const LATEST_EXPIRY_NS: u64 = 60_000_000_000;
/// No machine runs for so long (31 years), and clocks that count from 1970 are beyond it, in nanoseconds.
pub(crate) const WALL_CLOCK_NS: u64 = 1_000_000_000_000_000_000;
/// Stamps and clocks of different CPUs may disagree by this, in nanoseconds.
const EARLIER_NS: u64 = 50_000;

/// A timer that was programmed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Programmed {
    /// For when, on the timer's clock.
    pub(super) for_ns: u64,
    /// When that was done.
    pub(super) at_ns: u64,
    /// By which thread.
    pub(super) by: u32,
}

/// A timer's callback under way.
#[derive(Debug, Clone)]
pub(super) struct Expiry {
    pub(super) timer: u64,
    pub(super) function: Arc<str>,
    pub(super) at_ns: u64,
    pub(super) programmed: Option<Programmed>,
    pub(super) has_woken: bool,
}

impl Expiry {
    /// Whether the timer is still there when the sleep is over, as one on a sleeper's stack is not.
    pub(super) fn outlives_sleep(&self) -> bool {
        outlives_sleep(&self.function)
    }

    pub(super) fn is_tick(&self) -> bool {
        is_tick(&self.function)
    }

    /// The programmed time, if it is on `CLOCK_MONOTONIC`.
    pub(super) fn programmed_ns(&self) -> Option<u64> {
        let is_monotonic = |asked: &u64| {
            *asked <= self.at_ns + EARLIER_NS
                && self.at_ns.saturating_sub(*asked) < LATEST_EXPIRY_NS
        };
        self.programmed.map(|of| of.for_ns).filter(is_monotonic)
    }

    /// The programmed time, if it is on a clock that counts from 1970.
    pub(super) fn wall_ns(&self) -> Option<u64> {
        let asked = self.programmed.map(|of| of.for_ns);
        asked.filter(|&asked| asked >= WALL_CLOCK_NS && self.at_ns < WALL_CLOCK_NS)
    }

    /// Whether the programmed time had passed when it was programmed.
    pub(super) fn was_past(&self) -> bool {
        let times = self.programmed_ns().zip(self.programmed);
        times.is_some_and(|(for_ns, of)| for_ns <= of.at_ns)
    }

    /// The beginning of a turn of this thread.
    pub(super) fn begins(&self, thread: u32) -> Activation {
        let by_itself = self.programmed.filter(|of| of.by == thread);
        Activation {
            programmed_ns: self.programmed_ns(),
            wall_ns: self.wall_ns(),
            asked_at_ns: by_itself.map(|of| of.at_ns),
            timer: self.outlives_sleep().then_some(self.timer),
            expiry_ns: self.at_ns,
            ..Activation::default()
        }
    }
}
