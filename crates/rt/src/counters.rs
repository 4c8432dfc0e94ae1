//! Hardware counters of the calling thread: cycles, instructions, last-level misses, in user space
//! only.
//!
//! Read without a system call if the CPU and the kernel let user space read them (`rdpmc`).
//! Otherwise opening returns an error; nothing is estimated.

#![allow(unsafe_code)] // The kernel's page is shared memory, and `rdpmc` an instruction.

use crate::perf_event::{Event, Of};
use rustix::fd::{AsFd, OwnedFd};
use std::io;

/// Counts since the counters were opened, or between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Counts {
    /// CPU cycles, at the clock's actual frequency.
    pub cycles: u64,
    /// Instructions retired.
    pub instructions: u64,
    /// Misses of the last-level cache, by the kernel's generic event on this CPU.
    pub misses: u64,
}

impl Counts {
    /// Difference to an earlier reading. The counters wrap.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            cycles: self.cycles.wrapping_sub(earlier.cycles),
            instructions: self.instructions.wrapping_sub(earlier.instructions),
            misses: self.misses.wrapping_sub(earlier.misses),
        }
    }
}

/// Reasons why there are no counters.
#[derive(Debug, thiserror::Error)]
pub enum CountersError {
    /// This machine has none, as virtual machines often do.
    #[error("this machine offers no hardware counter for {event}")]
    NotThere {
        /// Which event.
        event: &'static str,
    },
    /// They exist and this process has no right to open them.
    #[error(
        "hardware counters need a privilege that is missing; run as root, give the program \
         CAP_PERFMON, or set /proc/sys/kernel/perf_event_paranoid to 2 or less"
    )]
    Denied,
    /// They can be opened but only the kernel can read them, which costs system calls in the loop.
    #[error("hardware counters can't be read without a system call here, so they are left out")]
    NotReadable,
    /// The kernel refused for another reason.
    #[error("hardware counters can't be opened: {0}")]
    Refused(#[source] io::Error),
}

/// The three counters of the thread that opened them.
pub struct Counters([Counter; 3]);

impl Counters {
    /// Opens and starts them for the calling thread. Each is pinned: it counts all the time or
    /// can't be read, and is never scaled.
    ///
    /// # Errors
    /// When there are none, or none that the loop could read without a system call.
    pub fn open() -> Result<Self, CountersError> {
        // Numbers of PERF_TYPE_HARDWARE: cycles, instructions, cache misses.
        let counters = Self([
            Counter::open(0, "CPU cycles")?,
            Counter::open(1, "instructions")?,
            Counter::open(3, "last-level misses")?,
        ]);
        match counters.read() {
            Some(_) => Ok(counters),
            None => Err(CountersError::NotReadable),
        }
    }

    /// The counts so far; `None` if one can't be read at the moment. No system call.
    #[inline]
    pub fn read(&self) -> Option<Counts> {
        let [cycles, instructions, misses] = &self.0;
        Some(Counts {
            cycles: cycles.read()?,
            instructions: instructions.read()?,
            misses: misses.read()?,
        })
    }
}

/// The head of the kernel's `perf_event_mmap_page`.
#[repr(C)]
struct Page {
    version: u32,
    compatible_version: u32,
    lock: u32,
    index: u32,
    offset: i64,
    time_enabled: u64,
    time_running: u64,
    capabilities: u64,
    width: u16,
}

const PINNED: u64 = 1 << 2;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
#[cfg(target_arch = "x86_64")]
const USER_MAY_READ: u64 = 1 << 2;
/// Any mapping of at least one page works; a page can be larger than 4 KiB.
const MAPPED_BYTES: usize = 4096;

struct Counter {
    page: *const Page,
    bytes: usize,
    _event: OwnedFd,
}

impl Counter {
    fn open(config: u64, event: &'static str) -> Result<Self, CountersError> {
        let wanted = Event {
            config,
            flags: PINNED | EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
            ..Event::default()
        };
        let file = wanted
            .open(Of::ThisThread)
            .map_err(|error| match error.raw_os_error() {
                Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::ENOSYS) => {
                    CountersError::NotThere { event }
                }
                Some(libc::EPERM | libc::EACCES) => CountersError::Denied,
                _ => CountersError::Refused(error),
            })?;
        let bytes = rustix::param::page_size().max(MAPPED_BYTES);
        // SAFETY: a new mapping at a place of the kernel's choice.
        let page = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                bytes,
                rustix::mm::ProtFlags::READ,
                rustix::mm::MapFlags::SHARED,
                file.as_fd(),
                0,
            )
        }
        .map_err(|error| CountersError::Refused(error.into()))?;
        Ok(Self {
            page: page.cast(),
            bytes,
            _event: file,
        })
    }

    /// The count by the kernel's documented method: offset plus hardware counter, unless the page
    /// changed during the reading.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn read(&self) -> Option<u64> {
        use std::sync::atomic::{Ordering, compiler_fence};
        // Written by the kernel on this CPU only, at switches: fences for the compiler are enough.
        // SAFETY: the page is mapped for as long as `self` lives; volatile since it changes.
        unsafe {
            loop {
                let before = (&raw const (*self.page).lock).read_volatile();
                compiler_fence(Ordering::SeqCst);
                let index = (&raw const (*self.page).index).read_volatile();
                let offset = (&raw const (*self.page).offset).read_volatile();
                let capabilities = (&raw const (*self.page).capabilities).read_volatile();
                let width = (&raw const (*self.page).width).read_volatile();
                if capabilities & USER_MAY_READ == 0 || index == 0 || !(1..=64).contains(&width) {
                    return None;
                }
                let (low, high): (u32, u32);
                std::arch::asm!(
                    "rdpmc",
                    in("ecx") index - 1,
                    out("eax") low,
                    out("edx") high,
                    options(nomem, nostack, preserves_flags),
                );
                compiler_fence(Ordering::SeqCst);
                let after = (&raw const (*self.page).lock).read_volatile();
                if after == before {
                    let unused = 64 - u32::from(width);
                    let raw = (u64::from(high) << 32 | u64::from(low)) << unused;
                    let counted = (raw as i64) >> unused;
                    return Some(offset.wrapping_add(counted) as u64);
                }
            }
        }
    }

    /// Reading from user space is only implemented for x86-64.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    fn read(&self) -> Option<u64> {
        None
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        // SAFETY: our own mapping, to which no reference is left.
        let _ = unsafe { rustix::mm::munmap(self.page.cast_mut().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depends on the machine: working counters, or a refusal with a reason.
    #[test]
    fn counters_count_or_say_why_there_are_none() {
        match Counters::open() {
            Ok(counters) => {
                let before = counters.read().unwrap();
                let sum = (0..100_000_u64).fold(0, |sum, n| std::hint::black_box(sum + n));
                std::hint::black_box(sum);
                let counted = counters.read().unwrap().since(before);
                assert!(counted.instructions >= 100_000, "{counted:?}");
                assert!(counted.cycles > 10_000, "{counted:?}");
            }
            Err(error) => {
                let line = error.to_string();
                assert!(line.contains("counter") && !line.contains('\n'), "{line}");
                eprintln!("counting was not tested here: {line}");
            }
        }
    }

    #[test]
    fn counts_wrap() {
        let at = |cycles| Counts {
            cycles,
            ..Counts::default()
        };
        assert_eq!(at(5).since(at(u64::MAX - 4)), at(10));
    }
}
