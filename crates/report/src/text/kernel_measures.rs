//! What the kernel's own tracers measured, as text beside the loop's figures. No part of a verdict.

use crate::Style;
use crate::table::Table;
use std::fmt::Write;
use wakepath_archive::{KernelLatency, KernelNoise, StageLatency};

/// What timerlat measured: a table of the phases, and a line for those that it did not.
pub(crate) fn latencies_text(all: &[KernelLatency], style: Style) -> String {
    const STAGE: &[&str] = &["median", "p99", "max"];
    let measured: Vec<&KernelLatency> = all
        .iter()
        .filter(|one| one.not_available.is_none())
        .collect();
    let mut text = String::new();
    if !measured.is_empty() {
        let mut table = Table::new(&[
            ("due → interrupt, µs", STAGE),
            ("due → thread, µs", STAGE),
            ("", &["wake-ups"]),
        ]);
        table.row("measured by the kernel (timerlat, FIFO 95)", Vec::new());
        for one in measured {
            let mut row = micros(&one.interrupt);
            row.extend(micros(&one.thread));
            row.push(one.thread.samples.to_string());
            let period = one.period_ns as f64 / 1e3;
            table.row(
                format!("  {}, CPU {}, every {period} µs", one.phase, one.cpu),
                row,
            );
        }
        text.push_str(&table.render(style.columns));
    }
    let reasons = all.iter().filter_map(|one| one.not_available.as_deref());
    text + &not_available(reasons)
}

/// What osnoise measured, likewise.
pub(crate) fn noises_text(all: &[KernelNoise], style: Style) -> String {
    let mut text = String::new();
    let mut measured = all
        .iter()
        .filter(|one| one.not_available.is_none())
        .peekable();
    if measured.peek().is_some() {
        let mut table = Table::new(&[
            ("CPU time taken, %", &["all"]),
            ("at once, µs", &["max"]),
            (
                "interfered, per s",
                &["hardware", "NMI", "interrupt", "SoftIRQ", "thread"],
            ),
            ("", &["looked, s"]),
        ]);
        table.row("taken from a FIFO 95 thread (osnoise)", Vec::new());
        for one in measured {
            let seconds = one.looked_ns as f64 / 1e9;
            let share = 100.0 * one.noise_ns as f64 / one.looked_ns as f64;
            let mut row = vec![format!("{share:.3}"), format!("{}", one.largest_ns / 1_000)];
            let counts = [
                one.hardware,
                one.nmis,
                one.interrupts,
                one.softirqs,
                one.threads,
            ];
            row.extend(counts.map(|count| format!("{:.1}", count as f64 / seconds)));
            row.push(format!("{seconds:.2}"));
            table.row(format!("  {}, CPU {}", one.phase, one.cpu), row);
        }
        text.push_str(&table.render(style.columns));
    }
    let reasons = all.iter().filter_map(|one| one.not_available.as_deref());
    text + &not_available(reasons)
}

/// Each reason once.
fn not_available<'a>(reasons: impl Iterator<Item = &'a str>) -> String {
    let (mut text, mut said) = (String::new(), Vec::new());
    for reason in reasons {
        if !said.contains(&reason) {
            said.push(reason);
            // Writing to a String can't fail.
            let _ = writeln!(text, "measured by the kernel: not available: {reason}");
        }
    }
    text
}

fn micros(stage: &StageLatency) -> Vec<String> {
    [stage.median_ns, stage.p99_ns, stage.largest_ns]
        .map(|ns| format!("{:.1}", ns as f64 / 1e3))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_in_a_table_and_a_reason_once() {
        let stage = StageLatency {
            samples: 50,
            least_ns: 400,
            median_ns: 593,
            p99_ns: 2_000,
            largest_ns: 2_813,
        };
        let measured = KernelLatency {
            phase: "idle".into(),
            cpu: 3,
            period_ns: 1_000_000,
            interrupt: stage,
            thread: stage,
            not_available: None,
        };
        let missing = KernelLatency {
            not_available: Some("this kernel has no timerlat tracer".into()),
            ..measured.clone()
        };
        let text = latencies_text(&[measured, missing.clone(), missing], Style::default());
        assert!(text.contains("idle, CPU 3, every 1000 µs"), "{text}");
        assert!(text.contains("0.6") && text.contains("2.8"), "{text}");
        assert_eq!(text.matches("not available").count(), 1, "{text}");
        assert_eq!(latencies_text(&[], Style::default()), "");
    }

    #[test]
    fn noise_is_told_by_the_second_and_as_a_share() {
        let measured = KernelNoise {
            phase: "stress".into(),
            cpu: 1,
            looked_ns: 2_000_000_000,
            noise_ns: 846_000,
            largest_ns: 74_000,
            hardware: 41,
            interrupts: 2013,
            ..KernelNoise::default()
        };
        let text = noises_text(&[measured], Style::default());
        for figure in ["stress, CPU 1", "0.042", " 74", "20.5", "1006.5", "2.00"] {
            assert!(text.contains(figure), "{figure}: {text}");
        }
        assert_eq!(noises_text(&[], Style::default()), "");
    }
}
