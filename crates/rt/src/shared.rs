//! The shared memory between a loop's process and the recorder's.
//!
//! One ring for each thread, and the words by which they coordinate. This module defines the
//! layout, not the protocol.

#![allow(unsafe_code)] // Mapping memory and seeing structures in it.

mod lines;
mod opened;
mod words;

pub(crate) use lines::LoopLine;
pub use words::Words;

use crate::announcement::Announcement;
use crate::greeting::{Greeting, Stranger};
use crate::ring::{self, Indices, Reader, Slot, Writer};
use crate::said::{self, SaidIndices, Word};
use lines::RecorderLine;
use rustix::fd::{AsFd, OwnedFd};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

#[repr(C, align(128))]
struct Ring {
    of_loop: LoopLine,
    of_recorder: RecorderLine,
    announcement: Announcement,
    // The slots follow, and then the words for telemetry.
}

/// The mapped memory, shared by mapping it in several processes.
pub struct SharedMemory {
    base: NonNull<u8>,
    bytes: usize,
    file: OwnedFd,
    // The values when it was mapped: the other process can write anything into the memory.
    threads: u32,
    slots: u32,
    said_words: u32,
}

// SAFETY: everything in the memory is atomic but the slots, which `ring`'s contract protects.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

/// Reasons why shared memory isn't available.
#[derive(Debug, thiserror::Error)]
pub enum SharedMemoryError {
    /// The kernel refused.
    #[error("can't create shared memory for the samples: {0}")]
    Refused(#[from] std::io::Error),
    /// The file isn't of this layout.
    #[error("the shared memory is not wakepath's")]
    Layout,
    /// The memory is another version's.
    #[error("the shared memory is that of {0}, which this version does not understand")]
    Stranger(Stranger),
}

impl SharedMemory {
    fn map(
        file: OwnedFd,
        bytes: usize,
        [threads, slots, said_words]: [u32; 3],
    ) -> Result<Self, SharedMemoryError> {
        // POPULATE: no page of it faults in the loop, locked or not.
        // SAFETY: a new mapping at an address of the kernel's choice; it is unmapped on drop only.
        let base = unsafe {
            mmap(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::POPULATE,
                &file,
                0,
            )
        }
        .map_err(std::io::Error::from)?;
        let base = NonNull::new(base.cast()).ok_or(SharedMemoryError::Layout)?;
        Ok(Self {
            base,
            bytes,
            file,
            threads,
            slots,
            said_words,
        })
    }

    /// The descriptor, to hand to another process.
    pub fn file(&self) -> impl AsFd + '_ {
        &self.file
    }

    /// Versions of the two sides.
    pub fn greeting(&self) -> &Greeting {
        // SAFETY: the mapping is page-aligned and at least as large as `Greeting`; all its fields are
        // atomics.
        unsafe { self.base.cast().as_ref() }
    }

    /// The processes' common words.
    pub fn words(&self) -> &Words {
        // SAFETY: the mapping is page-aligned and at least as large as `Words`; all its fields are
        // atomics, for which every bit pattern is a value.
        unsafe { self.base.cast().as_ref() }
    }

    /// Number of rings.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// A user's loop's description of itself, next to its ring.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn announcement(&self, thread: u32) -> &Announcement {
        &self.ring(thread).announcement
    }

    /// The indices of a ring, for its counts.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn indices(&self, thread: u32) -> Indices<'_> {
        let ring = self.ring(thread);
        Indices::new(&ring.of_loop.samples, &ring.of_recorder.samples)
    }

    /// Data that a loop touches in each of its cycles.
    ///
    /// # Panics
    /// If there is no such ring.
    pub(crate) fn loop_line(&self, thread: u32) -> &LoopLine {
        &self.ring(thread).of_loop
    }

    /// Names of the sections that a loop is in, or was in when its program ended.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn running_sections(&self, thread: u32) -> Vec<String> {
        let running = &self.loop_line(thread).running_sections;
        self.announcement(thread)
            .sections_of(running.load(Ordering::Relaxed))
    }

    /// The loop's end of a ring.
    ///
    /// # Panics
    /// If there is no such ring.
    ///
    /// # Safety
    /// At most one writer for each ring, in all processes.
    pub unsafe fn writer(&self, thread: u32) -> Writer<'_> {
        // SAFETY: the caller's promise.
        unsafe { ring::writer(self.indices(thread), self.slots(thread)) }
    }

    /// The recorder's end of a ring.
    ///
    /// # Panics
    /// If there is no such ring.
    ///
    /// # Safety
    /// At most one reader for each ring, in all processes.
    pub unsafe fn reader(&self, thread: u32) -> Reader<'_> {
        // SAFETY: the caller's promise.
        unsafe { ring::reader(self.indices(thread), self.slots(thread)) }
    }

    /// The loop's end of the telemetry ring.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn said_writer(&self, thread: u32) -> said::Writer<'_> {
        said::writer(self.said_indices(thread), self.said_words(thread))
    }

    /// The recorder's end of the telemetry ring.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn said_reader(&self, thread: u32) -> said::Reader<'_> {
        said::reader(self.said_indices(thread), self.said_words(thread))
    }

    /// The indices of the telemetry ring, for its counts.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn said_indices(&self, thread: u32) -> SaidIndices<'_> {
        let ring = self.ring(thread);
        SaidIndices::new(&ring.of_loop.said, &ring.of_recorder.said)
    }

    fn said_words(&self, thread: u32) -> &[Word] {
        let slots = self.slots as usize * size_of::<Slot>();
        // SAFETY: the words follow the slots, within the mapping, aligned as they are; atomics only.
        unsafe {
            let begin: NonNull<u8> = self.ring_at(thread).add(1).cast();
            std::slice::from_raw_parts(begin.add(slots).cast().as_ptr(), self.said_words as usize)
        }
    }

    /// Lets each loop of the user's program begin when it is created, and run without a last cycle.
    /// Call before the program starts.
    pub fn open_to_all(&self) {
        for thread in 0..self.threads() {
            self.announcement(thread).plan(0, u64::MAX);
        }
        let as_they_come = crate::recorded::AS_THEY_COME;
        self.words().go.store(as_they_come, Ordering::Release);
    }

    /// For a recorder of loops that come and go: gives the ring of an ended loop to the next one.
    /// Call only after taking everything in it, and without a reader in use.
    ///
    /// # Panics
    /// If there is no such ring.
    pub fn give_to_another(&self, thread: u32) {
        self.empty(thread);
        self.announcement(thread).reset_to(u64::MAX);
    }

    /// Makes all rings empty and all words zero, between two segments. Only while no writer and no
    /// reader is in use.
    pub fn reset(&self) {
        // First: a loop left over from the segment before sees it and stops writing. It might be in
        // the middle of a sample, which takes some nanoseconds.
        let generation = self.words().generation().wrapping_add(1);
        self.words().generation.store(generation, Ordering::SeqCst);
        for thread in 0..self.threads() {
            let line = self.loop_line(thread);
            line.generation.store(generation, Ordering::SeqCst);
        }
        for thread in 0..self.threads() {
            self.empty(thread);
            self.announcement(thread).reset();
        }
        let words = self.words();
        words.greeting.forget_program();
        words.start_ns.store(0, Ordering::Relaxed);
        for word in [
            &words.stop,
            &words.guard_tripped,
            &words.go,
            &words.unrecorded,
            &words.in_a_child,
        ] {
            word.store(0, Ordering::Release);
        }
    }

    fn empty(&self, thread: u32) {
        self.indices(thread).reset();
        self.said_indices(thread).reset();
        let running = &self.loop_line(thread).running_sections;
        running.store(0, Ordering::Relaxed);
    }

    fn ring(&self, thread: u32) -> &Ring {
        // SAFETY: `ring_at` checked that the ring is in the mapping; only atomics.
        unsafe { self.ring_at(thread).as_ref() }
    }

    fn ring_at(&self, thread: u32) -> NonNull<Ring> {
        assert!(
            thread < self.threads(),
            "there are {} rings, not {thread}",
            self.threads()
        );
        let at = size_of::<Words>() + thread as usize * ring_bytes(self.slots, self.said_words);
        // SAFETY: `create` and `open` ensured that all rings are within the mapping.
        unsafe { self.base.add(at).cast() }
    }

    fn slots(&self, thread: u32) -> &[Slot] {
        let count = self.slots as usize;
        // SAFETY: the slots follow the ring's indices, within the mapping; they are cells of plain
        // data, and `Sync` by the ring's contract.
        unsafe { std::slice::from_raw_parts(self.ring_at(thread).add(1).cast().as_ptr(), count) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: the mapping belongs to this value, and no reference into it outlives `self`.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// Bytes of one ring with its slots and words, rounded so that the next one is aligned.
fn ring_bytes(slots: u32, said_words: u32) -> usize {
    let slots = slots as usize * size_of::<Slot>();
    let words = said_words as usize * size_of::<Word>();
    (size_of::<Ring>() + slots + words).next_multiple_of(128)
}

#[cfg(test)]
mod tests;
