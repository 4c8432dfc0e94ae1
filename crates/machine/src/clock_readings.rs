//! The machine's clocks at one time, read close together.
//!
//! Two such readings show a stepped wall clock or a suspended machine. It is not a clock for
//! measuring a loop.

use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::{Deserialize, Serialize};

/// Three clocks, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockReadings {
    /// `CLOCK_REALTIME`, since 1970: an operator or a time service can step it.
    pub wall_ns: i64,
    /// `CLOCK_MONOTONIC`: never stepped, stops while the machine is suspended.
    pub monotonic_ns: u64,
    /// `CLOCK_BOOTTIME`: as monotonic, but runs on while suspended.
    pub boot_ns: u64,
}

impl ClockReadings {
    /// The clocks of this machine, now.
    pub fn now() -> Self {
        // Monotonic in the middle, because both others are compared with it.
        let wall = clock_gettime(ClockId::Realtime);
        let monotonic = clock_gettime(ClockId::Monotonic);
        let boot = clock_gettime(ClockId::Boottime);
        Self {
            wall_ns: nanoseconds(wall),
            monotonic_ns: nanoseconds(monotonic).unsigned_abs(),
            boot_ns: nanoseconds(boot).unsigned_abs(),
        }
    }

    /// How far the wall clock moved against the monotonic one since `earlier`, ns. A time
    /// service that slews moves it by at most 500 ppm: 30 ms in a minute.
    pub fn wall_moved_since(&self, earlier: &Self) -> i128 {
        let wall = i128::from(self.wall_ns) - i128::from(earlier.wall_ns);
        // Suspended time passes on the wall clock too; that is no step.
        wall - (i128::from(self.boot_ns) - i128::from(earlier.boot_ns))
    }

    /// How long the machine was suspended since `earlier`, ns.
    pub fn suspended_since(&self, earlier: &Self) -> i128 {
        let boot = i128::from(self.boot_ns) - i128::from(earlier.boot_ns);
        boot - (i128::from(self.monotonic_ns) - i128::from(earlier.monotonic_ns))
    }
}

/// Widened before the product: seconds are 32 bits on some targets.
#[allow(clippy::useless_conversion)]
fn nanoseconds(time: Timespec) -> i64 {
    i64::from(time.tv_sec)
        .saturating_mul(1_000_000_000)
        .saturating_add(i64::from(time.tv_nsec))
}
