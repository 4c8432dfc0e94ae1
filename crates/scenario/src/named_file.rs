//! Faults of a file that a scenario names: a vehicle's, a task table's.
//!
//! The caller reads the file.

use crate::ScenarioErrors;
use std::io;
use wakepath_flight::VehicleError;

/// Why a file that a scenario names can't be used. Each line names the file.
#[derive(Debug, thiserror::Error)]
pub enum NamedFileError {
    /// It can't be read.
    #[error("{path}: {source}")]
    Unread {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
    /// It describes no vehicle.
    #[error(transparent)]
    Vehicle(#[from] VehicleError),
    /// It holds no task table.
    #[error(transparent)]
    TaskTable(#[from] ScenarioErrors),
    /// No built-in table has this name.
    #[error("{0}: no built-in task table")]
    NoTaskTable(String),
}

/// The text of the file, as `read` gives it.
pub(crate) fn text_of(
    path: &str,
    read: impl FnOnce(&str) -> io::Result<String>,
) -> Result<String, NamedFileError> {
    read(path).map_err(|source| NamedFileError::Unread {
        path: path.to_owned(),
        source,
    })
}
