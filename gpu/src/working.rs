//! Works in batches, until time is up or nobody reads the output any more.
//!
//! A batch is as long as gives about twenty reports a second; the first one's product is checked.

use crate::device::{COPY, Device};
use crate::error::GpuError;
use crate::matrix;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// The device's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Multiplies matrices; counted in millions of floating-point operations.
    Compute,
    /// Copies between the host's memory and its own; counted in bytes, both directions.
    Transfer,
}

/// Length of a batch.
const BATCH: Duration = Duration::from_millis(50);
/// Most repetitions of a batch.
const MOST: u32 = 4096;

/// Works for `length`, or forever.
pub fn until(
    device: &mut dyn Device,
    work: Work,
    length: Option<Duration>,
) -> Result<(), GpuError> {
    let began = Instant::now();
    let (mut times, mut count, mut busy) = (1, 0_u64, Duration::ZERO);
    let mut is_checked = work == Work::Transfer;
    while length.is_none_or(|length| began.elapsed() < length) {
        let before = Instant::now();
        busy += match work {
            Work::Compute => device.multiply(times)?,
            Work::Transfer => device.copy(times)?,
        };
        count += u64::from(times);
        if !is_checked {
            checked(device)?;
            is_checked = true;
        }
        let done = match work {
            Work::Compute => count * matrix::OPERATIONS / 1_000_000,
            Work::Transfer => count * 2 * COPY as u64,
        };
        if writeln!(io::stdout(), "{done} {}", busy.as_nanos()).is_err() {
            return Ok(());
        }
        times = next(times, before.elapsed());
    }
    Ok(())
}

/// How often the next batch does it, after one of `times` took `took`.
fn next(times: u32, took: Duration) -> u32 {
    let fits = f64::from(times) * BATCH.as_secs_f64() / took.as_secs_f64().max(1e-9);
    // At most twice as many: the first batches are slow, because drivers initialise in them.
    (fits as u32).clamp(1, MOST).min(times.saturating_mul(2))
}

fn checked(device: &mut dyn Device) -> Result<(), GpuError> {
    let product = device.product()?;
    match matrix::first_fault(&product) {
        None => Ok(()),
        Some((row, column, found, right)) => Err(GpuError::Wrong {
            interface: device.about().interface,
            row,
            column,
            found,
            right,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_to_their_length_and_shrink_from_beyond_it() {
        assert_eq!(next(1, Duration::from_millis(1)), 2);
        assert_eq!(next(100, Duration::from_millis(40)), 125);
        assert_eq!(next(100, Duration::from_millis(200)), 25);
        assert_eq!(next(1, Duration::from_secs(3)), 1);
        assert_eq!(next(MOST, Duration::ZERO), MOST);
    }
}
