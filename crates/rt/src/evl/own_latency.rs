//! EVL's own latencies, measured by its device `latmus`.
//!
//! The latency of its timer's handler, or of its own kernel thread. The calling thread waits on the
//! core until a signal ends the measurement.

use super::abi::{self, LatmusRest, LatmusRun, LatmusSecond, LatmusSetup};
use super::alarm::Alarm;
use super::{calls, leave, opened, told_by};
use crate::Preparation;
use crate::core_latency::{CoreLatency, CoreLatencyError, CoreLatencyOrder, CoreStage, refused};
use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{OFlags, fcntl_setfl};
use std::fs::File;
use std::io;
use wakepath_timeline::Policy;

const DEVICE_OPTION: &str = "CONFIG_EVL_LATMUS";
/// Space for seconds in addition to the requested ones.
const ROOM: u32 = 8;

/// Makes the device measure, and waits for it.
///
/// # Errors
/// The reason why there is no figure.
pub(crate) fn measure(
    order: &CoreLatencyOrder,
    priority: u8,
) -> Result<CoreLatency, CoreLatencyError> {
    let info = told_by(&opened(abi::CONTROL)?)?;
    let way = abi::way(info.abi_current).filter(|_| info.abi_current == abi::LATMUS_LEVEL);
    let way = way.ok_or(CoreLatencyError::UnknownInterface {
        device: abi::LATMUS,
    })?;
    let device = File::options().read(true).write(true).open(abi::LATMUS);
    let device = device.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => CoreLatencyError::NoDevice {
            device: abi::LATMUS,
            option: DEVICE_OPTION,
        },
        _ => refused("be opened")(error),
    })?;
    // The core accepts this call only from its own threads. This one sleeps during the measurement.
    Preparation {
        policy: Policy::EvlFifo { priority: 1 },
        cpus: Some(vec![order.cpu]),
        ..Preparation::default()
    }
    .apply()?;
    let bytes = size_of::<LatmusSecond>() as u32 * (order.seconds + ROOM);
    let buffer =
        calls::new_buffer(opened(abi::CLONE_BUFFER)?, bytes).map_err(refused("have a buffer"))?;
    fcntl_setfl(&buffer, OFlags::NONBLOCK)
        .map_err(|error| refused("have a buffer")(error.into()))?;
    let mut setup = LatmusSetup {
        kind: match order.stage {
            CoreStage::Handler => abi::LATENCY_OF_HANDLER,
            CoreStage::Thread => abi::LATENCY_OF_THREAD,
        },
        period_ns: order.period_ns,
        priority: priority.into(),
        cpu: order.cpu.into(),
        buffer: buffer.as_raw_fd().cast_unsigned(),
        histogram_cells: 0,
    };
    calls::ioctl(&device, abi::LATMUS_MEASURE, &mut setup).map_err(refused("be set up"))?;
    // The last report covers less than a second and is left out.
    let mut last = LatmusSecond::default();
    let mut rest = LatmusRest {
        last: (&raw mut last).expose_provenance() as u64,
        ..LatmusRest::default()
    };
    let mut run = LatmusRun {
        rest: (&raw mut rest).expose_provenance() as u64,
        bytes: size_of::<LatmusRest>() as u32,
    };
    let alarm = Alarm::in_ns(order.takes_ns()).map_err(refused("be ended by a timer"))?;
    let ran = calls::core_ioctl(way, &device, abi::LATMUS_RUN, &mut run);
    drop(alarm);
    leave();
    // The core calls every call interrupted that a signal ended; its figures are in the buffer all the same.
    if let Err(error) = ran
        && error.kind() != io::ErrorKind::Interrupted
    {
        return Err(refused("measure")(error));
    }
    let seconds = read_all(&buffer).map_err(refused("tell its figures"))?;
    sum(order, &seconds)
}

fn read_all(buffer: &OwnedFd) -> io::Result<Vec<LatmusSecond>> {
    let mut seconds = Vec::new();
    let mut bytes = [0; size_of::<LatmusSecond>()];
    loop {
        match rustix::io::read(buffer, &mut bytes) {
            Ok(read) if read == bytes.len() => seconds.push(second(&bytes)),
            Ok(_) | Err(rustix::io::Errno::AGAIN) => return Ok(seconds),
            Err(error) => return Err(error.into()),
        }
    }
}

fn second(bytes: &[u8; size_of::<LatmusSecond>()]) -> LatmusSecond {
    let word = |at: usize| -> [u8; 4] { std::array::from_fn(|byte| bytes[at + byte]) };
    LatmusSecond {
        sum_ns: i64::from_ne_bytes(std::array::from_fn(|byte| bytes[byte])),
        smallest_ns: i32::from_ne_bytes(word(8)),
        largest_ns: i32::from_ne_bytes(word(12)),
        overruns: u32::from_ne_bytes(word(16)),
        samples: u32::from_ne_bytes(word(20)),
    }
}

/// Sums up the requested seconds.
fn sum(
    order: &CoreLatencyOrder,
    seconds: &[LatmusSecond],
) -> Result<CoreLatency, CoreLatencyError> {
    let wanted = &seconds[..seconds.len().min(order.seconds as usize)];
    let periods: u64 = wanted.iter().map(|second| u64::from(second.samples)).sum();
    let smallest = wanted.iter().map(|second| second.smallest_ns).min();
    let largest = wanted.iter().map(|second| second.largest_ns).max();
    let (Some(smallest), Some(largest), 1..) = (smallest, largest, periods) else {
        let waited_s = order.takes_ns() / 1_000_000_000;
        return Err(CoreLatencyError::NothingCounted(waited_s));
    };
    let sum_ns: i64 = wanted.iter().map(|second| second.sum_ns).sum();
    Ok(CoreLatency {
        periods,
        smallest_ns: smallest.into(),
        mean_ns: sum_ns / periods.cast_signed(),
        largest_ns: largest.into(),
        overruns: wanted.iter().map(|second| u64::from(second.overruns)).sum(),
        cpu: Some(order.cpu),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: CoreLatencyOrder = CoreLatencyOrder {
        policy: Policy::EvlFifo { priority: 80 },
        stage: CoreStage::Thread,
        cpu: 0,
        period_ns: 250_000_000,
        seconds: 2,
    };

    #[test]
    fn seconds_are_read_as_the_core_wrote_them() {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&(-40_i64).to_ne_bytes());
        bytes[8..12].copy_from_slice(&(-30_i32).to_ne_bytes());
        bytes[12..16].copy_from_slice(&7_i32.to_ne_bytes());
        bytes[16..20].copy_from_slice(&1_u32.to_ne_bytes());
        bytes[20..].copy_from_slice(&4_u32.to_ne_bytes());
        let expected = LatmusSecond {
            sum_ns: -40,
            smallest_ns: -30,
            largest_ns: 7,
            overruns: 1,
            samples: 4,
        };
        assert_eq!(second(&bytes), expected);
    }

    #[test]
    fn seconds_beyond_those_that_were_ordered_do_not_count() {
        let one = LatmusSecond {
            sum_ns: -40,
            smallest_ns: -30,
            largest_ns: 7,
            overruns: 1,
            samples: 4,
        };
        let worse = LatmusSecond {
            largest_ns: 9_000,
            ..one
        };
        let latency = sum(&ORDER, &[one, one, worse]).unwrap();
        assert_eq!((latency.periods, latency.mean_ns), (8, -10));
        assert_eq!((latency.largest_ns, latency.overruns), (7, 2));
        assert!(sum(&ORDER, &[]).is_err());
    }
}
