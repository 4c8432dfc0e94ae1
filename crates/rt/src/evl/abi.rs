//! EVL's interface, for the known ABI levels: only numbers and layouts.
//!
//! From its kernel headers (include/uapi/evl of linux-evl: control, thread, clock, factory, sched,
//! types, syscall, xbuf, devices/latmus).
//!
//! Level 32 has run in the laboratory (Linux 5.10); level 43 follows the documents: the same
//! structures, and calls only by `prctl`.

/// Device by which a process enters the core.
pub(super) const CONTROL: &str = "/dev/evl/control";
/// Device by which a thread enters it.
pub(super) const CLONE_THREAD: &str = "/dev/evl/thread/clone";
/// Its monotonic clock, which is Linux's `CLOCK_MONOTONIC`.
pub(super) const CLOCK: &str = "/dev/evl/clock/monotonic";

/// Marks the number of a call for the core (`__OOB_SYSCALL_BIT`, levels below 36).
pub(super) const OUT_OF_BAND: libc::c_long = 0x1000_0000;
/// The option of `prctl` for such a call (from level 36 on).
pub(super) const PRCTL_OUT_OF_BAND: libc::c_long = 0x4f4f_4243;
/// `sys_evl_read`, `sys_evl_ioctl`.
pub(super) const READ: libc::c_long = 0;
pub(super) const IOCTL: libc::c_long = 2;

/// `SCHED_FIFO`, which means the core's own queue there.
pub(super) const FIFO: i32 = 1;

/// How calls reach the core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// A system call whose number is marked.
    Marked,
    /// An option of `prctl`.
    Prctl,
}

/// The way of calling a core of this level; `None` for an unknown one.
pub(super) fn way(level: u32) -> Option<Way> {
    match level {
        32 => Some(Way::Marked),
        43 => Some(Way::Prctl),
        _ => None,
    }
}

/// `struct evl_core_info`.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct CoreInfo {
    pub abi_base: u32,
    pub abi_current: u32,
    pub fpu_features: u32,
    pub shared_bytes: u64,
}

/// `struct evl_clone_req`.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct CloneRequest {
    pub name: u64,
    pub attributes: u64,
    pub flags: u32,
    pub minor: u32,
    pub handle: u32,
    pub state_offset: u32,
    pub descriptor: u32,
}

/// `struct evl_sched_attrs`; the union's other members belong to unused policies.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub policy: i32,
    pub priority: i32,
    pub of_other_policies: [i64; 2],
}

/// `struct evl_thread_state`.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct ThreadState {
    pub attributes: Attributes,
    pub cpu: u32,
    pub state: u32,
    /// Switches into Linux.
    pub in_band_switches: u32,
    pub context_switches: u32,
    pub calls: u32,
    pub remote_wake_ups: u32,
    pub run_time_ns: u64,
}

/// `struct __evl_timespec`: 64 bits each, everywhere.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Time {
    pub seconds: i64,
    pub nanoseconds: i64,
}

impl Time {
    pub(super) fn at(ns: u64) -> Self {
        Self {
            seconds: (ns / 1_000_000_000).cast_signed(),
            nanoseconds: (ns % 1_000_000_000).cast_signed(),
        }
    }
}

/// `struct __evl_itimerspec`.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct TimerSetting {
    pub interval: Time,
    pub value: Time,
}

/// `struct evl_timerfd_setreq`: addresses of two settings.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct SetTimer {
    pub value: u64,
    pub old_value: u64,
}

/// The device that measures the core's own latencies (CONFIG_EVL_LATMUS); its interface was read
/// and run at level 32.
pub(super) const LATMUS: &str = "/dev/latmus";
pub(super) const LATMUS_LEVEL: u32 = 32;
/// Creates a buffer between the core and a program, through which the device reports its figures.
pub(super) const CLONE_BUFFER: &str = "/dev/evl/xbuf/clone";
/// Measured path (`EVL_LAT_IRQ`, `EVL_LAT_KERN`).
pub(super) const LATENCY_OF_HANDLER: u32 = 0;
pub(super) const LATENCY_OF_THREAD: u32 = 1;

/// `struct evl_xbuf_attrs`: bytes from the core, and to it.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct BufferSizes {
    pub from_the_core: u32,
    pub to_the_core: u32,
}

/// `struct latmus_setup`, with the part of its union that is for measuring.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct LatmusSetup {
    pub kind: u32,
    pub period_ns: u64,
    pub priority: i32,
    pub cpu: u32,
    pub buffer: u32,
    pub histogram_cells: u32,
}

/// `struct latmus_measurement`: one second's whole periods. Times are ns.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct LatmusSecond {
    pub sum_ns: i64,
    pub smallest_ns: i32,
    pub largest_ns: i32,
    pub overruns: u32,
    pub samples: u32,
}

/// `struct latmus_measurement_result`: addresses of the results since the last whole second, and of
/// a histogram.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct LatmusRest {
    pub last: u64,
    pub histogram: u64,
    pub histogram_bytes: u32,
}

/// `struct latmus_result`: the address and size of the former.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct LatmusRun {
    pub rest: u64,
    pub bytes: u32,
}

/// A request of `ioctl` as asm-generic/ioctl.h puts it together.
const fn request(direction: u32, group: u8, number: u8, bytes: usize) -> u32 {
    direction << 30 | (bytes as u32) << 16 | (group as u32) << 8 | number as u32
}
const NOTHING: u32 = 0;
const WRITE: u32 = 1;
const READ_BACK: u32 = 2;
const BOTH: u32 = 3;

pub(super) const GET_CORE_INFO: u32 = request(READ_BACK, b'C', 0, size_of::<CoreInfo>());
pub(super) const CLONE: u32 = request(BOTH, b'f', 0, size_of::<CloneRequest>());
pub(super) const SET_ATTRIBUTES: u32 = request(WRITE, b'T', 1, size_of::<Attributes>());
pub(super) const GET_STATE: u32 = request(READ_BACK, b'T', 4, size_of::<ThreadState>());
pub(super) const LEAVE: u32 = request(NOTHING, b'T', 7, 0);
pub(super) const SLEEP: u32 = request(WRITE, b'c', 0, size_of::<Time>());
pub(super) const NEW_TIMER: u32 = request(NOTHING, b'c', 5, 0);
pub(super) const SET_TIMER: u32 = request(BOTH, b't', 0, size_of::<SetTimer>());
pub(super) const LATMUS_MEASURE: u32 = request(BOTH, b'L', 1, size_of::<LatmusSetup>());
pub(super) const LATMUS_RUN: u32 = request(READ_BACK, b'L', 2, size_of::<LatmusRun>());

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// The C compiler's layout if 64-bit numbers are aligned to 8 bytes: on x86-64, arm64 and arm,
    /// the architectures of EVL.
    #[test]
    #[cfg(not(target_arch = "x86"))]
    fn structures_have_the_kernels_sizes_and_offsets() {
        assert_eq!(size_of::<CoreInfo>(), 24);
        assert_eq!(offset_of!(CoreInfo, shared_bytes), 16);
        assert_eq!(size_of::<CloneRequest>(), 40);
        assert_eq!(offset_of!(CloneRequest, descriptor), 32);
        assert_eq!(size_of::<Attributes>(), 24);
        assert_eq!(size_of::<ThreadState>(), 56);
        assert_eq!(offset_of!(ThreadState, in_band_switches), 32);
        assert_eq!(offset_of!(ThreadState, context_switches), 36);
        assert_eq!(offset_of!(ThreadState, calls), 40);
        assert_eq!(offset_of!(ThreadState, run_time_ns), 48);
        assert_eq!((size_of::<Time>(), size_of::<SetTimer>()), (16, 16));
        assert_eq!(size_of::<TimerSetting>(), 32);
        assert_eq!(size_of::<LatmusSetup>(), 32);
        assert_eq!(offset_of!(LatmusSetup, period_ns), 8);
        assert_eq!(offset_of!(LatmusSetup, buffer), 24);
        assert_eq!(size_of::<LatmusSecond>(), 24);
        assert_eq!(size_of::<LatmusRest>(), 24);
        assert_eq!(size_of::<LatmusRun>(), 16);
    }

    /// Against the numbers that programs used on a booted kernel.
    #[test]
    #[cfg(not(target_arch = "x86"))]
    fn requests_have_the_numbers_that_were_seen() {
        assert_eq!(GET_CORE_INFO, 0x8018_4300);
        assert_eq!(CLONE, 0xc028_6600);
        assert_eq!(SET_ATTRIBUTES, 0x4018_5401);
        assert_eq!(GET_STATE, 0x8038_5404);
        assert_eq!(LEAVE, 0x5407);
        assert_eq!(SLEEP, 0x4010_6300);
        assert_eq!(NEW_TIMER, 0x6305);
        assert_eq!(SET_TIMER, 0xc010_7400);
        assert_eq!(LATMUS_MEASURE, 0xc020_4c01);
        assert_eq!(LATMUS_RUN, 0x8010_4c02);
    }

    #[test]
    fn a_level_that_was_never_read_is_not_guessed() {
        assert_eq!(way(32), Some(Way::Marked));
        assert_eq!(way(43), Some(Way::Prctl));
        assert_eq!((way(31), way(35), way(44)), (None, None, None));
    }
}
