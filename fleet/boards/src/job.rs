//! A job: one scenario on several boards, with a record for each board.
//!
//! The records are on the controller's disk and survive the controller; boards are asked only for missing
//! records.

mod journal;

pub use journal::{Journal, JournalError};

use crate::answer::Clocks;
use serde::{Deserialize, Serialize};

/// Record of a job on one board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The job.
    pub job: String,
    /// The board.
    pub board: String,
    /// The scenario's name.
    pub scenario: String,
    /// SHA-256 of the board's scenario: its text, or its name if the board stores the scenario.
    pub scenario_sha256: String,
    /// When the job was planned, seconds since 1970 by the controller's clock.
    pub planned: u64,
    /// Duration of the scenario in seconds.
    pub takes: u64,
    /// Whether the board's place in labgrid was acquired for it, and has to be released.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds_place: bool,
    /// How far it is.
    pub stage: Stage,
}

/// How far a job is on a board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Stage {
    /// Not begun, as far as is known.
    Planned {
        /// Why not yet.
        why: Option<String>,
    },
    /// Begun.
    Started {
        /// When, by the controller's clock.
        at: u64,
        /// The program that measures.
        program: String,
        /// Reason why the board could not be asked, if that failed.
        why: Option<String>,
    },
    /// Ended on the board, and not fetched.
    Ended {
        /// When it was started, by the controller's clock.
        at: u64,
        /// The program's exit code.
        code: u8,
        /// Room that was left then, KiB.
        free_kib: u64,
        /// The board's clocks when it began.
        begun: Clocks,
        /// And when it ended.
        ended: Clocks,
        /// Why it could not be fetched yet.
        why: Option<String>,
    },
    /// Here, every file as it was on the board; or lost, with nothing to fetch.
    Over {
        /// The outcome.
        outcome: Outcome,
        /// Reason, if it did not pass.
        reason: Option<String>,
        /// Whether its files are here.
        fetched: bool,
    },
}

/// Outcome of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The criterion is met.
    Passed,
    /// Too little evidence.
    Undecided,
    /// The criterion is not met.
    Failed,
    /// It shows nothing about the criterion.
    Invalid,
}

impl Outcome {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Undecided => "undecided",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
        }
    }

    /// The exit code of the program for it.
    pub fn code(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Invalid => 1,
            Self::Failed => 2,
            Self::Undecided => 3,
        }
    }
}

impl Record {
    /// Seconds after which the board ends the run by itself.
    pub fn limit(&self) -> u64 {
        self.takes * 2 + 120
    }

    /// Expected end, by the controller's clock; none before it has begun.
    pub fn due(&self) -> Option<u64> {
        match self.stage {
            Stage::Started { at, .. } => Some(at + self.takes + self.takes / 10 + 5),
            _ => None,
        }
    }

    /// Time at which an unfinished run counts as hung, its board's own limit included.
    pub fn hangs(&self) -> Option<u64> {
        match self.stage {
            Stage::Started { at, .. } => Some(at + self.limit() + 60),
            _ => None,
        }
    }
}
