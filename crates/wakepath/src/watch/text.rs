//! The watched threads as a table, and what is not judged.

use super::{Figures, Watched, WokenBy};
use std::fmt::Write;
use wakepath_statistics::DistributionSummary;
use wakepath_timeline::duration::exact;
use wakepath_verdict::counted;

/// Threads without a period that are named; JSON has all.
const MOST_NOT_JUDGED: usize = 8;

/// What was seen.
pub fn text(figures: &Figures) -> String {
    let mut text = String::new();
    if !figures.threads.is_empty() {
        table(&mut text, &figures.threads);
        for of in &figures.threads {
            for remark in remarks(of) {
                let _ = writeln!(text, "{}: {remark}", of.name);
            }
        }
    }
    if !figures.not_judged.is_empty() {
        let _ = writeln!(text, "\nnot judged, without a period:");
    }
    for of in figures.not_judged.iter().take(MOST_NOT_JUDGED) {
        let _ = writeln!(
            text,
            "  {}-{}: {}; woken {} by something else, ran {}",
            of.name,
            of.thread_id,
            of.why,
            counted(of.other_wake_ups, "time", "times"),
            time(of.run_ns)
        );
    }
    if let Some(more) = figures.not_judged.len().checked_sub(MOST_NOT_JUDGED + 1) {
        let _ = writeln!(text, "  and {} more", more + 1);
    }
    text
}

fn table(text: &mut String, threads: &[Watched]) {
    let width = threads.iter().map(|of| of.name.chars().count()).max();
    let width = width.unwrap_or(0).max("thread".len());
    let _ = writeln!(
        text,
        "{:width$}                               jitter of the period, µs        wake-up latency, µs                     run time, µs",
        ""
    );
    let _ = writeln!(
        text,
        "{:width$}  {:<14}  {:>12}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>9}  {:>11}  {:>7}",
        "thread",
        "policy",
        "period",
        "median",
        "p99",
        "max",
        "min",
        "median",
        "p99",
        "p99.9",
        "max",
        "median",
        "max",
        "preempted",
        "activations",
        "skipped"
    );
    for of in threads {
        let cell = |summary: &Option<DistributionSummary>, figure: Cell| match summary {
            None => "–".to_owned(),
            Some(summary) => figure.of(summary),
        };
        let _ = writeln!(
            text,
            "{:width$}  {:<14}  {:>12}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>8}  {:>9}  {:>11}  {:>7}",
            of.name,
            of.policy.to_string(),
            exact(of.period_ns),
            cell(&of.jitter_ns, Cell::Quantile(500_000)),
            cell(&of.jitter_ns, Cell::Quantile(990_000)),
            cell(&of.jitter_ns, Cell::Max),
            cell(&of.latency_ns, Cell::Min),
            cell(&of.latency_ns, Cell::Quantile(500_000)),
            cell(&of.latency_ns, Cell::Quantile(990_000)),
            cell(&of.latency_ns, Cell::Quantile(999_000)),
            cell(&of.latency_ns, Cell::Max),
            cell(&of.run_ns, Cell::Quantile(500_000)),
            cell(&of.run_ns, Cell::Max),
            of.preempted.0,
            of.activations,
            of.skipped.map_or("–".to_owned(), |count| count.to_string()),
        );
    }
}

/// A figure of a distribution.
#[derive(Clone, Copy)]
enum Cell {
    Min,
    Max,
    /// In parts per million; – where the sample is too small to tell it from the maximum.
    Quantile(u32),
}

impl Cell {
    fn of(self, summary: &DistributionSummary) -> String {
        let micros = |ns: i64| format!("{:.1}", ns as f64 / 1e3);
        match self {
            Self::Min => micros(summary.min),
            Self::Max => micros(summary.max),
            Self::Quantile(wanted) => {
                let known = summary.quantiles.iter();
                let found = known.into_iter().find(|q| q.parts_per_million == wanted);
                found
                    .filter(|quantile| !quantile.is_maximum)
                    .map_or("–".to_owned(), |quantile| micros(quantile.value))
            }
        }
    }
}

/// What a reader must know of a thread to read its line rightly.
fn remarks(of: &Watched) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(declared) = of.declared.filter(|&declared| declared != of.policy) {
        remarks.push(format!(
            "meant to have {declared}, in effect is {}",
            of.policy
        ));
    }
    if !of.earlier_policies.is_empty() {
        let earlier: Vec<String> = of
            .earlier_policies
            .iter()
            .map(ToString::to_string)
            .collect();
        remarks.push(format!("had {} before", earlier.join(", ")));
    }
    if of.other_priorities > 0 {
        remarks.push(format!(
            "switched in {} with another priority than its policy's (before it was set, or \
             inherited by a lock)",
            counted(of.other_priorities, "time", "times")
        ));
    }
    if let Some(WokenBy { waker, times, of }) = &of.woken_by {
        remarks.push(format!(
            "no timer wakes it but {waker}, {times} of {of} times: latency counts from its being \
             woken"
        ));
    }
    if let Some(mean_ns) = of.mean_interval_ns.filter(|_| !of.exact) {
        let mean = exact((mean_ns + 500) / 1000 * 1000);
        remarks.push(match of.woken_by {
            Some(_) => format!("on average a turn each {mean}; no due time can be called skipped"),
            None => format!(
                "does not sleep until instants a whole number of periods apart: on average a turn \
                 each {mean}, and no due time can be called skipped"
            ),
        });
    }
    if !of.programmed && of.woken_by.is_none() {
        remarks.push(
            "its timer's programmed time is on another clock or was not seen: latency counts from \
             the timer's callback"
                .into(),
        );
    }
    if of.left_out > 0 {
        remarks.push(format!(
            "{} left out: events are missing in them, or they lie beside the row of due times",
            counted(of.left_out, "activation", "activations")
        ));
    }
    if of.unseen_wake_ups > 0 {
        remarks.push(format!(
            "{} from CPUs that are not traced; --cpu adds them",
            counted(of.unseen_wake_ups, "wake-up", "wake-ups")
        ));
    }
    if of.untold_switches > 0 {
        remarks.push(format!(
            "{} not told by this kernel: latencies of those are uncertain by some microseconds, up \
             to the run time",
            counted(of.untold_switches, "switch-in was", "switch-ins were")
        ));
    }
    match (of.is_new, of.ended) {
        (true, true) => remarks.push("came and went while it was watched".into()),
        (true, false) => remarks.push("came while it was watched".into()),
        (false, true) => remarks.push("ended while it was watched".into()),
        (false, false) => {}
    }
    remarks
}

fn time(ns: u64) -> String {
    match ns {
        0..10_000_000 => format!("{:.1} µs", ns as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.1} s", ns as f64 / 1e9),
    }
}
