//! Data of the pages: runs, changes, one cell for each board and kernel.
//!
//! Made of records, without computing anything new.

use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_fleet_archive::RunRecord;
use wakepath_fleet_regression::Change;

/// State of a run's seal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seal {
    /// It has none, and none is required.
    None,
    /// It has one, and there is no trust file.
    Unchecked,
    /// It is that of a trusted key, and the run is as it was sealed.
    Verified,
    /// One is required, and this is wrong.
    Wrong(String),
}

impl Seal {
    /// Text for a page.
    pub fn words(&self) -> &str {
        match self {
            Self::None => "no",
            Self::Unchecked => "yes, not verified",
            Self::Verified => "verified",
            Self::Wrong(why) => why,
        }
    }
}

/// One run for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenRun {
    /// Its name.
    pub run_id: String,
    /// Its board.
    pub board: String,
    /// Its kernel; empty if unknown.
    pub kernel: String,
    /// When it began.
    pub started: String,
    /// The verdict.
    pub outcome: String,
    /// The 99.9 % quantile of the worst condition, in nanoseconds.
    pub p999_ns: Option<i64>,
    /// The largest latency.
    pub max_ns: Option<i64>,
    /// Missed due times.
    pub missed: i64,
    /// Judged due times.
    pub due: i64,
    /// State of its seal.
    pub seal: Seal,
    /// Whether there is a page with its report, `report/RUN.html`.
    pub has_report: bool,
    /// Its worst cycles: segment, thread, cycle, response in nanoseconds.
    pub worst: Vec<(i64, i64, i64, i64)>,
}

/// Worst cycles that a page shows of a run.
const WORST: usize = 5;

impl SeenRun {
    /// A run from its record.
    pub fn new(record: &RunRecord, seal: Seal) -> Self {
        let conditions = &record.conditions;
        let mut worst: Vec<_> = record
            .outliers
            .iter()
            .map(|o| (o.segment, o.thread, o.cycle, o.response_ns))
            .collect();
        worst.sort_by_key(|&(segment, thread, cycle, response)| {
            (std::cmp::Reverse(response), segment, thread, cycle)
        });
        worst.truncate(WORST);
        Self {
            run_id: record.run_id.clone(),
            board: record.board.clone(),
            kernel: record.facts.get("kernel").cloned().unwrap_or_default(),
            started: record.started.clone(),
            outcome: record.outcome.clone(),
            p999_ns: conditions.iter().filter_map(|c| c.p999_ns).max(),
            max_ns: conditions.iter().filter_map(|c| c.max_ns).max(),
            missed: conditions
                .iter()
                .fold(0, |sum, c| sum.saturating_add(c.missed)),
            due: conditions
                .iter()
                .fold(0, |sum, c| sum.saturating_add(c.due)),
            seal,
            has_report: false,
            worst,
        }
    }

    /// The verdict, if it counts.
    pub fn verdict(&self) -> &str {
        if self.is_invalid() {
            "invalid"
        } else {
            &self.outcome
        }
    }

    /// Whether it can't be trusted, by its verdict or by its seal.
    pub fn is_invalid(&self) -> bool {
        self.outcome == "invalid" || matches!(self.seal, Seal::Wrong(_))
    }
}

/// A change in a board's history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeenChange {
    /// The board.
    pub board: String,
    /// The condition.
    pub condition: String,
    /// The change of its 99.9 % quantile.
    pub change: Change,
}

/// Counts of latencies, of one thread in the newest run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Curve {
    /// The thread, for a legend.
    pub name: String,
    /// Microseconds and samples, ascending.
    pub points: Vec<(i64, u64)>,
}

/// Figures of a kernel on a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cell {
    /// Runs that can be trusted.
    pub runs: u32,
    /// Runs that can't.
    pub invalid: u32,
    /// The largest 99.9 % quantile of those that can.
    pub p999_ns: Option<i64>,
    /// Their missed due times.
    pub missed: i64,
    /// Their judged due times.
    pub due: i64,
}

/// All that is shown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seen {
    /// Runs in the order in which they began.
    pub runs: Vec<SeenRun>,
    /// Changes, newest first.
    pub changes: Vec<SeenChange>,
}

impl Seen {
    /// Puts both in order.
    pub fn new(mut runs: Vec<SeenRun>, mut changes: Vec<SeenChange>) -> Self {
        runs.sort_by(|a, b| (&a.started, &a.run_id).cmp(&(&b.started, &b.run_id)));
        changes.sort_by(|a, b| b.change.started.cmp(&a.change.started));
        Self { runs, changes }
    }

    /// Boards, by name.
    pub fn boards(&self) -> Vec<&str> {
        let mut boards: Vec<&str> = self.runs.iter().map(|run| &*run.board).collect();
        boards.sort_unstable();
        boards.dedup();
        boards
    }

    /// Kernels, by the first run of each.
    pub fn kernels(&self) -> Vec<&str> {
        let mut kernels: Vec<&str> = Vec::new();
        let mut known = std::collections::BTreeSet::new();
        for run in &self.runs {
            if known.insert(&run.kernel) {
                kernels.push(&run.kernel);
            }
        }
        kernels
    }

    /// Figures of each kernel on each board that measured it.
    pub fn cells(&self) -> BTreeMap<(&str, &str), Cell> {
        let mut cells: BTreeMap<(&str, &str), Cell> = BTreeMap::new();
        for run in &self.runs {
            let cell = cells.entry((&run.board, &run.kernel)).or_default();
            if run.is_invalid() {
                cell.invalid += 1;
                continue;
            }
            cell.runs += 1;
            cell.p999_ns = cell.p999_ns.max(run.p999_ns);
            cell.missed = cell.missed.saturating_add(run.missed);
            cell.due = cell.due.saturating_add(run.due);
        }
        cells
    }
}
