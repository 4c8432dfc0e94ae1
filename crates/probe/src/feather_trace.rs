//! LITMUS^RT's Feather-Trace devices while a segment runs: their events switched on, their records taken into
//! the segment's file as they come. It knows the devices and their calls; records are interpreted elsewhere.

#![allow(unsafe_code)] // `ioctl` on the devices, and the counter by which they date their records.

use rustix::fs::{Mode, OFlags};
use rustix::ioctl::{IntegerSetter, ioctl};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use wakepath_archive::{
    ClockPair, FeatherBuffer, begin_feather_trace, end_feather_trace, feather_trace_name,
    put_feather_records,
};
use wakepath_directory::{Directory, NewFile};

/// The request that switches an event on; its argument is the event's number.
const ENABLE: rustix::ioctl::Opcode = 0;
/// Scheduling, its rest after the switch, context switches, releases, ticks: each with its end. Releases' latency.
const OF_A_CPU: [usize; 11] = [100, 101, 102, 103, 104, 105, 106, 107, 110, 111, 208];
/// Inter-processor interrupts that ask for a new decision: sent and received.
const MESSAGES: [usize; 2] = [190, 191];
/// Seldom enough to cost nothing; a buffer of the core's holds seconds.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);
const AT_ONCE: usize = 1 << 16;

/// Recording, until [`FeatherRecorder::end`].
#[derive(Debug)]
pub struct FeatherRecorder {
    enough: Arc<AtomicBool>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl FeatherRecorder {
    /// Begins to record into the segment's file; `None` if this kernel has no such devices, or a counter that
    /// can't be read here.
    ///
    /// # Errors
    /// Why the devices can't be opened, or the file not be made.
    pub fn start(directory: &Directory, segment: u32) -> io::Result<Option<Self>> {
        let Some(begun) = clocks() else {
            return Ok(None);
        };
        let devices = devices()?;
        if devices.is_empty() {
            return Ok(None);
        }
        let mut file = directory.create_anew(&feather_trace_name(segment))?;
        begin_feather_trace(&mut file, begun)?;
        let enough = Arc::new(AtomicBool::new(false));
        let told = enough.clone();
        let thread = std::thread::Builder::new()
            .name("feather-trace".into())
            .spawn(move || record(&told, devices, file))?;
        let thread = Some(thread);
        Ok(Some(Self { enough, thread }))
    }

    /// Ends, with all records in the file.
    ///
    /// # Errors
    /// The failed read or write.
    pub fn end(mut self) -> io::Result<()> {
        self.stop()
    }

    fn stop(&mut self) -> io::Result<()> {
        self.enough.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        thread.thread().unpark();
        let ended = thread.join();
        ended.unwrap_or_else(|_| Err(io::Error::other("its thread is gone")))
    }
}

impl Drop for FeatherRecorder {
    /// The reason for the segment's early end has been reported already.
    fn drop(&mut self) {
        let _ = self.stop();
    }
}

/// All devices of this kernel, with their events on. Closing them switches these off.
fn devices() -> io::Result<Vec<(FeatherBuffer, File)>> {
    let mut found = Vec::new();
    for (kind, events) in [("cpu", &OF_A_CPU[..]), ("msg", &MESSAGES)] {
        let mut is_on = false;
        for cpu in 0.. {
            let path = format!("/dev/litmus/ft_{kind}_trace{cpu}");
            let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let device = match rustix::fs::open(&path, flags, Mode::empty()) {
                Ok(device) => File::from(device),
                // Of a CPU that is not online there is a file and no device.
                Err(rustix::io::Errno::NODEV) => continue,
                Err(rustix::io::Errno::NOENT) => break,
                Err(error) => return Err(io::Error::new(error.kind(), format!("{path}: {error}"))),
            };
            // On is on for all CPUs.
            for &event in events.iter().filter(|_| !is_on) {
                // SAFETY: the request takes a number, and the kernel touches no memory of this process. An event
                // that it was built without is refused, and the others are recorded.
                let _ = unsafe { ioctl(&device, IntegerSetter::<ENABLE>::new_usize(event)) };
            }
            is_on = true;
            let buffer = match kind {
                "cpu" => FeatherBuffer::Cpu(cpu),
                _ => FeatherBuffer::Messages(cpu),
            };
            found.push((buffer, device));
        }
    }
    Ok(found)
}

fn record(
    enough: &AtomicBool,
    mut devices: Vec<(FeatherBuffer, File)>,
    mut file: NewFile,
) -> io::Result<()> {
    let mut bytes = vec![0; AT_ONCE];
    loop {
        // Asked before the last look, so that nothing is left behind.
        let is_last = enough.load(Ordering::Acquire);
        for (buffer, device) in &mut devices {
            loop {
                let length = match device.read(&mut bytes) {
                    Ok(0) => break,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    length => length?,
                };
                put_feather_records(&mut file, *buffer, &bytes[..length])?;
                if length < bytes.len() {
                    break;
                }
            }
        }
        if is_last {
            break;
        }
        std::thread::park_timeout(BETWEEN_LOOKS);
    }
    let ended = clocks().ok_or(ErrorKind::Unsupported)?;
    end_feather_trace(&mut file, ended)?;
    file.sync()
}

/// Both clocks at one instant, to some ten nanoseconds.
#[cfg(target_arch = "x86_64")]
fn clocks() -> Option<ClockPair> {
    let monotonic_ns = || {
        let now = clock_gettime(ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    };
    let before = monotonic_ns();
    // SAFETY: every x86-64 CPU has the instruction.
    let cycles = unsafe { std::arch::x86_64::_rdtsc() };
    let after = monotonic_ns();
    Some(ClockPair {
        cycles,
        monotonic_ns: before.midpoint(after),
    })
}

/// Elsewhere the core dates by a counter that a program can't read.
#[cfg(not(target_arch = "x86_64"))]
fn clocks() -> Option<ClockPair> {
    None
}
