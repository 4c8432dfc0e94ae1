//! Timers as tasks: each one that called back often enough, its callbacks the cycles. Due times are by rcl's rule from
//! when it was made, or, if its callbacks do not fit that, from the latest row of whole periods that they fit.

use crate::row::by_callback;
use crate::{Callback, Kind, Run, Seen, due_cycles};
use std::collections::BTreeMap;
use std::fmt;
use wakepath_timeline::count::first_and_more;
use wakepath_timeline::duration::exact;
use wakepath_timeline::{DueTimes, Sample, SampleFlags};

/// Fewer callbacks tell nothing of a timer.
const LEAST_CALLBACKS: usize = 10;
/// As many timers as a scenario has tasks.
const MOST_TIMERS: usize = 256;
/// Timers without a task that are named.
const MOST_NAMED: usize = 8;

/// A timer as a task.
#[derive(Debug)]
pub struct TimerTask {
    /// Number of its callback, of those of [`Seen`].
    pub callback: usize,
    /// Its node and period: a name that no other task has.
    pub name: String,
    /// Threads that ran it, by the number of runs, most first.
    pub threads: Vec<u32>,
    /// Its due times.
    pub due: DueTimes,
    /// Its callbacks: due, begun, ended.
    pub samples: Vec<Sample>,
    /// The rule of its due times.
    pub due_by: DueBy,
}

/// The rule of a timer's due times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueBy {
    /// Whole periods after it was made.
    Making,
    /// An estimate by its callbacks.
    Callbacks,
}

impl fmt::Display for DueBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Making => "whole periods after ros2:rcl_timer_init, as rcl's timers go",
            Self::Callbacks => {
                "estimated: the latest row of whole periods before which no callback began; what \
                 every callback was late by is not known"
            }
        })
    }
}

/// The timers of a recording.
#[derive(Debug, Default)]
pub struct TimerTasks {
    /// As tasks.
    pub tasks: Vec<TimerTask>,
    /// The others, each with the reason.
    pub left_out: Vec<String>,
}

impl TimerTasks {
    /// The timers among what was seen.
    pub fn new(seen: &Seen) -> Self {
        let mut of = Self::default();
        for (number, runs) in by_callback(seen) {
            let callback = &seen.callbacks[number];
            let Kind::Timer { period_ns, made_ns } = callback.kind else {
                continue;
            };
            let name = name(callback, period_ns, &of.tasks);
            if runs.len() < LEAST_CALLBACKS || of.tasks.len() == MOST_TIMERS {
                of.left_out
                    .push(format!("{name} ({} callbacks)", runs.len()));
                continue;
            }
            let Some((due, samples, due_by)) = row(seen, (made_ns, period_ns), &runs) else {
                of.left_out.push(format!(
                    "{name} (callbacks not at its period: it is on another clock, or its period was changed)"
                ));
                continue;
            };
            of.tasks.push(TimerTask {
                callback: number,
                name,
                threads: threads(&runs),
                due,
                samples,
                due_by,
            });
        }
        of.left_out = first_and_more(of.left_out, MOST_NAMED);
        of
    }
}

/// Node and period: a name that no other timer has.
fn name(callback: &Callback, period_ns: u64, tasks: &[TimerTask]) -> String {
    let node = callback.node.as_deref().unwrap_or("timer");
    let kept = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let node: String = node.chars().filter(|c| kept(*c)).take(40).collect();
    let base = format!("{node} {}", exact(period_ns));
    let names = (1_u32..).map(|n| match n {
        1 => base.clone(),
        n => format!("{base} {n}"),
    });
    let mut free = names.filter(|name| tasks.iter().all(|of| of.name != *name));
    free.next().unwrap_or(base.clone())
}

fn threads(runs: &[Run]) -> Vec<u32> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for run in runs {
        *counts.entry(run.thread).or_default() += 1;
    }
    let mut threads: Vec<u32> = counts.keys().copied().collect();
    threads.sort_by_key(|thread| std::cmp::Reverse(counts[thread]));
    threads
}

type Placed = (DueTimes, Vec<Sample>, DueBy);

/// The cycles of a timer with its making and period, in nanoseconds. `None` if they fit no row.
fn row(seen: &Seen, (made_ns, period_ns): (u64, u64), runs: &[Run]) -> Option<Placed> {
    let on_row = |made_ns| on_row(seen, (made_ns, period_ns), runs);
    if let Some((due, samples)) = on_row(made_ns) {
        return Some((due, samples, DueBy::Making));
    }
    // Where in the period callbacks begin: the row begins after the widest gap.
    let mut phases: Vec<u64> = runs
        .iter()
        .filter_map(|run| run.from_ns.checked_rem(period_ns))
        .collect();
    phases.sort_unstable();
    let wrapped = phases.first()?.checked_add(period_ns)?;
    let after = phases.iter().skip(1).copied().chain([wrapped]);
    let gaps = phases.iter().zip(after).map(|(at, next)| (next - at, next));
    let (_, phase) = gaps.max()?;
    let first = runs.first()?.from_ns;
    let start_ns = (first.checked_add(period_ns)? - phase % period_ns) / period_ns * period_ns;
    let start_ns = (start_ns + phase % period_ns).checked_sub(period_ns.checked_mul(2)?)?;
    on_row(start_ns).map(|(due, samples)| (due, samples, DueBy::Callbacks))
}

/// Due a period after `made_ns` for the first time.
fn on_row(
    seen: &Seen,
    (made_ns, period_ns): (u64, u64),
    runs: &[Run],
) -> Option<(DueTimes, Vec<Sample>)> {
    let starts: Vec<u64> = runs.iter().map(|run| run.from_ns).collect();
    let known = |from_ns, to_ns| !seen.has_lost(from_ns, to_ns);
    let cycles = due_cycles(made_ns, period_ns, &starts, known)?;
    let due = DueTimes {
        start_ns: made_ns.checked_add(period_ns)?,
        period_ns,
    };
    let mut samples: Vec<Sample> = Vec::with_capacity(runs.len());
    for (run, cycle) in runs.iter().zip(cycles) {
        // A few may be put where the one before is.
        let cycle = cycle.max(samples.last().map_or(0, |last| last.cycle + 1));
        let (cpu_time_ns, switches, flags) = match run.on_cpu {
            Some((ns, preempted)) => (
                u32::try_from(ns).unwrap_or(u32::MAX),
                u16::try_from(preempted).unwrap_or(u16::MAX),
                SampleFlags::HAS_CPU_TIME.with(SampleFlags::HAS_SWITCHES),
            ),
            None => (0, 0, SampleFlags::default()),
        };
        samples.push(Sample {
            cycle,
            due_ns: due.due_ns(cycle),
            wake_ns: run.from_ns,
            end_ns: run.to_ns,
            cpu: run.cpu,
            cpu_time_ns,
            involuntary_switches: switches,
            flags,
            ..Sample::default()
        });
    }
    Some((due, samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(starts: &[u64]) -> Vec<Run> {
        let run = |from_ns: &u64| Run {
            callback: 0,
            thread: 1,
            cpu: 0,
            from_ns: *from_ns,
            to_ns: from_ns + 10,
            message: None,
            on_cpu: Some((7, 1)),
        };
        starts.iter().map(run).collect()
    }

    /// When it was made, and its period.
    const TIMER: (u64, u64) = (1_000_000, 1_000);

    fn placed(seen: &Seen, starts: &[u64]) -> Option<Placed> {
        row(seen, TIMER, &runs(starts))
    }

    fn latencies(samples: &[Sample]) -> Vec<(u64, i64)> {
        let all = samples.iter();
        all.map(|s| (s.cycle, s.latency_ns())).collect()
    }

    #[test]
    fn a_timer_goes_on_from_where_it_was_made_and_skips_what_it_missed() {
        let starts = [1_001_005, 1_002_010, 1_004_900, 1_005_020];
        let (_, samples, due_by) = placed(&Seen::default(), &starts).unwrap();
        assert_eq!(due_by, DueBy::Making);
        assert_eq!(latencies(&samples), [(0, 5), (1, 10), (2, 1_900), (4, 20)]);
        let first = samples[0];
        assert_eq!((first.cpu_time_ns, first.involuntary_switches), (7, 1));
    }

    #[test]
    fn a_callback_after_lost_events_is_not_late_for_those_that_were_lost() {
        let starts = [1_001_005, 1_002_010, 1_009_030, 1_010_020];
        let seen = Seen {
            lost: vec![(1_002_500, 1_008_900)],
            ..Seen::default()
        };
        let (_, samples, _) = placed(&seen, &starts).unwrap();
        assert_eq!(latencies(&samples), [(0, 5), (1, 10), (8, 30), (9, 20)]);
    }

    #[test]
    fn a_timer_that_was_reset_is_put_on_the_latest_row_that_fits() {
        // Well before whole periods after it was made.
        let starts: Vec<u64> = (1..100)
            .map(|k| 1_000_000 + k * 1_000 - 400 + k % 3 * 50)
            .collect();
        let (_, samples, due_by) = placed(&Seen::default(), &starts).unwrap();
        assert_eq!(due_by, DueBy::Callbacks);
        assert!(samples.iter().all(|s| (0..=100).contains(&s.latency_ns())));
        assert_eq!(samples.iter().map(|s| s.latency_ns()).min(), Some(0));
    }

    #[test]
    fn callbacks_that_come_more_often_than_the_period_fit_no_row() {
        let starts: Vec<u64> = (1..100).map(|k| 1_000_000 + k * 300).collect();
        assert!(placed(&Seen::default(), &starts).is_none());
    }
}
