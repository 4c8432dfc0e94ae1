//! What the kernel's own tracer measured, as text beside the loop's figures. No part of a verdict.

use crate::Style;
use crate::table::Table;
use std::fmt::Write;
use wakepath_archive::{KernelLatency, StageLatency};

/// A table of the phases that were measured, and a line for those that were not.
pub(crate) fn to_text(all: &[KernelLatency], style: Style) -> String {
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
    let mut said: Vec<&str> = Vec::new();
    for reason in all.iter().filter_map(|one| one.not_available.as_deref()) {
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
        let text = to_text(&[measured, missing.clone(), missing], Style::default());
        assert!(text.contains("idle, CPU 3, every 1000 µs"), "{text}");
        assert!(text.contains("0.6") && text.contains("2.8"), "{text}");
        assert_eq!(text.matches("not available").count(), 1, "{text}");
        assert_eq!(to_text(&[], Style::default()), "");
    }
}
