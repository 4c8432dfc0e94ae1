//! Opens an event of the kernel's `perf_event_open`, which has no safe wrapper.
//!
//! The caller chooses the event and interprets a refusal.

#![allow(unsafe_code)] // perf_event_open has no safe wrapper.

use rustix::fd::{FromRawFd, OwnedFd};
use std::io;

/// An event to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Event {
    /// The kernel's `type`, which determines the meaning of `config`.
    pub kind: u32,
    /// Which event.
    pub config: u64,
    /// Events from one record to the next; 0 only counts.
    pub sample_period: u64,
    /// Fields of a record.
    pub sample_type: u64,
    /// The single bits, in the kernel's order.
    pub flags: u64,
    /// Bytes, or events, after which a reader is woken.
    pub wake_up: u32,
    /// Clock of the records, if the flags select one.
    pub clock: i32,
    /// User registers in a record, one bit each, in the numbers of the kernel's `perf_regs.h`.
    pub user_registers: u64,
    /// Bytes of the user stack in a record, a multiple of 8.
    pub user_stack: u32,
}

/// The kernel's `perf_event_attr` in its fifth size (Linux 4.1, `include/uapi/linux/perf_event.h`).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wake_up: u32,
    breakpoint_type: u32,
    config_1: u64,
    config_2: u64,
    branch_sample_type: u64,
    user_registers: u64,
    user_stack: u32,
    clock: i32,
    interrupt_registers: u64,
    auxiliary_watermark: u32,
    longest_stack: u16,
    reserved: u16,
}

/// Whose events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The calling thread's, on any CPU.
    ThisThread,
    /// The calling thread's, on one CPU: only such an event has a ring if threads and programs that the thread starts
    /// inherit it.
    ThisThreadOn(u16),
    /// Another thread's, on any CPU.
    Thread(u32),
    /// Everybody's on one CPU.
    Cpu(u16),
}

impl Event {
    /// Opens the event. The descriptor is closed at `exec`.
    ///
    /// # Errors
    /// The kernel's error.
    pub fn open(self, of: Of) -> io::Result<OwnedFd> {
        /// `PERF_FLAG_FD_CLOEXEC`.
        const CLOSED_AT_EXEC: libc::c_ulong = 1 << 3;
        let attributes = Attributes {
            kind: self.kind,
            size: size_of::<Attributes>() as u32,
            config: self.config,
            sample_period: self.sample_period,
            sample_type: self.sample_type,
            flags: self.flags,
            wake_up: self.wake_up,
            clock: self.clock,
            user_registers: self.user_registers,
            user_stack: self.user_stack,
            ..Attributes::default()
        };
        let (thread, cpu): (libc::pid_t, libc::c_int) = match of {
            Of::ThisThread => (0, -1),
            Of::ThisThreadOn(cpu) => (0, cpu.into()),
            Of::Thread(thread) => (thread.cast_signed(), -1),
            Of::Cpu(cpu) => (-1, cpu.into()),
        };
        // SAFETY: the kernel reads `size` bytes of the attributes and writes none; no group.
        let opened = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                thread,
                cpu,
                -1_i32,
                CLOSED_AT_EXEC,
            )
        };
        match i32::try_from(opened) {
            // SAFETY: the kernel has just given this descriptor to us.
            Ok(descriptor) if descriptor >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attributes_have_one_of_the_kernels_sizes() {
        // `PERF_ATTR_SIZE_VER5`.
        assert_eq!(size_of::<Attributes>(), 112);
    }
}
