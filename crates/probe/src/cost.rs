//! Measures the cost of an event here: two threads on one CPU pass a byte to and fro, with and without the
//! source recording. Each passage sleeps, wakes and switches, as a loop does.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use wakepath_rt::affinity;
use wakepath_timeline::Policy;

use crate::error::{ProbeError, Result};
use crate::source::EventSource;

/// Passages to and fro in one turn: short enough that some turns are disturbed by nothing.
const PASSAGES: u32 = 50;
/// Turns with and without. The least of each counts: whatever else runs on the CPU only adds.
const TURNS: u32 = 40;
/// Changes between with and without, so that a slow change of the machine hits both.
const CHANGES: u32 = 3;
/// Priority of the two threads if this user can set it: above ordinary work, below the kernel's own threads.
const PRIORITY: u8 = 1;

/// Cost of an event.
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
    /// Measures on the first of the source's CPUs; takes about a tenth of a second.
    ///
    /// # Errors
    /// [`ProbeError::Io`].
    pub fn measure(source: &dyn EventSource) -> Result<Self> {
        let cpu = source.cpus()[0];
        let place = source.place().to_owned();
        let failed = |error| ProbeError::io("measure the cost of an event of", &place)(error);
        let (mut without, mut with) = (Duration::MAX, Duration::MAX);
        let mut events = 0;
        for _ in 0..CHANGES {
            for taken in turns(cpu, || 0).map_err(failed)? {
                without = without.min(taken.0);
            }
            source.start_without_marks()?;
            // A count that can't be read makes no turn the least.
            let count = || source.statistics(cpu).map_or(0, |s| s.entries + s.overrun);
            let turns = turns(cpu, count).map_err(failed);
            source.stop()?;
            for (taken, counted) in turns? {
                if taken < with && counted > 0 {
                    (with, events) = (taken, counted);
                }
            }
        }
        let more_ns = with.as_nanos() as f64 - without.as_nanos() as f64;
        Ok(Self {
            ns_per_event: more_ns / events.max(1) as f64,
            events_per_passage: events as f64 / f64::from(PASSAGES),
            passage_ns: without.as_nanos() as f64 / f64::from(PASSAGES),
        })
    }
}

/// Time of the passages between two threads of `cpu` in each turn, and how much `count` grew.
fn turns(cpu: u16, count: impl Fn() -> u64) -> std::io::Result<Vec<(Duration, u64)>> {
    let (mut to_read, mut to_write) = pipe()?;
    let (mut fro_read, mut fro_write) = pipe()?;
    let other = Builder::new().spawn(move || -> std::io::Result<()> {
        prepare(cpu)?;
        let mut byte = [0];
        loop {
            // The end of the pipe is the end of the passages.
            if to_read.read(&mut byte)? == 0 {
                return Ok(());
            }
            fro_write.write_all(&byte)?;
        }
    })?;
    // Turns are requested one by one, so that counting happens between them and on another thread.
    let (ask, asked) = mpsc::channel();
    let (tell, told) = mpsc::channel();
    let one = Builder::new().spawn(move || -> std::io::Result<()> {
        prepare(cpu)?;
        let mut byte = [0];
        while asked.recv().is_ok() {
            let begun = Instant::now();
            for _ in 0..PASSAGES {
                to_write.write_all(&byte)?;
                fro_read.read_exact(&mut byte)?;
            }
            if tell.send(begun.elapsed()).is_err() {
                break;
            }
        }
        Ok(())
    })?;
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        let before = count();
        // A thread that has failed returns the reason to its join.
        let (Ok(()), Ok(taken)) = (ask.send(()), told.recv()) else {
            break;
        };
        turns.push((taken, count() - before));
    }
    drop(ask);
    let panicked = |_| std::io::Error::other("a thread of the measurement panicked");
    one.join().map_err(panicked)??;
    other.join().map_err(panicked)??;
    Ok(turns)
}

fn prepare(cpu: u16) -> std::io::Result<()> {
    affinity::pin(&[cpu])?;
    // Without the right to it the turns are disturbed more often, and the least still counts.
    let priority = PRIORITY;
    let _ = wakepath_rt::attributes::set(0, Policy::Fifo { priority });
    Ok(())
}

fn pipe() -> std::io::Result<(File, File)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    Ok((read.into(), write.into()))
}
