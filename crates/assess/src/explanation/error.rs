//! Why a run can't be explained.

use std::io;
use wakepath_archive::ArchiveError;
use wakepath_scenario::ScenarioErrors;

/// Why a run can't be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The run or one of its traces can't be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The scenario in the run can't be read by this version.
    #[error("the run's own scenario can't be read: {0}")]
    Scenario(#[from] ScenarioErrors),
    /// It was not traced.
    #[error("{directory}: the run holds no kernel events; {}", advice(*imported))]
    NoEvents {
        /// The run directory.
        directory: String,
        /// Whether another program recorded it.
        imported: bool,
    },
    /// The explanation next to a run can't be read.
    #[error("{path}: {error}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// What lies there is none.
    #[error("{path}: not an explanation: {error}; remove it to get a report without causes")]
    NotAnExplanation {
        /// The file.
        path: String,
        /// The fault.
        error: serde_json::Error,
    },
    /// What lies there are no stacks.
    #[error("{path}: not a file of stacks: {error}; remove it to get causes without functions")]
    NotStacks {
        /// The file.
        path: String,
        /// The fault.
        error: serde_json::Error,
    },
    /// It has a later form.
    #[error("{path}: written by a newer wakepath; remove it to get a report without causes")]
    Newer {
        /// The file.
        path: String,
    },
    /// The explanation can't be written next to the run.
    #[error("{path}: {error}")]
    Write {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// The accompanying reader failed.
    #[error("while explaining the run: {0}")]
    Along(#[from] io::Error),
}

fn advice(imported: bool) -> &'static str {
    match imported {
        true => {
            "record the kernel's too, and import both (see the import guide), or use `wakepath watch`"
        }
        false => "measure again with --trace, as root",
    }
}
