//! The kernel's own measurement of a wake-up: its `timerlat` tracer, a kernel thread that sleeps for
//! the loop's period and tells how late its timer interrupt and itself were. A second opinion from
//! within the kernel, taken between segments; no part of a verdict.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wakepath_archive::{KernelLatency, StageLatency};

use crate::error::ProbeError;
use crate::orphans;
use crate::owner::Owner;
use crate::tracefs::{Tracefs, read_text};

/// Buffer for two lines of 40 bytes a period.
const BUFFER_KIB: u64 = 4096;
/// Between two looks into the buffer.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Measures on one CPU; the error is why the kernel has no such figures, in one line. Its thread
/// has FIFO 95, the tracer's own choice.
pub(crate) fn measure(
    tracefs: &Tracefs,
    cpu: u16,
    period_ns: u64,
    for_ns: u64,
) -> Result<KernelLatency, String> {
    let root = tracefs.root();
    let tracers = fs::read_to_string(root.join("available_tracers")).map_err(|e| e.to_string())?;
    if !tracers
        .split_whitespace()
        .any(|tracer| tracer == "timerlat")
    {
        return Err("this kernel has no timerlat tracer (CONFIG_TIMERLAT_TRACER)".into());
    }
    let tracer = Tracer::start(root, cpu, period_ns).map_err(|error| error.to_string())?;
    let (mut text, mut waited_ns) = (String::new(), 0);
    while waited_ns < for_ns {
        let rest = Duration::from_nanos(for_ns - waited_ns).min(LOOK_EVERY);
        std::thread::sleep(rest);
        waited_ns += rest.as_nanos() as u64;
    }
    // Switching the tracer off empties the buffer.
    tracer.write("tracing_on", "0").map_err(|e| e.to_string())?;
    text += &read_text(&tracer.instance.join("trace")).map_err(|error| error.to_string())?;
    let found = parse(&text);
    match found.thread.samples {
        0 => Err("the timerlat tracer measured nothing".into()),
        _ => Ok(KernelLatency {
            cpu,
            period_ns,
            ..found
        }),
    }
}

/// timerlat in an instance of our own, switched off when dropped.
struct Tracer {
    instance: PathBuf,
    /// The tracer's settings are the whole kernel's: as they were before.
    before: Vec<(PathBuf, String)>,
}

impl Tracer {
    fn start(root: &Path, cpu: u16, period_ns: u64) -> crate::Result<Self> {
        let owner = Owner::this_process().ok_or(ProbeError::NoEvents {
            events: "/proc/self/stat".into(),
        })?;
        // The probe's own instance has the plain name; both are known as this process's.
        let instance = root.join("instances").join(owner.second_name());
        fs::create_dir(&instance).map_err(ProbeError::io("make", &instance))?;
        let mut tracer = Self {
            instance,
            before: Vec::new(),
        };
        tracer.write("tracing_on", "0")?;
        tracer.write("buffer_size_kb", &BUFFER_KIB.to_string())?;
        tracer.set(root.join("osnoise/cpus"), &cpu.to_string())?;
        let period_us = (period_ns / 1_000).max(1).to_string();
        tracer.set(root.join("osnoise/timerlat_period_us"), &period_us)?;
        tracer.write("current_tracer", "timerlat")?;
        tracer.write("tracing_on", "1")?;
        Ok(tracer)
    }

    fn set(&mut self, path: PathBuf, value: &str) -> crate::Result<()> {
        let before = read_text(&path).map_err(ProbeError::io("read", &path))?;
        fs::write(&path, value).map_err(ProbeError::io("write", &path))?;
        self.before.push((path, before.trim().to_owned()));
        Ok(())
    }

    fn write(&self, name: &str, value: &str) -> crate::Result<()> {
        let path = self.instance.join(name);
        fs::write(&path, value).map_err(ProbeError::io("write", &path))
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // What can't be undone now is undone by the removal of the instance, or by the next start.
        let _ = self.write("current_tracer", "nop");
        for (path, value) in self.before.iter().rev() {
            let _ = fs::write(path, value);
        }
        orphans::remove(&self.instance);
    }
}

/// Reads timerlat's lines: `… #1 context irq timer_latency 932 ns`, then the same for the thread.
/// Other lines (heads, noise of other tracers) are passed over. Pure.
fn parse(text: &str) -> KernelLatency {
    let (mut interrupt, mut thread) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let value = |key: &str| {
            let at = words.iter().position(|word| *word == key)?;
            words.get(at + 1).copied()
        };
        let latency = value("timer_latency").and_then(|latency| latency.parse().ok());
        match (value("context"), latency) {
            (Some("irq"), Some(latency)) => interrupt.push(latency),
            (Some("thread"), Some(latency)) => thread.push(latency),
            _ => {}
        }
    }
    KernelLatency {
        interrupt: stage(interrupt),
        thread: stage(thread),
        ..KernelLatency::default()
    }
}

/// Quantiles by rank: the smallest value that so many are at most.
fn stage(mut latencies: Vec<i64>) -> StageLatency {
    latencies.sort_unstable();
    let rank = |percent: usize| {
        let rank = (latencies.len() * percent).div_ceil(100).max(1) - 1;
        latencies.get(rank).copied().unwrap_or(0)
    };
    StageLatency {
        samples: latencies.len() as u64,
        least_ns: rank(0),
        median_ns: rank(50),
        p99_ns: rank(99),
        largest_ns: rank(100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_real_kernel_wrote_is_read_by_stage() {
        // 60 ms at 1 kHz on Debian's 6.1 with PREEMPT_RT, in virtual time; see fixtures/README.md.
        let found = parse(include_str!("../tests/fixtures/timerlat-6.1-rt.txt"));
        println!("{found:?}");
        assert!(found.interrupt.samples > 50, "{found:?}");
        assert!(found.interrupt.samples.abs_diff(found.thread.samples) <= 1);
        // A thread is never earlier than its own interrupt.
        assert!(found.thread.least_ns > found.interrupt.least_ns);
        assert!(found.thread.median_ns > found.interrupt.median_ns);
    }

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let found = stage((1..=200).collect());
        let StageLatency {
            samples,
            least_ns,
            median_ns,
            p99_ns,
            largest_ns,
        } = found;
        assert_eq!((samples, least_ns, median_ns), (200, 1, 100));
        assert_eq!((p99_ns, largest_ns), (198, 200));
        assert_eq!(stage(Vec::new()), StageLatency::default());
    }

    #[test]
    fn hostile_lines_are_passed_over() {
        let text = "# context irq timer_latency 5 ns\n x context irq timer_latency\n\
            context irq timer_latency -3 ns\ncontext timer_latency thread\n\0\n";
        let found = parse(text);
        assert_eq!((found.interrupt.samples, found.interrupt.least_ns), (1, -3));
        assert_eq!(found.thread.samples, 0);
    }
}
