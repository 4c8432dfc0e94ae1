//! Each timer that called back often enough, as a task.

use super::row::row;
use crate::{Thread, Values};
use std::collections::BTreeMap;
use wakepath_ros2::{Callback, Kind, Run, Seen};
use wakepath_timeline::duration::exact;
use wakepath_timeline::{Lack, shortened};

/// Fewer callbacks tell nothing of a timer.
const LEAST_CALLBACKS: usize = 10;
/// As many timers as a scenario has tasks.
const MOST_TIMERS: usize = 256;
/// Timers without a task that are named.
const MOST_NAMED: usize = 8;

/// The tasks, and what there is to say of them.
pub(super) struct Timers {
    pub(super) threads: Vec<Thread>,
    pub(super) lacks: Vec<Lack>,
}

impl Timers {
    /// The timers among what was seen; `lost` events are missing.
    pub(super) fn new(seen: &Seen, lost: u64) -> Self {
        let mut runs: BTreeMap<usize, Vec<Run>> = BTreeMap::new();
        for run in &seen.runs {
            runs.entry(run.callback).or_default().push(*run);
        }
        let mut threads: Vec<Thread> = Vec::new();
        let mut lacks = Vec::new();
        let mut left_out = Vec::new();
        for (number, runs) in runs {
            let callback = &seen.callbacks[number];
            let Kind::Timer { period_ns, made_ns } = callback.kind else {
                continue;
            };
            let name = name(callback, period_ns, &threads);
            if runs.len() < LEAST_CALLBACKS || threads.len() == MOST_TIMERS {
                left_out.push(format!("{name} ({} callbacks)", runs.len()));
                continue;
            }
            let Some((row, how)) = row((made_ns, period_ns), &runs, lost) else {
                left_out.push(format!(
                    "{name} (callbacks not at its period: it is on another clock, or its period was changed)"
                ));
                continue;
            };
            lacks.push(Lack::Other(format!(
                "due times of {name}{}: {}",
                symbol(callback),
                how.text()
            )));
            let thread = runs[0].thread;
            threads.push(Thread {
                number: runs
                    .iter()
                    .all(|run| run.thread == thread)
                    .then_some(thread),
                ..Thread::new(name, None, Values::Row(row))
            });
        }
        if let Some(more @ 1..) = left_out.len().checked_sub(MOST_NAMED) {
            left_out.truncate(MOST_NAMED);
            left_out.push(format!("{more} more"));
        }
        if !left_out.is_empty() {
            let text = format!("timers: left out {}", left_out.join(", "));
            lacks.push(Lack::Other(text));
        }
        Self { threads, lacks }
    }
}

/// Node and period: a name that no other timer has.
fn name(callback: &Callback, period_ns: u64, threads: &[Thread]) -> String {
    let node = callback.node.as_deref().unwrap_or("timer");
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let node: String = node.chars().filter(|c| kept(*c)).take(40).collect();
    let base = format!("{node} {}", exact(period_ns));
    let names = (1_u32..).map(|n| match n {
        1 => base.clone(),
        n => format!("{base} {n}"),
    });
    let mut free = names.filter(|name| threads.iter().all(|of| of.name != *name));
    free.next().unwrap_or(base.clone())
}

/// The function that it is, in brackets.
fn symbol(callback: &Callback) -> String {
    let symbol = callback.symbol.as_ref();
    symbol.map_or(String::new(), |of| format!(" ({})", shortened(of, 60)))
}
