//! What tracing cost, as a table, and how it was traced.

use super::kernel_measures::{latencies_text, noises_text};
use crate::Style;
use crate::table::Table;
use std::fmt::Write;
use wakepath_archive::TracingSetUp;
use wakepath_assess::{ProbeEffect, Shift};
use wakepath_timeline::one_line;

/// What records wherever it can be had.
const USUAL_BACKEND: &str = "tracefs instance";

/// As text for a person.
pub(crate) fn to_text(effect: &ProbeEffect, style: Style) -> String {
    let mut table = Table::new(&[
        (
            "median latency, µs",
            &["untraced", "each", "traced", "shift"],
        ),
        ("p99.9, µs", &["untraced", "each", "traced"]),
        ("events", &["per s", "lost", "overwritten"]),
        ("CPU, %", &["events", "reader"]),
    ]);
    table.row("tracing", Vec::new());
    for condition in &effect.conditions {
        let mut row = shifted(Some(&condition.median));
        let shift = condition.median.shift_ns();
        row.push(format!("{:+.1}", shift as f64 / 1e3));
        row.extend(shifted(condition.p999.as_ref()));
        row.push(format!("{:.0}", condition.events_per_second));
        row.push(condition.lost.to_string());
        row.push(condition.overwritten.to_string());
        let share = |share: f64| format!("{:.1}", share * 100.0);
        row.push(condition.share_of_events.map_or("–".into(), share));
        row.push(share(condition.share_of_reader));
        table.row(
            format!("  {}, {}", condition.condition, condition.phase),
            row,
        );
    }
    // A program that was watched has no untraced segments to stand beside.
    let mut text = match effect.conditions.is_empty() {
        true => "tracing\n".to_owned(),
        false => {
            table.render(style.columns)
                + "conditions are judged by untraced segments, taken in turns with traced ones\n"
        }
    };
    for condition in &effect.conditions {
        for why in &condition.unproven_loads {
            let (of, phase) = (&condition.condition, &condition.phase);
            let why = one_line(why);
            // Writing to a String can't fail.
            let _ = writeln!(
                text,
                "{of}, {phase}: INVALID under load while traced: {why}"
            );
        }
    }
    let TracingSetUp {
        backend,
        because,
        buffer_bytes,
        ns_per_event,
        missing,
        self_tests,
        ..
    } = &effect.set_up;
    // Writing to a String can't fail.
    let _ = write!(text, "{backend}, {} KiB for each CPU", buffer_bytes / 1024);
    // The usual one needs no reason.
    if backend != USUAL_BACKEND && !because.is_empty() {
        let _ = write!(text, " ({because})");
    }
    if let Some(ns) = ns_per_event {
        let _ = write!(text, "; an event costs {ns:.0} ns");
    }
    text.push('\n');
    for failed in self_tests.iter().filter(|test| !test.passed) {
        let _ = writeln!(text, "self-test of the tracing: {}", failed.text);
    }
    for events in missing {
        let _ = writeln!(text, "not traced: {}: {}", events.events, events.reason);
    }
    text.push_str(&latencies_text(&effect.kernel_latency, style));
    text.push_str(&noises_text(&effect.kernel_noise, style));
    text.push('\n');
    text
}

fn shifted(shift: Option<&Shift>) -> Vec<String> {
    let micros = |ns: i64| format!("{:.1}", ns as f64 / 1e3);
    match shift {
        Some(shift) => vec![
            micros(shift.untraced_ns),
            format!(
                "{}–{}",
                micros(shift.least_untraced_ns),
                micros(shift.largest_untraced_ns)
            ),
            micros(shift.traced_ns),
        ],
        None => vec!["–".into(); 3],
    }
}
