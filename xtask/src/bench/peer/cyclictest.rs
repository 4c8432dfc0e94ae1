//! cyclictest on the given terms, every latency read.

use super::thread::Watch;
use super::{Figures, PERIOD_US, Policy, Terms};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs it to its end.
///
/// `-v -N` prints each latency in nanoseconds. The measuring thread only stores the value; the main
/// thread prints, and is kept off the measured CPU if there is another. wakepath's recorder does
/// the same for its loop.
pub fn run(terms: Terms) -> Result<Figures, String> {
    let Terms {
        policy,
        cpu,
        cycles,
        warm_up,
    } = terms;
    let mut command = Command::new("cyclictest");
    command
        .args([
            "--mlockall",
            "--nsecs",
            "--verbose",
            "--threads=1",
            "--distance=0",
        ])
        .arg(format!("--affinity={cpu}"))
        .arg(format!("--mainaffinity={}", if cpu > 0 { 0 } else { cpu }))
        .arg(format!("--interval={PERIOD_US}"))
        .arg(format!("--loops={}", cycles + warm_up));
    match policy {
        Policy::Fifo => command.args(["--policy=fifo", "--priority=80"]),
        // Any --priority would turn the policy into FIFO.
        Policy::Other => command.arg("--policy=other"),
    };
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cyclictest: {error}"))?;
    let watch = Watch::start(child.id(), terms);
    let mut latencies = Vec::with_capacity(cycles + warm_up);
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.map_err(|error| format!("cyclictest's output: {error}"))?;
            latencies.extend(value(&line));
        }
    }
    let status = child
        .wait()
        .map_err(|error| format!("cyclictest: {error}"))?;
    if !status.success() {
        return Err(format!("cyclictest: {status}"));
    }
    let watched = watch.finish()?;
    figures(&latencies, terms).map(|figures| Figures {
        cpu_time: watched.cpu_time_each,
        page_faults: watched.page_faults,
        ..figures
    })
}

/// A line `thread: cycle: latency`.
fn value(line: &str) -> Option<(usize, i64)> {
    let mut parts = line.split(':').map(str::trim);
    let (thread, cycle, latency) = (parts.next()?, parts.next()?, parts.next()?);
    thread.parse::<u32>().ok()?;
    Some((cycle.parse().ok()?, latency.parse().ok()?))
}

fn figures(latencies: &[(usize, i64)], terms: Terms) -> Result<Figures, String> {
    let mut values: Vec<i64> = latencies
        .iter()
        .filter(|(cycle, _)| *cycle >= terms.warm_up)
        .map(|(_, value)| *value)
        .collect();
    if values.len() != terms.cycles {
        return Err(format!(
            "cyclictest: {} latencies of {} read",
            values.len(),
            terms.cycles
        ));
    }
    values.sort_unstable();
    // The same definition as wakepath's: the smallest value with at least this share at or below.
    let quantile = |percent: usize| values[(values.len() * percent).div_ceil(100) - 1] as f64;
    Ok(Figures {
        median: quantile(50),
        mean: values.iter().map(|value| *value as f64).sum::<f64>() / values.len() as f64,
        p99: quantile(99),
        max: quantile(100),
        executed: values.len(),
        cpu_time: None,
        page_faults: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms {
        policy: Policy::Fifo,
        cpu: 0,
        cycles: 100,
        warm_up: 2,
    };

    #[test]
    fn only_lines_with_a_latency_are_read() {
        assert_eq!(value("       0:     997:   23421"), Some((997, 23421)));
        assert_eq!(value("       0:       1:     -12"), Some((1, -12)));
        assert_eq!(value("Max CPUs = 2"), None);
        assert_eq!(value("Thread 0 Interval: 1500"), None);
    }

    #[test]
    fn quantiles_leave_out_the_warm_up_and_use_no_interpolation() {
        let latencies: Vec<(usize, i64)> = (0..102)
            .map(|cycle| (cycle, if cycle < 2 { 9_999 } else { cycle as i64 - 1 }))
            .collect();
        let figures = figures(&latencies, TERMS).expect("all cycles");
        assert_eq!(
            (figures.median, figures.p99, figures.max),
            (50.0, 99.0, 100.0)
        );
        assert_eq!(figures.mean, 50.5);
    }

    #[test]
    fn a_missing_latency_is_an_error() {
        assert!(figures(&[(2, 5)], TERMS).is_err());
    }
}
