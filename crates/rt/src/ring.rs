//! A wait-free ring for one writer and one reader, so that the loop never waits for the recorder.
//!
//! If the ring is full the sample is dropped and counted. It moves samples and doesn't know where
//! its memory comes from.

#![allow(unsafe_code)] // Slots are written and read through raw cells; the indices say whose turn it is.

use self::cell::{AtomicU64, Ordering};
use wakepath_timeline::Sample;

#[cfg(not(loom))]
mod cell {
    pub(super) use std::sync::atomic::{AtomicU64, Ordering};

    /// A slot that either side reaches only in its turn.
    #[repr(transparent)]
    #[derive(Debug, Default)]
    pub struct SampleCell(std::cell::UnsafeCell<super::Sample>);

    impl SampleCell {
        /// Gives the slot's pointer to `use_it`.
        #[inline]
        pub(super) fn with_mut<R>(&self, use_it: impl FnOnce(*mut super::Sample) -> R) -> R {
            use_it(self.0.get())
        }

        #[inline]
        pub(super) fn with<R>(&self, use_it: impl FnOnce(*const super::Sample) -> R) -> R {
            use_it(self.0.get())
        }
    }
}

#[cfg(loom)]
mod cell {
    pub(super) use loom::sync::atomic::{AtomicU64, Ordering};

    /// A slot whose accesses the model checker watches.
    #[derive(Debug, Default)]
    pub struct SampleCell(loom::cell::UnsafeCell<super::Sample>);

    impl SampleCell {
        pub(super) fn with_mut<R>(&self, use_it: impl FnOnce(*mut super::Sample) -> R) -> R {
            self.0.with_mut(use_it)
        }

        pub(super) fn with<R>(&self, use_it: impl FnOnce(*const super::Sample) -> R) -> R {
            self.0.with(use_it)
        }
    }
}

pub use self::cell::SampleCell as Slot;

// SAFETY: a slot is written only by the writer while it is beyond the published end, and read only
// by the reader while it is before it; the indices' release and acquire order the two.
unsafe impl Sync for Slot {}
// SAFETY: a slot is plain data.
unsafe impl Send for Slot {}

/// The writer's side of the indices. Its owner places it next to other data that the writer writes
/// at the same time, and never in a cache line of the reader's side.
#[repr(C)]
#[derive(Debug, Default)]
pub struct WriterSide {
    /// Samples written so far; the next one goes to slot `written % capacity`.
    written: AtomicU64,
    /// Samples dropped because the ring was full.
    lost: AtomicU64,
    /// Due times that the loop passed over before the sample that it pushed last.
    skipped: AtomicU64,
}

/// The reader's side of the indices.
#[repr(C)]
#[derive(Debug, Default)]
pub struct ReaderSide {
    /// Samples read so far.
    read: AtomicU64,
}

/// The shared indices of a ring.
#[derive(Debug, Clone, Copy)]
pub struct Indices<'a> {
    writer: &'a WriterSide,
    reader: &'a ReaderSide,
}

impl<'a> Indices<'a> {
    /// Those of these two sides.
    pub fn new(writer: &'a WriterSide, reader: &'a ReaderSide) -> Self {
        Self { writer, reader }
    }

    /// Samples written into the ring so far (those dropped not counted).
    pub fn written(self) -> u64 {
        self.writer.written.load(Ordering::Acquire)
    }

    /// Samples read so far.
    pub fn read(self) -> u64 {
        self.reader.read.load(Ordering::Acquire)
    }

    /// Samples dropped so far because the ring was full.
    pub fn lost(self) -> u64 {
        self.writer.lost.load(Ordering::Acquire)
    }

    /// Due times that the loop passed over, as far as it noted them: those before the sample that it
    /// pushed last, and once it has served all its due times those after that sample too.
    pub fn skipped(self) -> u64 {
        self.writer.skipped.load(Ordering::Acquire)
    }

    /// Makes the ring empty and its counts zero. Only while neither side is in use.
    pub fn reset(self) {
        self.reader.read.store(0, Ordering::Relaxed);
        self.writer.lost.store(0, Ordering::Relaxed);
        self.writer.skipped.store(0, Ordering::Relaxed);
        self.writer.written.store(0, Ordering::Release);
    }
}

/// The loop's end of the ring.
#[derive(Debug)]
pub struct Writer<'a> {
    indices: Indices<'a>,
    slots: &'a [Slot],
    written: u64,
    /// The reader's index as last read: read again only if the ring seems full, so that the
    /// reader's cache line is left alone in the common case.
    read_seen: u64,
    lost: u64,
    #[cfg(loom)]
    publish: Ordering,
}

/// The recorder's end of the ring.
#[derive(Debug)]
pub struct Reader<'a> {
    indices: Indices<'a>,
    slots: &'a [Slot],
    read: u64,
    is_damaged: bool,
}

/// The two ends of a ring.
///
/// # Panics
/// If the number of slots isn't a power of two.
///
/// # Safety
/// At most one writer and one reader can exist for the same memory, in all processes.
pub unsafe fn ends<'a>(indices: Indices<'a>, slots: &'a [Slot]) -> (Writer<'a>, Reader<'a>) {
    // SAFETY: the caller's promise.
    unsafe { (writer(indices, slots), reader(indices, slots)) }
}

/// Only the loop's end.
///
/// # Panics
/// If the number of slots isn't a power of two.
///
/// # Safety
/// As for [`ends`].
pub unsafe fn writer<'a>(indices: Indices<'a>, slots: &'a [Slot]) -> Writer<'a> {
    assert!(
        slots.len().is_power_of_two(),
        "a ring has a power of two of slots"
    );
    Writer {
        indices,
        slots,
        written: indices.writer.written.load(Ordering::Acquire),
        read_seen: indices.reader.read.load(Ordering::Acquire),
        lost: indices.writer.lost.load(Ordering::Acquire),
        #[cfg(loom)]
        publish: Ordering::Release,
    }
}

/// Only the recorder's end.
///
/// # Panics
/// If the number of slots isn't a power of two.
///
/// # Safety
/// As for [`ends`].
pub unsafe fn reader<'a>(indices: Indices<'a>, slots: &'a [Slot]) -> Reader<'a> {
    assert!(
        slots.len().is_power_of_two(),
        "a ring has a power of two of slots"
    );
    Reader {
        indices,
        slots,
        read: indices.reader.read.load(Ordering::Acquire),
        is_damaged: false,
    }
}

impl Writer<'_> {
    /// Stores how many due times the loop has skipped so far. Must precede the push of the next
    /// sample, so that a reader of the sample sees the count, even after the loop was killed.
    #[inline]
    pub fn note_skipped(&mut self, skipped: u64) {
        // Ordered by the release of the push, and at the end by the loop's announcement that it
        // ended.
        self.indices
            .writer
            .skipped
            .store(skipped, Ordering::Relaxed);
    }

    /// Asks for the slot of the next sample.
    #[inline]
    pub(crate) fn ask_ahead(&self) {
        crate::ahead::ask_for(&self.slots[(self.written & (self.slots.len() as u64 - 1)) as usize]);
    }

    /// Writes a sample, or drops it and counts it as lost when the ring is full. Wait-free: a
    /// bounded number of instructions whatever the reader does.
    #[inline]
    pub fn push(&mut self, sample: Sample) {
        let capacity = self.slots.len() as u64;
        if self.written - self.read_seen >= capacity {
            self.read_seen = self.indices.reader.read.load(Ordering::Acquire);
            if self.written - self.read_seen >= capacity {
                self.lost += 1;
                self.indices.writer.lost.store(self.lost, Ordering::Release);
                return;
            }
        }
        let slot = &self.slots[(self.written & (capacity - 1)) as usize];
        // SAFETY: the slot is beyond the published end, and the reader has given it back, so only
        // this writer reaches it.
        slot.with_mut(|place| unsafe { place.write(sample) });
        self.written += 1;
        self.indices
            .writer
            .written
            .store(self.written, self.publish());
    }

    #[cfg(not(loom))]
    #[inline]
    const fn publish(&self) -> Ordering {
        Ordering::Release
    }

    #[cfg(loom)]
    fn publish(&self) -> Ordering {
        self.publish
    }
}

impl Reader<'_> {
    /// Samples that the ring holds at most.
    pub fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Moves at most `most` available samples into `samples` and returns their number.
    pub fn take(&mut self, samples: &mut Vec<Sample>, most: usize) -> usize {
        let capacity = self.slots.len() as u64;
        let written = self.indices.writer.written.load(Ordering::Acquire);
        let waiting = written.wrapping_sub(self.read);
        // The user's program can write anything here. Our own writer never goes back or beyond the
        // reader.
        self.is_damaged |= waiting > capacity;
        if self.is_damaged {
            return 0;
        }
        let count = waiting.min(most as u64);
        for position in self.read..self.read + count {
            let slot = &self.slots[(position & (capacity - 1)) as usize];
            // SAFETY: the slot is before the published end and not yet given back, so the writer
            // doesn't reach it; every bit pattern is a sample.
            samples.push(slot.with(|place| unsafe { place.read() }));
        }
        self.read += count;
        self.indices.reader.read.store(self.read, Ordering::Release);
        count as usize
    }

    /// Whether the ring's indices were found to be impossible, so that something other than its
    /// writer wrote there. Samples taken before are valid; no more are taken.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged
    }
}

/// Both sides, for a test.
#[cfg(test)]
#[derive(Debug, Default)]
struct Sides {
    writer: WriterSide,
    reader: ReaderSide,
}

#[cfg(test)]
impl Sides {
    fn indices(&self) -> Indices<'_> {
        Indices::new(&self.writer, &self.reader)
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;
