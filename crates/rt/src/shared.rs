//! The shared memory between a loop's process and the recorder's: one ring for each thread and the
//! words by which they tell each other where they are. It says where things lie, not what is done
//! with them.

#![allow(unsafe_code)] // Mapping memory and seeing structures in it.

use crate::announcement::Announcement;
use crate::ring::{self, Indices, Reader, Slot, Writer};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// "wakepth4" as a number: another layout gets another one.
const MAGIC: u64 = 0x7761_6b65_7074_6834;

/// What the processes tell each other.
#[repr(C, align(128))]
#[derive(Debug)]
pub struct Words {
    magic: AtomicU64,
    threads: AtomicU32,
    slots: AtomicU32,
    /// Not 0: the loop shall end after the cycle it is in.
    pub stop: AtomicU32,
    /// Not 0: the guard has stopped a spinning loop.
    pub guard_tripped: AtomicU32,
    /// Not 0: the recorder can't write any more (a full disk) and only counts.
    pub recorder_failed: AtomicU32,
    /// Not 0: loops of a program of the user's own may begin.
    pub go: AtomicU32,
    /// When cycle 0 of each of them is due, in nanoseconds on `CLOCK_MONOTONIC`.
    pub start_ns: AtomicU64,
    /// Loops that a program of the user's own made after the beginning, or beyond the last ring.
    pub unrecorded: AtomicU32,
}

#[repr(C, align(128))]
struct Ring {
    indices: Indices,
    announcement: Announcement,
    // The slots follow.
}

/// The mapped memory. The same memory mapped in several processes is what makes it shared.
pub struct SharedMemory {
    base: NonNull<u8>,
    bytes: usize,
    file: OwnedFd,
    // As they were when it was mapped: whoever shares the memory may write anything into it.
    threads: u32,
    slots: u32,
}

// SAFETY: everything in the memory is atomic but the slots, which `ring`'s contract protects.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

/// Why shared memory could not be had.
#[derive(Debug, thiserror::Error)]
pub enum SharedMemoryError {
    /// The kernel refused.
    #[error("shared memory for the samples can't be had: {0}")]
    Refused(#[from] std::io::Error),
    /// The file isn't of this layout.
    #[error("the shared memory is not of this version of wakepath")]
    Layout,
}

impl SharedMemory {
    /// New memory for `threads` rings of `slots` samples each.
    ///
    /// # Panics
    /// When `slots` isn't a power of two.
    ///
    /// # Errors
    /// When the kernel has no memory or no descriptor for it.
    pub fn create(threads: u32, slots: u32) -> Result<Self, SharedMemoryError> {
        assert!(
            slots.is_power_of_two(),
            "a ring has a power of two of slots"
        );
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("wakepath-samples", flags).map_err(std::io::Error::from)?;
        let bytes = size_of::<Words>() + threads as usize * ring_bytes(slots);
        ftruncate(&file, bytes as u64).map_err(std::io::Error::from)?;
        // Cut short by another process, it would kill whoever reads it.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        fcntl_add_seals(&file, seals).map_err(std::io::Error::from)?;
        let memory = Self::map(file, bytes, threads, slots)?;
        let words = memory.words();
        words.threads.store(threads, Ordering::Relaxed);
        words.slots.store(slots, Ordering::Relaxed);
        words.magic.store(MAGIC, Ordering::Release);
        Ok(memory)
    }

    /// The memory behind a descriptor that another process handed over.
    ///
    /// # Errors
    /// When it can't be mapped or isn't of this layout.
    pub fn open(file: OwnedFd) -> Result<Self, SharedMemoryError> {
        let bytes = fstat(&file).map_err(std::io::Error::from)?.st_size as usize;
        if bytes < size_of::<Words>() {
            return Err(SharedMemoryError::Layout);
        }
        let mut memory = Self::map(file, bytes, 0, 0)?;
        let words = memory.words();
        let is_ours = words.magic.load(Ordering::Acquire) == MAGIC;
        let slots = words.slots.load(Ordering::Relaxed);
        let threads = words.threads.load(Ordering::Relaxed);
        let expected = (threads as usize)
            .checked_mul(ring_bytes(slots))
            .and_then(|rings| rings.checked_add(size_of::<Words>()));
        match is_ours && slots.is_power_of_two() && expected == Some(bytes) {
            true => {
                (memory.threads, memory.slots) = (threads, slots);
                Ok(memory)
            }
            false => Err(SharedMemoryError::Layout),
        }
    }

    fn map(
        file: OwnedFd,
        bytes: usize,
        threads: u32,
        slots: u32,
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
        })
    }

    /// The descriptor, to hand to another process.
    pub fn file(&self) -> impl AsFd + '_ {
        &self.file
    }

    /// The words that the processes tell each other.
    pub fn words(&self) -> &Words {
        // SAFETY: the mapping is page-aligned and at least as large as `Words`; all its fields are
        // atomics, for which every bit pattern is a value.
        unsafe { self.base.cast().as_ref() }
    }

    /// Number of rings.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// What a loop of the user's own says of itself beside its ring.
    ///
    /// # Panics
    /// When there is no such ring.
    pub fn announcement(&self, thread: u32) -> &Announcement {
        // SAFETY: `ring_at` checked that the ring lies in the mapping; atomics only.
        unsafe { &self.ring_at(thread).as_ref().announcement }
    }

    /// The indices of a ring, for its counts.
    ///
    /// # Panics
    /// When there is no such ring.
    pub fn indices(&self, thread: u32) -> &Indices {
        // SAFETY: `ring_at` checked that the ring lies in the mapping; atomics only.
        unsafe { &self.ring_at(thread).as_ref().indices }
    }

    /// The loop's end of a ring.
    ///
    /// # Panics
    /// When there is no such ring.
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
    /// When there is no such ring.
    ///
    /// # Safety
    /// At most one reader for each ring, in all processes.
    pub unsafe fn reader(&self, thread: u32) -> Reader<'_> {
        // SAFETY: the caller's promise.
        unsafe { ring::reader(self.indices(thread), self.slots(thread)) }
    }

    /// Makes all rings empty and all words zero, between two segments. Only while no writer and no
    /// reader is in use.
    pub fn reset(&self) {
        for thread in 0..self.threads() {
            self.indices(thread).reset();
            self.announcement(thread).reset();
        }
        let words = self.words();
        words.start_ns.store(0, Ordering::Relaxed);
        for word in [
            &words.stop,
            &words.guard_tripped,
            &words.go,
            &words.unrecorded,
        ] {
            word.store(0, Ordering::Release);
        }
    }

    fn ring_at(&self, thread: u32) -> NonNull<Ring> {
        assert!(
            thread < self.threads(),
            "there are {} rings, not {thread}",
            self.threads()
        );
        let at = size_of::<Words>() + thread as usize * ring_bytes(self.slots);
        // SAFETY: `create` and `open` made sure that all rings lie within the mapping.
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
        // SAFETY: the mapping is ours alone and no reference into it outlives `self`.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// Bytes of one ring with its slots, rounded so that the next one is aligned.
fn ring_bytes(slots: u32) -> usize {
    (size_of::<Ring>() + slots as usize * size_of::<Slot>()).next_multiple_of(128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::Sample;

    #[test]
    fn another_mapping_of_the_same_memory_sees_the_samples() {
        let ours = SharedMemory::create(2, 8).unwrap();
        let theirs = SharedMemory::open(ours.file().as_fd().try_clone_to_owned().unwrap()).unwrap();
        // SAFETY: one writer and one reader for ring 1.
        let (mut writer, mut reader) = unsafe { (ours.writer(1), theirs.reader(1)) };
        writer.push(Sample {
            cycle: 42,
            ..Sample::default()
        });
        let mut taken = Vec::new();
        reader.take(&mut taken, 10);
        assert_eq!(taken[0].cycle, 42);
        assert_eq!(theirs.indices(0).written(), 0);
    }

    #[test]
    fn foreign_memory_is_refused() {
        let file = memfd_create("foreign", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, 1 << 16).unwrap();
        assert!(matches!(
            SharedMemory::open(file),
            Err(SharedMemoryError::Layout)
        ));
    }
}
