//! Cobalt's interface, for the known revisions: only numbers and layouts.
//!
//! From its kernel headers (include/cobalt/uapi of Xenomai 3: syscall, thread, sched,
//! asm-generic/syscall, asm-generic/features; each architecture's asm/xenomai/uapi); for its
//! testing device, include/rtdm/uapi/testing.h, the same in all revisions.
//!
//! Revision 18 (Xenomai 3.2) has run in the laboratory on x86-64 (Linux 5.10 with Dovetail). The
//! others follow the documents: in the parts used here, they differ only in the size of the
//! scheduling parameters.

use std::ffi::{c_int, c_long};

/// Tells that the core is there, without entering it.
pub(super) const VERSION: &str = "/proc/xenomai/version";

/// Marks the number of a call for the core (`__COBALT_SYSCALL_BIT`).
pub(super) const MARK: c_long = 0x1000_0000;
/// On arm such a call is one system call, with the marked number as its first argument
/// (`XENO_ARM_SYSCALL`).
#[cfg(target_arch = "arm")]
pub(super) const CARRIER: c_long = 0x000f_0042;

// Numbers of calls: the same in all revisions.
pub(super) const BIND: c_long = 0;
pub(super) const SET_SCHEDULING: c_long = 7;
pub(super) const GET_SCHEDULING: c_long = 8;
pub(super) const GET_STATISTICS: c_long = 9;
pub(super) const CLOCK_GETTIME: c_long = 23;
pub(super) const CLOCK_NANOSLEEP: c_long = 25;
pub(super) const TIMERFD_CREATE: c_long = 57;
pub(super) const TIMERFD_SETTIME: c_long = 58;
pub(super) const OPEN: c_long = 77;
pub(super) const CLOSE: c_long = 79;
pub(super) const IOCTL: c_long = 80;
pub(super) const READ: c_long = 81;
pub(super) const MIGRATE: c_long = 88;

/// The core's `SCHED_FIFO`, and the policy of a thread that has left its queues (`SCHED_NORMAL`).
pub(super) const FIFO: c_int = 1;
pub(super) const NORMAL: c_int = 0;
/// `COBALT_SECONDARY`, `COBALT_PRIMARY`: in Linux, on the core.
pub(super) const SECONDARY: c_long = 0;
pub(super) const PRIMARY: c_long = 1;
/// `CLOCK_MONOTONIC`; `TIMER_ABSTIME` and `TFD_TIMER_ABSTIME`.
pub(super) const MONOTONIC: c_long = 1;
pub(super) const ABSOLUTE: c_long = 1;

/// Features that a program requires or accepts: smp, fastsynch, prioceiling.
pub(super) const FEATURES: u32 = 0x8000_0000 | 0x2000_0000 | 0x0400_0000;

/// Revisions of the interface of Xenomai 3.0, 3.1, 3.2 and 3.3, as far as each has this architecture
/// (`XENOMAI_ABI_REV`).
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
pub(super) const REVISIONS: &[u32] = &[16, 17, 18, 19];
#[cfg(target_arch = "arm")]
pub(super) const REVISIONS: &[u32] = &[16, 17, 18, 20];
#[cfg(target_arch = "aarch64")]
pub(super) const REVISIONS: &[u32] = &[1, 2, 20];
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "arm",
    target_arch = "aarch64"
)))]
pub(super) const REVISIONS: &[u32] = &[];

/// `struct cobalt_bindreq`, with `struct cobalt_featinfo` in it.
#[repr(C)]
#[derive(Debug)]
pub(super) struct BindRequest {
    pub features: u32,
    pub revision: u32,
    pub clock_frequency: u64,
    pub shared_page: u32,
    pub revision_of_the_core: u32,
    pub all: u32,
    pub mandatory: u32,
    pub requested: u32,
    pub missing: u32,
    pub names: [[u8; 64]; 4],
}

impl BindRequest {
    pub(super) fn new(features: u32, revision: u32) -> Self {
        Self {
            features,
            revision,
            clock_frequency: 0,
            shared_page: 0,
            revision_of_the_core: 0,
            all: 0,
            mandatory: 0,
            requested: 0,
            missing: 0,
            names: [[0; 64]; 4],
        }
    }
}

/// `struct sched_param_ex`, as large as the largest of any revision: up to 18 it has 28 bytes on 32-bit
/// architectures, and the core reads and writes no more than its own.
#[repr(C, align(8))]
#[derive(Debug, Default)]
pub(super) struct Scheduling {
    pub priority: i32,
    of_other_policies: [u32; 13],
}

impl Scheduling {
    pub(super) fn with(priority: u8) -> Self {
        Self {
            priority: priority.into(),
            ..Self::default()
        }
    }
}

/// `struct cobalt_threadstat`.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct Statistics {
    pub run_time_ns: u64,
    pub timeout_ns: u64,
    /// Switches into Linux.
    pub mode_switches: u64,
    pub context_switches: u64,
    pub calls: u64,
    pub state: u32,
    pub page_faults: u32,
    pub cpu: i32,
    pub priority: i32,
    pub name: [u8; 32],
    pub personality: [u8; 32],
}

/// `struct __user_old_timespec`: of the architecture's `long`.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Time {
    pub seconds: c_long,
    pub nanoseconds: c_long,
}

impl Time {
    pub(super) fn at(ns: u64) -> Self {
        Self {
            seconds: (ns / 1_000_000_000) as c_long,
            nanoseconds: (ns % 1_000_000_000) as c_long,
        }
    }

    pub(super) fn ns(self) -> u64 {
        (self.seconds as u64).wrapping_mul(1_000_000_000) + self.nanoseconds as u64
    }
}

/// `struct __user_old_itimerspec`.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct TimerSetting {
    pub interval: Time,
    pub value: Time,
}

/// The device that measures the core's own latencies (CONFIG_XENO_DRIVERS_TIMERBENCH).
pub(super) const TIMERBENCH: &str = "/dev/rtdm/timerbench";
/// Measured path (`RTTST_TMBENCH_TASK`, `RTTST_TMBENCH_HANDLER`).
pub(super) const BENCH_TASK: c_int = 0;
pub(super) const BENCH_HANDLER: c_int = 1;

/// `struct rttst_tmbench_config`.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct BenchOrder {
    pub mode: c_int,
    pub priority: c_int,
    pub period_ns: u64,
    /// Passes of a second each that don't count; with 0 they never end.
    pub warm_up_passages: c_int,
    pub histogram_size: c_int,
    pub histogram_bucket_size: c_int,
    pub freeze_largest: c_int,
}

/// `struct rttst_overall_bench_res`, with `struct rttst_bench_res` first. Times are ns.
#[repr(C)]
#[derive(Debug, Default)]
pub(super) struct BenchResult {
    pub mean_ns: i32,
    pub smallest_ns: i32,
    pub largest_ns: i32,
    pub overruns: i32,
    /// One more than the passages that counted.
    pub passages: i32,
    /// Addresses, which the core ignores unless a histogram was requested.
    pub histograms: [usize; 3],
}

/// Values of `smallest_ns` and `largest_ns` before the first pass that counts.
pub(super) const NOTHING_COUNTED: (i32, i32) = (10_000_000, -10_000_000);

/// A request of the class of testing devices (`RTDM_CLASS_TESTING`) as asm-generic/ioctl.h puts it together.
const fn testing(direction: u32, number: u8, bytes: usize) -> u32 {
    const CLASS: u32 = 6;
    direction << 30 | (bytes as u32) << 16 | CLASS << 8 | number as u32
}
pub(super) const BENCH_START: u32 = testing(1, 0x10, size_of::<BenchOrder>());
pub(super) const BENCH_STOP: u32 = testing(3, 0x11, size_of::<BenchResult>());

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[test]
    fn structures_are_laid_out_alike_where_words_have_32_and_64_bits() {
        assert_eq!(size_of::<BindRequest>(), 296);
        // `struct cobalt_featinfo` follows the two numbers of the request, with its own at 12.
        assert_eq!(offset_of!(BindRequest, clock_frequency), 8);
        assert_eq!(offset_of!(BindRequest, revision_of_the_core), 20);
        assert_eq!(offset_of!(BindRequest, names), 40);
        assert_eq!(size_of::<Scheduling>(), 56);
        assert_eq!(offset_of!(Scheduling, priority), 0);
        assert_eq!(size_of::<Statistics>(), 120);
        assert_eq!(offset_of!(Statistics, mode_switches), 16);
        assert_eq!(offset_of!(Statistics, state), 40);
        assert_eq!(offset_of!(Statistics, priority), 52);
        assert_eq!(offset_of!(Statistics, name), 56);
    }

    /// Sizes by the C compiler's `long` on each architecture: 8 and 16 bytes, or 16 and 32.
    #[test]
    fn times_have_the_words_of_the_architecture() {
        let word = size_of::<c_long>();
        assert_eq!(size_of::<Time>(), 2 * word);
        assert_eq!(size_of::<TimerSetting>(), 4 * word);
        assert_eq!(offset_of!(TimerSetting, value), 2 * word);
        let time = Time::at(1_999_999_999);
        assert_eq!((time.seconds, time.nanoseconds), (1, 999_999_999));
        assert_eq!(time.ns(), 1_999_999_999);
    }

    /// As C lays them out: the result ends with three addresses.
    #[test]
    fn the_testing_devices_structures_and_requests_have_the_kernels_sizes() {
        assert_eq!(size_of::<BenchOrder>(), 32);
        assert_eq!(offset_of!(BenchOrder, period_ns), 8);
        assert_eq!(offset_of!(BenchOrder, warm_up_passages), 16);
        assert_eq!(offset_of!(BenchResult, passages), 16);
        assert_eq!(BENCH_START, 0x4020_0610);
        match size_of::<usize>() {
            8 => {
                assert_eq!(offset_of!(BenchResult, histograms), 24);
                assert_eq!(BENCH_STOP, 0xc030_0611);
            }
            _ => {
                assert_eq!(offset_of!(BenchResult, histograms), 20);
                assert_eq!(BENCH_STOP, 0xc020_0611);
            }
        }
    }

    #[test]
    fn features_are_those_that_a_program_was_seen_to_ask_for() {
        assert_eq!(FEATURES, 0xa400_0000);
    }
}
