//! What an event costs, measured here: two threads on one CPU pass a byte to and fro, with and
//! without the instance recording. Each passage sleeps, wakes and switches, as a loop does.

use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wakepath_rt::affinity;

use crate::error::{ProbeError, Result};
use crate::instance::Instance;

/// Passages to and fro in one turn: some milliseconds.
const PASSAGES: u32 = 1_000;
/// Turns with and without, one after the other. The least of each counts: whatever else runs on
/// the CPU only adds.
const TURNS: u32 = 7;

/// What an event costs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EventCost {
    /// Nanoseconds of one event, as the difference of the least times divided by the events.
    pub ns_per_event: f64,
    /// Events of one passage to and fro.
    pub events_per_passage: f64,
    /// Least time of a passage without recording, in nanoseconds.
    pub passage_ns: f64,
}

impl EventCost {
    /// Measures on the first of the instance's CPUs; takes about a tenth of a second.
    ///
    /// # Errors
    /// [`ProbeError::Io`].
    pub fn measure(instance: &Instance) -> Result<Self> {
        let cpu = instance.cpus()[0];
        let place = instance.directory().to_owned();
        let failed = |error| ProbeError::io("measure the cost of an event of", &place)(error);
        let (mut without, mut with) = (Duration::MAX, Duration::MAX);
        let mut events = u64::MAX;
        for _ in 0..TURNS {
            without = without.min(pass_to_and_fro(cpu).map_err(failed)?);
            instance.start()?;
            let taken = pass_to_and_fro(cpu).map_err(failed);
            instance.stop()?;
            with = with.min(taken?);
            let statistics = instance.statistics(cpu)?;
            events = events.min(statistics.entries + statistics.overrun);
        }
        let more_ns = with.as_nanos() as f64 - without.as_nanos() as f64;
        Ok(Self {
            ns_per_event: more_ns / events.max(1) as f64,
            events_per_passage: events as f64 / f64::from(PASSAGES),
            passage_ns: without.as_nanos() as f64 / f64::from(PASSAGES),
        })
    }
}

/// Time of all passages between two threads of `cpu`.
fn pass_to_and_fro(cpu: u16) -> std::io::Result<Duration> {
    let (mut to_read, mut to_write) = pipe()?;
    let (mut fro_read, mut fro_write) = pipe()?;
    let other = std::thread::spawn(move || -> std::io::Result<()> {
        affinity::pin(&[cpu])?;
        let mut byte = [0];
        loop {
            // The end of the pipe is the end of the passages.
            if to_read.read(&mut byte)? == 0 {
                return Ok(());
            }
            fro_write.write_all(&byte)?;
        }
    });
    let one = std::thread::spawn(move || -> std::io::Result<Duration> {
        affinity::pin(&[cpu])?;
        let mut byte = [0];
        let mut begun = Instant::now();
        for passage in 0..=PASSAGES {
            if passage == 1 {
                begun = Instant::now();
            }
            to_write.write_all(&byte)?;
            fro_read.read_exact(&mut byte)?;
        }
        Ok(begun.elapsed())
    });
    let panicked = |_| std::io::Error::other("a thread of the measurement panicked");
    let taken = one.join().map_err(panicked)??;
    other.join().map_err(panicked)??;
    Ok(taken)
}

fn pipe() -> std::io::Result<(File, File)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    Ok((read.into(), write.into()))
}
