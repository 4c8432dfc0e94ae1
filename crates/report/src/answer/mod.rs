//! The short answer to a run: what fits one screen and is enough to act on. It is data that knows
//! no terminal; `made` gathers it, `laid` lays it out, and
//! everything else there is to say is in the whole text and in the report.

mod causes;
mod figures;
mod laid;
mod machine;
mod made;
mod next;
mod variants;
mod why;

use crate::table::Tone;
use crate::text::tone;
pub(crate) use figures::{is_idle, rows};
pub use laid::Shown;
pub use made::nearest_to_passing;
pub(crate) use made::{measures_caches, nearest, observed};
use serde::{Deserialize, Serialize};
use std::fmt;
pub use variants::{VariantFigures, VariantRow};
pub(crate) use variants::{table as variants_table, variants};
use wakepath_verdict::Outcome;
pub use why::Why;

/// Maximum lines of an answer, and its columns if their number is unknown.
pub const LINES: usize = 40;
/// See [`LINES`].
pub const COLUMNS: usize = 100;

/// The result of a run, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The verdict.
    pub outcome: Outcome,
    /// Exit code of the command that shows it.
    pub exit_code: u8,
    /// The meaning of the verdict: which policy to use, or the reason against all of them.
    pub because: Vec<String>,
    /// The criterion judged by, in words.
    pub criterion: String,
    /// Headings of the columns of figures.
    pub classes: Vec<Class>,
    /// One for each policy, or task where tasks are judged one by one.
    pub rows: Vec<Row>,
    /// Programs that the run tried in turns: shown in place of `rows`, if there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantRow>,
    /// Problems of the machine, the most critical first.
    pub machine: Vec<Matter>,
    /// How many more checks of the machine are bad.
    pub more_bad: usize,
    /// The command that lists them, for this run's loop.
    #[serde(default)]
    pub doctor: String,
    /// What to type next.
    pub next: Vec<Next>,
    /// Limits of the figures.
    pub limits: String,
}

/// Which phases a group of columns is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Phases without a load.
    Idle,
    /// Phases with loads.
    UnderLoad,
    /// All phases, if wakepath made no load.
    All,
}

/// A policy with its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The policy, the task, or both.
    pub label: String,
    /// For each class, the worst of its phases; `None` if none was measured.
    pub figures: Vec<Option<Figures>>,
    /// Its verdict.
    pub verdict: RowVerdict,
    /// Why it did not pass.
    #[serde(default)]
    pub why: Why,
}

/// Verdict of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowVerdict {
    /// It was measured.
    Judged {
        /// The worst of its phases.
        outcome: Outcome,
        /// Whether its policy is a real-time one.
        is_real_time: bool,
    },
    /// It could not be measured.
    NotMeasured,
}

impl RowVerdict {
    /// As it is shown, with a few words of reason after the outcome.
    pub(crate) fn with(self, reason: &str) -> String {
        let remark = match self {
            Self::Judged {
                is_real_time: false,
                ..
            } => ", not real-time",
            _ => "",
        };
        let outcome = match self {
            Self::Judged { outcome, .. } => outcome.to_string(),
            Self::NotMeasured => "not measured".to_owned(),
        };
        if reason.is_empty() {
            format!("{outcome}{remark}")
        } else {
            format!("{outcome}: {reason}{remark}")
        }
    }

    /// How it is meant.
    pub(crate) fn tone(self) -> Tone {
        match self {
            Self::Judged { outcome, .. } => tone(outcome),
            Self::NotMeasured => Tone::Doubtful,
        }
    }
}

impl fmt::Display for RowVerdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.with(""))
    }
}

/// The worst figures of a policy over some phases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Share of due times missed; `None` if nothing was due.
    pub missed: Option<f64>,
    /// If nothing was missed: the share missed at most, at the criterion's confidence.
    #[serde(default)]
    pub missed_at_most: Option<f64>,
    /// Whether more might be missed than is known.
    pub is_least: bool,
    /// Median wake-up latency, ns.
    pub median_ns: Option<i64>,
    /// Its 99.9th percentile, ns; `None` where a sample is too small for it.
    pub p999_ns: Option<i64>,
    /// The largest, ns.
    pub max_ns: Option<i64>,
}

/// Something about the machine that matters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matter {
    /// The problem.
    pub what: String,
    /// How much it costs, as far as that is known.
    pub size: String,
    /// The fix; empty if there is none.
    pub remedy: String,
    /// Whether it is a check of `wakepath doctor`.
    pub is_check: bool,
}

/// A command to type next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    /// The command's words, as a shell reads them.
    pub words: Vec<Word>,
    /// Its purpose.
    pub what: String,
}

/// A part of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Word {
    /// As it is typed.
    Text(String),
    /// The run itself: its name depends on the place of the answer.
    Run,
}
