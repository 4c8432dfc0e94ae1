//! The load: two ordinary threads on the measured CPU that pass a byte back and forth.
//!
//! They do it as fast as they can, as hackbench's do. Each passage sleeps, wakes and switches; the
//! shortest of several passages is the undisturbed time.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};

/// Passages timed together: few enough that some groups run undisturbed.
pub const TOGETHER: u32 = 50;

/// The two threads.
pub struct Passages {
    stop: Arc<AtomicBool>,
    one: JoinHandle<std::io::Result<Passed>>,
    other: JoinHandle<std::io::Result<()>>,
}

/// Figures of the load.
#[derive(Debug, Clone, Copy)]
pub struct Passed {
    /// Passages to and fro.
    pub passages: u64,
    /// Least time of [`TOGETHER`] passages.
    pub least: Duration,
}

impl Passages {
    /// Starts them.
    pub fn start(cpu: usize) -> Result<Self, String> {
        let pipe = || rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC);
        let (to, fro) = (pipe(), pipe());
        let ((to_read, to_write), (fro_read, fro_write)) = match (to, fro) {
            (Ok(to), Ok(fro)) => (to, fro),
            (Err(error), _) | (_, Err(error)) => return Err(format!("a pipe: {error}")),
        };
        let (mut to_read, mut to_write) = (File::from(to_read), File::from(to_write));
        let (mut fro_read, mut fro_write) = (File::from(fro_read), File::from(fro_write));
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let other = std::thread::spawn(move || {
            pin(cpu)?;
            let mut byte = [0];
            // The end of the pipe is the end of the passages.
            while to_read.read(&mut byte)? > 0 {
                fro_write.write_all(&byte)?;
            }
            Ok(())
        });
        let one = std::thread::spawn(move || {
            pin(cpu)?;
            let (mut passages, mut least) = (0, Duration::MAX);
            let mut byte = [0];
            while !told.load(Ordering::Relaxed) {
                let begun = std::time::Instant::now();
                for _ in 0..TOGETHER {
                    to_write.write_all(&byte)?;
                    fro_read.read_exact(&mut byte)?;
                }
                least = least.min(begun.elapsed());
                passages += u64::from(TOGETHER);
            }
            Ok(Passed { passages, least })
        });
        Ok(Self { stop, one, other })
    }

    /// Ends them.
    pub fn finish(self) -> Result<Passed, String> {
        self.stop.store(true, Ordering::Relaxed);
        let failed = |error: std::io::Error| format!("the load: {error}");
        let panicked = |_| "the load panicked".to_owned();
        let passed = self.one.join().map_err(panicked)?.map_err(failed)?;
        self.other.join().map_err(panicked)?.map_err(failed)?;
        Ok(passed)
    }
}

fn pin(cpu: usize) -> std::io::Result<()> {
    let mut cpus = CpuSet::new();
    cpus.set(cpu);
    Ok(sched_setaffinity(None, &cpus)?)
}
