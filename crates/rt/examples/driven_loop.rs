//! A loop of 500 Hz that an external clock drives, for `wakepath record -- ./driven_loop`.
//!
//! A thread with its own timer simulates a bus. Its clock is 200 parts per million slow, and each
//! of its messages is late by up to 100 µs. The loop knows neither: it estimates when its cycles
//! were due, and prints that next to the truth.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;
use wakepath_rt::{Due, Loop, Policy, Preparation, clock, log};

const PERIOD: Duration = Duration::from_millis(2);
const SLOW_PPM: u64 = 200;
const JITTER_NS: u64 = 100_000;

/// When the bus sends its message of this number: its due time, and that with its jitter.
fn sent_ns(start_ns: u64, number: u64) -> (u64, u64) {
    let elapsed_ns = number * PERIOD.as_nanos() as u64;
    let due_ns = start_ns + elapsed_ns + elapsed_ns * SLOW_PPM / 1_000_000;
    // SplitMix64: the same jitter each time.
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (due_ns, due_ns + (mixed ^ (mixed >> 31)) % JITTER_NS)
}

/// The bus: writes each message's due time into a pipe when it is sent, until nobody reads any more.
fn bus(start_ns: u64, into: &OwnedFd) -> rustix::io::Result<()> {
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
    for number in 0.. {
        let (due_ns, at_ns) = sent_ns(start_ns, number);
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let at = Timespec {
            tv_sec: (at_ns / 1_000_000_000) as _,
            tv_nsec: (at_ns % 1_000_000_000) as _,
        };
        let once = Itimerspec {
            it_interval: zero,
            it_value: at,
        };
        timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &once)?;
        rustix::io::read(&timer, &mut [0; 8])?;
        rustix::io::write(into, &due_ns.to_ne_bytes())?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for shortfall in Preparation::default().apply()?.shortfalls {
        eprintln!("{shortfall}");
    }
    let mut cycles = Loop::driven("axis", PERIOD)?;
    let (from, into) = rustix::pipe::pipe()?;
    let start_ns = clock::monotonic_ns() + 5_000_000;
    std::thread::spawn(move || {
        // A bus waits for nobody.
        let real_time = Policy::Fifo { priority: 90 };
        if let Err(why) = wakepath_rt::attributes::set(0, real_time) {
            eprintln!("the bus is no more urgent than anything else: {why}");
        }
        bus(start_ns, &into)
    });
    let mut messages = [[0; 8]; 64];
    let mut errors_ns: Vec<i64> = Vec::with_capacity(1 << 20);
    loop {
        // All available messages: a loop that was late serves the latest.
        let bytes = rustix::io::read(from.as_fd(), messages.as_flattened_mut())?;
        let message = messages[bytes / 8 - 1];
        let Some(activation) = cycles.begin_cycle(Due::Estimated) else {
            break;
        };
        let true_ns = u64::from_ne_bytes(message);
        let error_ns = activation.due_ns.cast_signed() - true_ns.cast_signed();
        if errors_ns.len() < errors_ns.capacity() {
            errors_ns.push(error_ns);
        }
        if activation.cycle.is_multiple_of(100) {
            log!(cycles, "estimated {} ns after the true due time", error_ns);
        }
        cycles.finish(activation);
    }
    // The first windows find the clock.
    let settled = errors_ns.get(256..).unwrap_or_default();
    let mut sorted = settled.to_vec();
    sorted.sort_unstable();
    if let [least, .., most] = sorted[..] {
        println!(
            "estimated less true due times of {} cycles: median {} ns, from {least} ns to {most} ns",
            sorted.len(),
            sorted[sorted.len() / 2]
        );
    }
    Ok(())
}
