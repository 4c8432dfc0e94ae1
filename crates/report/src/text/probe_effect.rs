//! What tracing cost, as a table, and how it was traced.

use super::kernel_measures::{latencies_table, noises_table, places_table, sections_table};
use crate::Style;
use crate::table::{Cell, Table, number};
use std::fmt::Write;
use wakepath_archive::TracingSetUp;
use wakepath_assess::{ProbeEffect, Shift};
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::{number, one_line};

/// Ways of recording, used if available.
const USUAL_BACKEND: &str = "tracefs instance";

/// As text for a person.
pub(crate) fn to_text(effect: &ProbeEffect, style: Style) -> String {
    let mut table = Table::new("tracing")
        .group(
            "median latency",
            "",
            &["untraced", "each", "traced", "shift"].map(number),
        )
        .group("p99.9", "", &["untraced", "each", "traced"].map(number))
        .group("events", "", &["per s", "lost", "overwritten"].map(number))
        .group("CPU", "%", &["events", "reader"].map(number));
    for condition in &effect.conditions {
        let share = |share: f64| number::three_digits(share * 100.0);
        let shift = condition.median.shift_ns();
        let mut cells = shifted(Some(&condition.median));
        cells.push(signed(shift).into());
        cells.extend(shifted(condition.p999.as_ref()));
        cells.extend([
            number::three_digits(condition.events_per_second).into(),
            Cell::new(condition.lost),
            Cell::new(condition.overwritten),
            condition.share_of_events.map(share).into(),
            share(condition.share_of_reader).into(),
        ]);
        table.row(
            format!("{}, {}", condition.condition, condition.phase),
            cells,
        );
    }
    // A watched program has no untraced segments to compare with.
    let mut text = if effect.conditions.is_empty() {
        "tracing\n".to_owned()
    } else {
        table.to_terminal(style.columns)
            + "conditions are judged by untraced segments, alternating with traced ones\n"
    };
    for condition in &effect.conditions {
        for why in &condition.doubts {
            let (of, phase) = (&condition.condition, &condition.phase);
            let why = one_line(why);
            // Writing to a String can't fail.
            let _ = writeln!(text, "{of}, {phase}: INVALID while traced: {why}");
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
    text.push_str(&latencies_table(&effect.kernel_latency).to_terminal(style.columns));
    text.push_str(&noises_table(&effect.kernel_noise).to_terminal(style.columns));
    for table in [sections_table, places_table] {
        text.push_str(&table(&effect.kernel_sections).to_terminal(style.columns));
    }
    text.push('\n');
    text
}

fn signed(shift_ns: i64) -> String {
    let plus = if shift_ns > 0 { "+" } else { "" };
    format!("{plus}{}", three_digits(shift_ns))
}

fn shifted(shift: Option<&Shift>) -> Vec<Cell> {
    match shift {
        Some(shift) => vec![
            Cell::time(shift.untraced_ns),
            format!(
                "{}–{}",
                three_digits(shift.least_untraced_ns),
                three_digits(shift.largest_untraced_ns)
            )
            .into(),
            Cell::time(shift.traced_ns),
        ],
        None => vec![Cell::Unknown; 3],
    }
}
