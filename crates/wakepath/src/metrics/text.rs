//! A state as OpenMetrics 1.0 text. Pure. Names begin with `wakepath_live_`: exports of finished
//! runs have other names, because those are judged and this is not.

use crate::view::{Lines, Row, Standing, Time, Totals};
use std::fmt::{Result, Write};
use wakepath_measure::{LivePlace, WITHIN_NS};

/// What HTTP calls it.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Count = fn(&Totals) -> Option<u64>;

/// The text; times in seconds, as the format asks for.
pub(super) fn text(standing: &Standing) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(&mut text, standing);
    text
}

fn write_all(text: &mut String, standing: &Standing) -> Result {
    head(text, "run", "info", "", "Run being measured.")?;
    writeln!(
        text,
        "wakepath_live_run_info{{measured=\"{}\",recording=\"{}\",version=\"{}\"}} 1",
        escaped(&standing.what),
        escaped(&standing.recording),
        env!("CARGO_PKG_VERSION")
    )?;
    let (gone, left) = standing.gone_and_left();
    let gone = Some(gone.as_secs_f64());
    single(text, "elapsed_seconds", "Time since it began.", gone)?;
    let left = left.map(|left| left.as_secs_f64());
    single(
        text,
        "remaining_seconds",
        "Time that measuring will still take, estimated.",
        left,
    )?;
    if let Time::Run(remaining) = &standing.time {
        let (ended, all) = remaining.segments();
        let segments = "Segments of the run that have ended.";
        single(text, "segments_ended", segments, Some(ended as f64))?;
        single(text, "segments", "Segments of the run.", Some(all as f64))?;
    }
    let rows: Vec<(String, Totals)> = standing
        .rows
        .iter()
        .filter(|row| row.is_begun)
        .map(|row| (labels(standing.lines, row), row.totals()))
        .collect();
    let counters: [(&str, &str, Count); 4] = [
        ("cycles", "Cycles that ran.", |of| Some(of.executed)),
        (
            "skipped_due_times",
            "Due times at which no cycle ran.",
            |of| of.skipped,
        ),
        (
            "missed_due_times",
            "Due times missed by the criterion.",
            |of| of.missed,
        ),
        ("lost_samples", "Cycles that could not be recorded.", |of| {
            Some(of.lost)
        }),
    ];
    for (name, help, count) in counters {
        head(text, name, "counter", "", help)?;
        for (labels, of) in &rows {
            if let Some(count) = count(of) {
                writeln!(text, "wakepath_live_{name}_total{{{labels}}} {count}")?;
            }
        }
    }
    latencies(text, &rows)?;
    let name = "wake_up_latency_max_seconds";
    head(
        text,
        name,
        "gauge",
        "seconds",
        "Largest wake-up latency so far.",
    )?;
    for (labels, of) in &rows {
        if let Some(ns) = of.max_ns {
            writeln!(text, "wakepath_live_{name}{{{labels}}} {}", seconds(ns))?;
        }
    }
    places(text, &standing.places)?;
    writeln!(text, "# EOF")
}

fn head(text: &mut String, name: &str, kind: &str, unit: &str, help: &str) -> Result {
    writeln!(text, "# TYPE wakepath_live_{name} {kind}")?;
    if !unit.is_empty() {
        writeln!(text, "# UNIT wakepath_live_{name} {unit}")?;
    }
    writeln!(text, "# HELP wakepath_live_{name} {help}")
}

fn single(text: &mut String, name: &str, help: &str, value: Option<f64>) -> Result {
    let unit = if name.ends_with("_seconds") {
        "seconds"
    } else {
        ""
    };
    head(text, name, "gauge", unit, help)?;
    match value {
        Some(value) => writeln!(text, "wakepath_live_{name} {value}"),
        None => Ok(()),
    }
}

fn latencies(text: &mut String, rows: &[(String, Totals)]) -> Result {
    let name = "wake_up_latency_seconds";
    head(
        text,
        name,
        "histogram",
        "seconds",
        "First instruction − due time, of cycles that ran.",
    )?;
    for (labels, of) in rows {
        for (edge, count) in WITHIN_NS.iter().zip(&of.within) {
            let edge = seconds(*edge);
            writeln!(
                text,
                "wakepath_live_{name}_bucket{{{labels},le=\"{edge}\"}} {count}"
            )?;
        }
        let count = of.executed;
        writeln!(
            text,
            "wakepath_live_{name}_bucket{{{labels},le=\"+Inf\"}} {count}"
        )?;
        writeln!(text, "wakepath_live_{name}_count{{{labels}}} {count}")?;
        let sum = of.sum_ns as f64 / 1e9;
        writeln!(text, "wakepath_live_{name}_sum{{{labels}}} {sum}")?;
    }
    Ok(())
}

fn places(text: &mut String, places: &[(String, LivePlace)]) -> Result {
    let name = "cpu_wake_up_latency_seconds";
    let help = "Wake-up latencies on each CPU, of the segment under way.";
    head(text, name, "gauge", "seconds", help)?;
    for (thread, of) in places {
        let figures = [
            ("last", of.last_ns),
            ("min", of.min_ns),
            ("mean", of.mean_ns),
            ("max", of.max_ns),
        ];
        for (figure, ns) in figures {
            writeln!(
                text,
                "wakepath_live_{name}{{cpu=\"{}\",thread=\"{}\",figure=\"{figure}\"}} {}",
                of.cpu,
                escaped(thread),
                seconds(ns)
            )?;
        }
    }
    Ok(())
}

fn labels(lines: Lines, row: &Row) -> String {
    match lines {
        Lines::Policies => format!(
            "policy=\"{}\",phase=\"{}\"",
            escaped(&row.name),
            escaped(&row.phase)
        ),
        Lines::Threads => format!("thread=\"{}\"", escaped(&row.name)),
    }
}

fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}

/// The format's three escapes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
