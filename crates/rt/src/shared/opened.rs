//! Creates the memory, and joins another process's after checking its layout against its size.

use super::{SharedMemory, SharedMemoryError, Words, ring_bytes};
use crate::greeting::Greeting;
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fstat, ftruncate, memfd_create};
use std::sync::atomic::Ordering;

impl SharedMemory {
    /// New memory for `threads` rings of `slots` samples each, without space for telemetry.
    ///
    /// # Panics
    /// If `slots` isn't a power of two.
    ///
    /// # Errors
    /// If the kernel has no memory or no descriptor for it.
    pub fn create(threads: u32, slots: u32) -> Result<Self, SharedMemoryError> {
        Self::create_with(threads, slots, 0)
    }

    /// New memory for `threads` rings of `slots` samples each, with `words` words for each loop's
    /// telemetry.
    ///
    /// # Panics
    /// If either isn't a power of two; 0 words are allowed.
    ///
    /// # Errors
    /// If the kernel has no memory or no descriptor for it.
    pub fn create_with(
        threads: u32,
        slots: u32,
        said_words: u32,
    ) -> Result<Self, SharedMemoryError> {
        assert!(
            slots.is_power_of_two() && (said_words == 0 || said_words.is_power_of_two()),
            "a ring has a power of two of slots"
        );
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("wakepath-samples", flags).map_err(std::io::Error::from)?;
        let bytes = size_of::<Words>() + threads as usize * ring_bytes(slots, said_words);
        ftruncate(&file, bytes as u64).map_err(std::io::Error::from)?;
        // If another process could shorten it, reading it would kill this one.
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        fcntl_add_seals(&file, seals).map_err(std::io::Error::from)?;
        let memory = Self::map(file, bytes, [threads, slots, said_words])?;
        let words = memory.words();
        words.said_words.store(said_words, Ordering::Relaxed);
        words.threads.store(threads, Ordering::Relaxed);
        words.slots.store(slots, Ordering::Relaxed);
        words.greeting.introduce();
        Ok(memory)
    }

    /// Maps memory that another process handed over as a descriptor.
    ///
    /// # Errors
    /// If it can't be mapped or has another layout.
    pub fn open(file: OwnedFd) -> Result<Self, SharedMemoryError> {
        Self::greeted(file, |_| ())
    }

    /// As [`Self::open`], for the user's program: the recorder learns the version of its library,
    /// even if the two are incompatible.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn join(file: OwnedFd) -> Result<Self, SharedMemoryError> {
        Self::greeted(file, Greeting::answer)
    }

    fn greeted(file: OwnedFd, answer: fn(&Greeting)) -> Result<Self, SharedMemoryError> {
        let bytes = fstat(&file).map_err(std::io::Error::from)?.st_size as usize;
        if bytes < size_of::<Greeting>() {
            return Err(SharedMemoryError::Layout);
        }
        let mut memory = Self::map(file, bytes, [0; 3])?;
        let greeting = memory.greeting();
        if !greeting.is_ours() {
            return Err(SharedMemoryError::Layout);
        }
        answer(greeting);
        if let Some(recorder) = greeting.strange_recorder() {
            return Err(SharedMemoryError::Stranger(recorder));
        }
        if bytes < size_of::<Words>() {
            return Err(SharedMemoryError::Layout);
        }
        let words = memory.words();
        let slots = words.slots.load(Ordering::Relaxed);
        let threads = words.threads.load(Ordering::Relaxed);
        let said_words = words.said_words.load(Ordering::Relaxed);
        let expected = (threads as usize)
            .checked_mul(ring_bytes(slots, said_words))
            .and_then(|rings| rings.checked_add(size_of::<Words>()));
        let are_powers =
            slots.is_power_of_two() && (said_words == 0 || said_words.is_power_of_two());
        if are_powers && expected == Some(bytes) {
            (memory.threads, memory.slots) = (threads, slots);
            memory.said_words = said_words;
            Ok(memory)
        } else {
            Err(SharedMemoryError::Layout)
        }
    }
}
