//! The figures of one run, and the runs of one board in order.
//!
//! Callers read them.

use serde::Serialize;
use std::collections::BTreeMap;

/// A figure of a run that runs are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// The nearest-rank median of its latencies.
    P50,
    /// Their 99.9 % quantile.
    P999,
    /// The largest of them; no bound.
    Max,
}

impl Figure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::P50, Self::P999, Self::Max];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::P50 => "p50",
            Self::P999 => "p99.9",
            Self::Max => "max",
        }
    }
}

/// One run under one condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunFigures {
    /// Its name.
    pub run_id: String,
    /// When it began, as text that is ordered as time is.
    pub started: String,
    /// Whether its verdict is that it can't be trusted. Such a run is counted and compared with none.
    pub is_invalid: bool,
    /// Its figures in nanoseconds.
    pub figures: BTreeMap<Figure, i64>,
    /// Facts about the board, by name.
    pub facts: BTreeMap<String, String>,
}

/// The runs of one board under one condition, in the order in which they began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct History {
    /// The board.
    pub board: String,
    /// The condition, such as `idle, FIFO 80`.
    pub condition: String,
    /// The runs.
    pub runs: Vec<RunFigures>,
}

impl History {
    /// A history from runs in any order.
    pub fn new(board: String, condition: String, mut runs: Vec<RunFigures>) -> Self {
        runs.sort_by(|a, b| (&a.started, &a.run_id).cmp(&(&b.started, &b.run_id)));
        Self {
            board,
            condition,
            runs,
        }
    }

    /// The runs that can be trusted and have a figure above zero, with its logarithm: latencies differ by
    /// factors.
    pub(crate) fn logarithms(&self, figure: Figure) -> Vec<(&RunFigures, f64)> {
        let of = |run: &RunFigures| {
            let value = run
                .figures
                .get(&figure)
                .copied()
                .filter(|&value| value > 0)?;
            (!run.is_invalid).then_some((value as f64).ln())
        };
        self.runs
            .iter()
            .filter_map(|run| Some((run, of(run)?)))
            .collect()
    }
}
