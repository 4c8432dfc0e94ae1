//! Executors: the threads that ran a callback in common, how busy they were, and their longest stretch without a rest.

use crate::row::by_callback;
use crate::{Kind, Run, Seen};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use wakepath_timeline::{KernelEvent, Left, ThreadName, What};

/// Callbacks of a stretch that are named.
const MOST_PARTS: usize = 3;

/// One executor. Times are nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Executor {
    /// Number of its process.
    pub process: u32,
    /// Its threads that ran a callback, the busiest first.
    pub threads: Vec<ExecutorThread>,
    /// Its kind; unknown for one thread whose waits were not recorded.
    pub kind: Option<ExecutorKind>,
    /// Numbers of its callbacks, of those of [`Seen`].
    pub callbacks: Vec<usize>,
    /// Runs of callbacks.
    pub runs: u64,
    /// Time within callbacks, of all its threads.
    pub busy_ns: u64,
    /// From the first to the last call of its process: the time that each thread had.
    pub span_ns: u64,
    /// The longest stretch of callbacks between which a thread did not rest; unknown without the kernel's switches.
    pub longest: Option<Stretch>,
}

impl Executor {
    /// Time within callbacks, in hundredths of what its threads had.
    pub fn busy_percent(&self) -> Option<f64> {
        let had_ns = self.span_ns as f64 * self.threads.len() as f64;
        (had_ns > 0.0).then(|| self.busy_ns as f64 / had_ns * 100.0)
    }
}

/// A thread of an executor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutorThread {
    /// Its number.
    pub thread: u32,
    /// Its name, where an event of the kernel had it.
    pub name: Option<String>,
}

/// The kind of an executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutorKind {
    /// Several threads ran its callbacks.
    MultiThreaded,
    /// One thread, which waits in a wait set.
    SingleThreaded,
    /// One thread that made no call of the wait set's, while others did.
    Events,
}

/// Callbacks one after the other on one thread that did not rest between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// The thread.
    pub thread: u32,
    /// When the first began, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// When the last ended.
    pub to_ns: u64,
    /// The callbacks that took longest: number, and time of all their runs.
    pub parts: Vec<(usize, u64)>,
    /// Further callbacks that ran.
    pub more_parts: u64,
}

impl Stretch {
    /// How long it was.
    pub fn length_ns(&self) -> u64 {
        self.to_ns - self.from_ns
    }
}

/// The callbacks of a thread that are not within another one, and between which of them it rested.
#[derive(Debug)]
struct OfThread {
    runs: Vec<Run>,
    /// Whether it rested between each run and the one before.
    rested: Vec<bool>,
    /// The first run that has not ended.
    at: usize,
    name: Option<ThreadName>,
    waits_for_work: bool,
}

/// Takes a trace's events, and has the executors.
#[derive(Debug)]
pub struct Executors {
    threads: BTreeMap<u32, OfThread>,
    has_switches: bool,
    /// Whether any thread was seen to wait for work.
    has_waits: bool,
}

impl Executors {
    /// Of what was seen.
    pub fn new(seen: &Seen) -> Self {
        let mut threads: BTreeMap<u32, OfThread> = BTreeMap::new();
        for run in seen
            .runs
            .iter()
            .filter(|run| is_executed(seen, run.callback))
        {
            let of = threads.entry(run.thread).or_insert_with(|| OfThread {
                runs: Vec::new(),
                rested: Vec::new(),
                at: 0,
                name: None,
                waits_for_work: false,
            });
            let is_within = of.runs.last().is_some_and(|last| run.from_ns < last.to_ns);
            if !is_within {
                of.runs.push(*run);
                of.rested.push(false);
            }
        }
        Self {
            threads,
            has_switches: false,
            has_waits: false,
        }
    }

    /// Takes an event, in their order.
    pub fn event(&mut self, event: &KernelEvent) {
        match &event.what {
            What::Call(call) if &*call.function == "rclcpp_executor_wait_for_work" => {
                self.has_waits = true;
                if let Some(of) = self.threads.get_mut(&event.current) {
                    of.waits_for_work = true;
                }
            }
            What::Switch {
                previous,
                left,
                next,
            } => {
                self.has_switches = true;
                for thread in [previous, next] {
                    if let Some(of) = self.threads.get_mut(&thread.id) {
                        of.name = Some(thread.name);
                    }
                }
                if *left != Left::Runnable {
                    self.rests(previous.id, event.at_ns);
                }
            }
            // Who is woken has slept, also where the switch before was lost.
            What::Waking { thread, .. } => self.rests(thread.id, event.at_ns),
            _ => {}
        }
    }

    fn rests(&mut self, thread: u32, at_ns: u64) {
        let Some(of) = self.threads.get_mut(&thread) else {
            return;
        };
        while of.runs.get(of.at).is_some_and(|run| run.to_ns <= at_ns) {
            of.at += 1;
        }
        if let Some(run) = of.runs.get(of.at)
            && run.from_ns > at_ns
        {
            of.rested[of.at] = true;
        }
    }

    /// The executors, by process and the first of their callbacks.
    pub fn finish(self, seen: &Seen) -> Vec<Executor> {
        let executors = together(seen).into_values();
        let mut executors: Vec<Executor> = executors
            .map(|threads| self.executor(seen, &threads))
            .collect();
        executors.sort_by_cached_key(|of| (of.process, of.callbacks.first().copied()));
        executors
    }

    fn executor(&self, seen: &Seen, threads: &BTreeSet<u32>) -> Executor {
        let own = || {
            threads
                .iter()
                .filter_map(|id| Some((id, self.threads.get(id)?)))
        };
        let busy_ns = |of: &OfThread| of.runs.iter().map(Run::length_ns).sum::<u64>();
        let mut busy: Vec<(u64, u32)> = own().map(|(id, of)| (busy_ns(of), *id)).collect();
        busy.sort_by_cached_key(|(ns, id)| (std::cmp::Reverse(*ns), *id));
        let runs = seen.runs.iter().filter(|run| threads.contains(&run.thread));
        let callbacks: BTreeSet<usize> = runs.clone().map(|run| run.callback).collect();
        let process = callbacks
            .first()
            .map_or(0, |at| seen.callbacks[*at].process);
        let kind = match (threads.len(), self.has_waits) {
            (2.., _) => Some(ExecutorKind::MultiThreaded),
            (_, false) => None,
            (_, true) => Some(if own().any(|(_, of)| of.waits_for_work) {
                ExecutorKind::SingleThreaded
            } else {
                ExecutorKind::Events
            }),
        };
        let longest = own().filter_map(|(id, of)| longest(*id, of));
        let (from_ns, to_ns) = seen.spans.get(&process).copied().unwrap_or_default();
        Executor {
            process,
            threads: busy
                .iter()
                .map(|(_, id)| ExecutorThread {
                    thread: *id,
                    name: self
                        .threads
                        .get(id)
                        .and_then(|of| of.name.map(|name| name.to_string())),
                })
                .collect(),
            kind,
            callbacks: callbacks.into_iter().collect(),
            runs: runs.count() as u64,
            busy_ns: busy.iter().map(|(ns, _)| ns).sum(),
            span_ns: to_ns - from_ns,
            longest: longest
                .max_by_key(Stretch::length_ns)
                .filter(|_| self.has_switches),
        }
    }
}

/// The longest stretch of a thread.
fn longest(thread: u32, of: &OfThread) -> Option<Stretch> {
    let begins = |at: &usize| *at == 0 || of.rested[*at];
    let firsts: Vec<usize> = (0..of.runs.len()).filter(begins).collect();
    let ends = firsts.iter().skip(1).copied().chain([of.runs.len()]);
    let stretches = firsts
        .iter()
        .zip(ends)
        .map(|(from, to)| &of.runs[*from..to]);
    let length_ns = |runs: &&[Run]| runs[runs.len() - 1].to_ns - runs[0].from_ns;
    let runs = stretches.max_by_key(length_ns)?;
    let mut parts: BTreeMap<usize, u64> = BTreeMap::new();
    for run in runs {
        *parts.entry(run.callback).or_default() += run.length_ns();
    }
    let known = parts.into_iter().filter(|(_, ns)| *ns > 0);
    let mut parts: Vec<(usize, u64)> = known.collect();
    parts.sort_by_cached_key(|(number, ns)| (std::cmp::Reverse(*ns), *number));
    let more_parts = parts.len().saturating_sub(MOST_PARTS) as u64;
    parts.truncate(MOST_PARTS);
    Some(Stretch {
        thread,
        from_ns: runs[0].from_ns,
        to_ns: runs[runs.len() - 1].to_ns,
        parts,
        more_parts,
    })
}

/// Whether an executor runs it: ros2_control's manager has a loop of its own.
fn is_executed(seen: &Seen, callback: usize) -> bool {
    !matches!(seen.callbacks[callback].kind, Kind::Control { .. })
}

/// Threads that ran a callback in common, by the smallest number of them. A callback belongs to one executor at a time.
fn together(seen: &Seen) -> BTreeMap<u32, BTreeSet<u32>> {
    let mut first: BTreeMap<u32, u32> = BTreeMap::new();
    fn root(first: &BTreeMap<u32, u32>, mut thread: u32) -> u32 {
        while let Some(next) = first.get(&thread).filter(|next| **next != thread) {
            thread = *next;
        }
        thread
    }
    for (_, runs) in by_callback(seen)
        .into_iter()
        .filter(|(of, _)| is_executed(seen, *of))
    {
        for run in &runs {
            let (one, other) = (root(&first, runs[0].thread), root(&first, run.thread));
            first.insert(one.max(other), one.min(other));
            first.entry(run.thread).or_insert(one.min(other));
        }
    }
    let mut sets: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for thread in first.keys() {
        sets.entry(root(&first, *thread))
            .or_default()
            .insert(*thread);
    }
    sets
}
