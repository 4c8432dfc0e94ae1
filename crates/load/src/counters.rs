//! The page of counters shared by the measuring process, the supervisor and the workers, so that
//! reading the proof costs no system call and writing it no more than an addition.
#![allow(unsafe_code)] // A shared mapping has no safe wrapper.

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::io;
use rustix::mm::{MapFlags, ProtFlags};
use std::ffi::c_void;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of one load (the first slots) or of one worker (the rest). 128 bytes, because some
/// processors fetch cache lines in pairs.
#[repr(C, align(128))]
#[derive(Default)]
pub(crate) struct Slot {
    /// Work that succeeded, in the smallest unit of its kind. Written by workers. For a program:
    /// CPU time in microseconds that its launchers used before they became the program.
    pub(crate) work: AtomicU64,
    /// The TCP port of a companion server once it listens.
    pub(crate) port: AtomicU64,
    /// CPU time of the load's processes in microseconds. Written by the supervisor.
    pub(crate) cpu_us: AtomicU64,
    /// Bytes that the load's processes read and wrote. Written by the supervisor.
    pub(crate) io_bytes: AtomicU64,
    /// How often a program was started again after it ended well. Written by the supervisor.
    pub(crate) restarts: AtomicU64,
    /// Working time of a device, in nanoseconds of its own clock. Written by the worker that uses
    /// it.
    pub(crate) device_ns: AtomicU64,
    /// 1 if the load ended although it should not have. Written by the supervisor.
    pub(crate) ended: AtomicU64,
}

impl Slot {
    /// Adds completed work.
    pub(crate) fn add(&self, amount: u64) {
        self.work.fetch_add(amount, Ordering::Relaxed);
    }
}

/// A mapping of the shared slots.
pub(crate) struct Counters {
    base: NonNull<Slot>,
    slots: usize,
    file: OwnedFd,
}

// SAFETY: the mapping holds nothing but atomics and lives as long as the value.
unsafe impl Send for Counters {}
// SAFETY: as above; shared access is through atomics only.
unsafe impl Sync for Counters {}

impl Counters {
    /// Creates a memory file of `slots` zeroed slots and maps it.
    pub(crate) fn create(slots: usize) -> io::Result<Self> {
        let file = rustix::fs::memfd_create(
            "wakepath-load-counters",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        )?;
        rustix::fs::ftruncate(&file, (slots.max(1) * size_of::<Slot>()) as u64)?;
        // A program that shrank the file would crash the measuring process.
        rustix::fs::fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Self::map(file)
    }

    /// Maps a file created by [`Counters::create`].
    pub(crate) fn map(file: OwnedFd) -> io::Result<Self> {
        let bytes = usize::try_from(rustix::fs::fstat(&file)?.st_size).unwrap_or(0);
        let slots = bytes / size_of::<Slot>();
        if slots == 0 {
            return Err(io::Errno::INVAL);
        }
        // SAFETY: a new mapping at an address of the kernel's choice, unmapped in drop. Its length
        // is sealed, so it stays backed by memory.
        let base = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                slots * size_of::<Slot>(),
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )?
        };
        let base = NonNull::new(base.cast::<Slot>()).ok_or(io::Errno::NOMEM)?;
        Ok(Self { base, slots, file })
    }

    /// The slot with `index`.
    ///
    /// # Panics
    /// If there is no such slot, which is a bug in the plan.
    pub(crate) fn slot(&self, index: u32) -> &Slot {
        let index = index as usize;
        assert!(index < self.slots, "load counter {index} of {}", self.slots);
        // SAFETY: within the mapping, which is page-aligned (so 128-byte aligned), zeroed by the
        // kernel and holds atomics only, for which every bit pattern is valid.
        unsafe { self.base.add(index).as_ref() }
    }
}

impl AsFd for Counters {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        let length = self.slots * size_of::<Slot>();
        // SAFETY: the mapping made in `map`; every reference to it borrows from self.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast::<c_void>(), length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_mappings_of_one_file_see_the_same_counts() {
        let mine = Counters::create(3).unwrap();
        let other = Counters::map(mine.as_fd().try_clone_to_owned().unwrap()).unwrap();
        other.slot(2).add(7);
        assert_eq!(mine.slot(2).work.load(Ordering::Relaxed), 7);
        assert_eq!(mine.slot(1).work.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn each_slot_has_cache_lines_of_its_own() {
        assert_eq!(size_of::<Slot>(), 128);
    }
}
