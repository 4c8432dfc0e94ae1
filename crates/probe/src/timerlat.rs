//! The kernel's own measurement of a wake-up: its `timerlat` tracer, a kernel thread that sleeps for the
//! loop's period and reports how late its timer interrupt and itself were. A second opinion from within the
//! kernel, taken between segments; no part of a verdict.

use wakepath_archive::{KernelLatency, StageLatency};

use crate::error::KernelMeasureError;
use crate::kernel_tracer::{KernelTracer, sleep_for};
use crate::tracefs::Tracefs;

/// Measures on one CPU. Its thread has FIFO 95, the tracer's own choice.
pub(crate) fn measure(
    tracefs: &Tracefs,
    cpu: u16,
    period_ns: u64,
    for_ns: u64,
) -> Result<KernelLatency, KernelMeasureError> {
    let period_us = (period_ns / 1_000).max(1).to_string();
    let settings = [("osnoise/timerlat_period_us", period_us)];
    let tracer = KernelTracer::start(tracefs, "timerlat", cpu, &settings)?;
    sleep_for(for_ns);
    let found = parse(&tracer.stop()?);
    match found.thread.samples {
        0 => Err(KernelMeasureError::Nothing("timerlat")),
        _ => Ok(KernelLatency {
            cpu,
            period_ns,
            ..found
        }),
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

/// Percentiles by rank: the smallest value that this percentage of the values does not exceed.
pub(crate) fn stage(mut latencies: Vec<i64>) -> StageLatency {
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
