//! `CLOCK_MONOTONIC` as 64-bit nanoseconds, on 32-bit targets too. It doesn't sleep.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The current time, in nanoseconds on `CLOCK_MONOTONIC`. Uses the vDSO if the kernel offers it: no
/// system call.
#[inline]
pub fn monotonic_ns() -> u64 {
    to_ns(clock_gettime(ClockId::Monotonic))
}

/// CPU time of the calling thread in nanoseconds. A system call.
#[inline]
pub fn thread_cpu_ns() -> u64 {
    to_ns(clock_gettime(ClockId::ThreadCPUTime))
}

/// A time in the kernel's form. Seconds and nanoseconds are 64 bits wide on all targets.
#[inline]
pub(crate) fn timespec(ns: u64) -> Timespec {
    Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as _,
    }
}

#[inline]
fn to_ns(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_never_goes_back_and_counts_nanoseconds() {
        let before = monotonic_ns();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let elapsed = monotonic_ns() - before;
        assert!(
            (20_000_000..2_000_000_000).contains(&elapsed),
            "{elapsed} ns"
        );
    }

    #[test]
    fn a_time_beyond_32_bits_of_nanoseconds_survives_the_conversion() {
        let far = 40 * 365 * 86_400 * 1_000_000_000_u64 + 7;
        assert_eq!(to_ns(timespec(far)), far);
    }
}
