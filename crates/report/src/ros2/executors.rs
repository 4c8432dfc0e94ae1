//! Executors of ROS 2, a line each: their threads, how busy they were, and which callbacks held them longest.

use std::collections::BTreeMap;
use std::fmt::Write;
use wakepath_assess::watched::Ros2Figures;
use wakepath_ros2::{Executor, ExecutorKind, Row, Stretch};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::three_digits;

/// Callbacks' names by their numbers.
type Names<'a> = BTreeMap<usize, &'a str>;

/// A line for each executor; of many, those that were held longest.
pub(super) fn lines(figures: &Ros2Figures, rows: &[(&Row, &str)], most: usize) -> Vec<String> {
    let names: Names<'_> = rows.iter().map(|(row, name)| (row.number, *name)).collect();
    let mut shown: Vec<&Executor> = figures.executors.iter().collect();
    if shown.len() > most {
        let held_ns = |of: &Executor| of.longest.as_ref().map_or(0, Stretch::length_ns);
        shown.sort_by_cached_key(|of| std::cmp::Reverse((held_ns(of), of.busy_ns)));
        shown.truncate(most);
    }
    let line = |executor: &&Executor| line(executor, &names, figures.began_ns);
    let mut lines: Vec<String> = shown.iter().map(line).collect();
    if let more @ 1.. = (figures.executors.len() - shown.len()) as u64 {
        let more = counted(more, "more executor", "more executors");
        lines.push(format!("and {more}: --json has all of them"));
    }
    lines
}

fn line(executor: &Executor, names: &Names<'_>, began_ns: u64) -> String {
    let mut line = format!("executor {}: ", threads(executor));
    line += match executor.kind {
        Some(ExecutorKind::MultiThreaded) => "multi-threaded, ",
        Some(ExecutorKind::SingleThreaded) => "single-threaded, ",
        Some(ExecutorKind::Events) => "events or static single-threaded, ",
        None => "",
    };
    let callbacks = executor.callbacks.len() as u64;
    line += &counted(callbacks, "callback", "callbacks");
    if let Some(busy) = executor.busy_percent() {
        let _ = if busy < 0.1 {
            write!(line, ", busy below 0.1 %")
        } else {
            write!(line, ", busy {busy:.1} %")
        };
    }
    match &executor.longest {
        Some(longest) => {
            let at = longest.from_ns.saturating_sub(began_ns) as f64 / 1e9;
            let held = three_digits(longest.length_ns().cast_signed());
            let by = parts(longest, names);
            let _ = write!(line, "; held longest for {held} at {at:.3} s by {by}");
        }
        None => line += "; time held without a rest unknown: no switches were recorded",
    }
    line
}

/// Its thread, or its process and how many it has.
pub(super) fn threads(executor: &Executor) -> String {
    let first = executor.threads.first();
    let name = first.and_then(|of| of.name.as_deref()).unwrap_or("thread");
    match (executor.threads.len() as u64, first) {
        (1, Some(of)) => format!("{name} {}", of.thread),
        (count, Some(_)) => format!("{name} of process {}, {count} threads", executor.process),
        (_, None) => format!("of process {}", executor.process),
    }
}

/// The callbacks of a stretch, the longest first.
fn parts(longest: &Stretch, names: &Names<'_>) -> String {
    let part = |(number, ns): &(usize, u64)| {
        let name = names.get(number).copied().unwrap_or("another callback");
        format!("{name} ({})", three_digits(ns.cast_signed()))
    };
    let mut parts: Vec<String> = longest.parts.iter().map(part).collect();
    if let more @ 1.. = longest.more_parts {
        parts.push(format!("{more} more"));
    }
    parts.join(", ")
}
