//! The state of something that is being measured: each condition's or thread's figures so far, its
//! latencies over time, the worst with its cause, each measured CPU. Data and how it adds up; the lines
//! shown of it are in `lines`, the metrics in `metrics`. No verdict uses any of it.

use super::history::History;
use super::remaining::Remaining;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use wakepath_measure::{LiveFigures, LivePlace};

/// Shared between who measures, who draws and who serves.
#[derive(Debug, Clone)]
pub struct Shared(Arc<Mutex<Standing>>);

impl Shared {
    pub fn new(standing: Standing) -> Self {
        Self(Arc::new(Mutex::new(standing)))
    }

    /// To look at or change; held for microseconds.
    pub fn lock(&self) -> MutexGuard<'_, Standing> {
        // Figures half changed by a thread that panicked are still figures.
        self.0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Kind of the table's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lines {
    /// Policies or task sets, each in several phases.
    Policies,
    /// Threads of a watched program.
    Threads,
}

/// Its length.
#[derive(Debug, Clone)]
pub enum Time {
    /// Until all segments are measured.
    Run(Remaining),
    /// For this time.
    For(Duration),
    /// Until something ends it.
    Open,
}

/// The state while it runs.
#[derive(Debug, Clone)]
pub struct Standing {
    /// The subject, in a few words.
    pub what: String,
    /// Its recording.
    pub recording: String,
    /// The measurement that this is a part of, if any: a step of a search.
    pub part: Option<String>,
    /// What comes after this part.
    pub after_it: Duration,
    pub lines: Lines,
    pub rows: Vec<Row>,
    /// The row under way.
    pub current: Option<usize>,
    /// Each thread on each CPU, of the row under way or the last.
    pub places: Vec<(String, LivePlace)>,
    /// Names of the threads of the segment under way, by number.
    pub threads: Vec<String>,
    /// Worst so far that has been explained, where anything is traced.
    pub worst: Option<Worst>,
    /// Present activity.
    pub status: String,
    /// Notes for the reader, latest last.
    pub notes: Vec<String>,
    pub time: Time,
    pub begun: Instant,
}

/// A latency and what it was spent on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worst {
    pub latency_ns: u64,
    pub text: String,
}

/// One condition in one phase, or one thread.
#[derive(Debug, Clone)]
pub struct Row {
    /// Policy or thread.
    pub name: String,
    /// Empty for threads.
    pub phase: String,
    /// Of segments that have ended.
    before: Totals,
    /// Of the one under way.
    now: Totals,
    pub history: History,
    /// Why it could not be measured.
    pub problem: Option<String>,
    /// Whether it was measured, or is being.
    pub is_begun: bool,
}

/// Sums of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    pub executed: u64,
    /// `None` if nothing shows them.
    pub skipped: Option<u64>,
    /// `None` without a limit.
    pub missed: Option<u64>,
    pub lost: u64,
    /// Of the last segment that has one: medians don't add up.
    pub median_ns: i64,
    pub max_ns: Option<i64>,
    pub sum_ns: u64,
    /// As [`LiveFigures::within`].
    pub within: Vec<u64>,
}

impl Totals {
    fn new(figures: &LiveFigures) -> Self {
        Self {
            executed: figures.executed,
            skipped: figures.skipped,
            missed: figures.missed,
            lost: figures.lost,
            median_ns: figures.median_ns,
            max_ns: (figures.executed > 0).then_some(figures.max_ns),
            sum_ns: figures.sum_ns,
            within: figures.within.clone(),
        }
    }

    pub fn and(&self, later: &Self) -> Self {
        let longest = self.within.len().max(later.within.len());
        let at = |of: &Self, number: usize| of.within.get(number).copied().unwrap_or(0);
        Self {
            executed: self.executed + later.executed,
            // A program of the user's own may have written anything into its samples.
            skipped: together(self.skipped, later.skipped),
            missed: together(self.missed, later.missed),
            lost: self.lost.saturating_add(later.lost),
            median_ns: match later.executed {
                0 => self.median_ns,
                _ => later.median_ns,
            },
            max_ns: self.max_ns.max(later.max_ns),
            sum_ns: self.sum_ns.saturating_add(later.sum_ns),
            within: (0..longest).map(|n| at(self, n) + at(later, n)).collect(),
        }
    }

    /// Due times so far.
    pub fn due(&self) -> u64 {
        self.executed.saturating_add(self.skipped.unwrap_or(0))
    }
}

/// The sum of what is known.
fn together(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    let both = one.zip(other);
    both.map(|(one, other)| one.saturating_add(other))
        .or(one)
        .or(other)
}

impl Row {
    pub fn new(name: String, phase: String) -> Self {
        Self {
            name,
            phase,
            before: Totals::default(),
            now: Totals::default(),
            history: History::default(),
            problem: None,
            is_begun: false,
        }
    }

    /// So far.
    pub fn totals(&self) -> Totals {
        self.before.and(&self.now)
    }

    /// Takes in what a segment or a thread has come to.
    pub fn is_at(&mut self, figures: &LiveFigures) {
        self.is_begun = true;
        self.now = Totals::new(figures);
        if let Some(ns) = figures.recent_max_ns {
            self.history.push(ns);
        }
    }

    fn settle(&mut self) {
        self.before = self.totals();
        self.now = Totals::default();
    }
}

impl Standing {
    pub fn new(lines: Lines, time: Time) -> Self {
        Self {
            what: String::new(),
            recording: String::new(),
            part: None,
            after_it: Duration::ZERO,
            lines,
            rows: Vec::new(),
            current: None,
            places: Vec::new(),
            threads: Vec::new(),
            worst: None,
            status: String::new(),
            notes: Vec::new(),
            time,
            begun: Instant::now(),
        }
    }

    /// The row of a condition in a phase, created if new.
    pub fn row(&mut self, name: &str, phase: &str) -> usize {
        let known = |row: &Row| row.name == name && row.phase == phase;
        self.rows.iter().position(known).unwrap_or_else(|| {
            self.rows.push(Row::new(name.into(), phase.into()));
            self.rows.len() - 1
        })
    }

    /// Figures of the row under way.
    pub fn live(&mut self, figures: &LiveFigures) {
        let Some(row) = self.current.and_then(|current| self.rows.get_mut(current)) else {
            return;
        };
        row.is_at(figures);
        let name = |place: &LivePlace| {
            let name = self.threads.get(usize::from(place.thread));
            name.cloned().unwrap_or_default()
        };
        self.places = figures.places.iter().map(|of| (name(of), *of)).collect();
    }

    /// The row under way has come to an end.
    pub fn ended(&mut self, row: usize, problem: Option<&str>) {
        if let Some(row) = self.rows.get_mut(row) {
            row.settle();
            row.problem = problem.map(str::to_owned).or(row.problem.take());
        }
        self.current = None;
    }

    /// Keeps the worst.
    pub fn explained(&mut self, worst: Worst) {
        let so_far = self.worst.as_ref().map_or(0, |of| of.latency_ns);
        if worst.latency_ns >= so_far {
            self.worst = Some(worst);
        }
    }

    /// Time since its beginning, and the remaining time if known.
    pub fn gone_and_left(&self) -> (Duration, Option<Duration>) {
        let gone = self.begun.elapsed();
        let left = match &self.time {
            Time::Run(remaining) => Some(remaining.left(gone) + self.after_it),
            Time::For(all) => Some(all.saturating_sub(gone)),
            Time::Open => None,
        };
        (gone, left)
    }
}
