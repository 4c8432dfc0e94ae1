//! Words by which the two sides of the shared memory coordinate, in addition to the rings.

use crate::announcement::{NAME_BYTES, read_name, write_name};
use crate::greeting::Greeting;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The processes' common words. Any change of their form, or of what follows, needs another
/// [`crate::greeting::LAYOUT`].
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Words {
    pub(super) greeting: Greeting,
    pub(super) threads: AtomicU32,
    pub(super) slots: AtomicU32,
    pub(super) said_words: AtomicU32,
    /// Not 0: the loop shall end after the cycle it is in.
    pub stop: AtomicU32,
    /// Not 0: the guard has stopped a spinning loop.
    pub guard_tripped: AtomicU32,
    /// Not 0: the recorder can't write any more (a full disk) and only counts.
    pub recorder_failed: AtomicU32,
    /// Not 0: loops of the user's program can begin, all at [`Self::start_ns`], or each when it is
    /// created ([`crate::recorded::AS_THEY_COME`]).
    pub go: AtomicU32,
    /// When cycle 0 of each of them is due, in nanoseconds on `CLOCK_MONOTONIC`.
    pub start_ns: AtomicU64,
    /// Loops that the user's program created after the start, or beyond the last ring.
    pub unrecorded: AtomicU32,
    /// The names of the first of them.
    unrecorded_names: [Name; UNRECORDED_NAMES],
    /// Changes with each segment: a loop left over from an earlier one stops writing.
    pub(super) generation: AtomicU32,
    /// Number of loops that a forked child of their program continued, or tried to.
    pub in_a_child: AtomicU32,
}

/// Stored names of loops that are not recorded.
const UNRECORDED_NAMES: usize = 8;

impl Words {
    /// The segment's generation of the memory.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Counts a loop that is not recorded, and keeps its name.
    pub(crate) fn leave_out(&self, name: &str) {
        let number = self.unrecorded.load(Ordering::Relaxed) as usize;
        if let Some(place) = self.unrecorded_names.get(number) {
            write_name(place, name);
        }
        self.unrecorded.fetch_add(1, Ordering::AcqRel);
    }

    /// Stored names of loops that are not recorded.
    pub fn left_out(&self) -> Vec<String> {
        let count = self.unrecorded.load(Ordering::Acquire) as usize;
        let names = self.unrecorded_names.iter().take(count).map(read_name);
        names.filter(|name| !name.is_empty()).collect()
    }
}

type Name = [AtomicU64; NAME_BYTES / 8];
