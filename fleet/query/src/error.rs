//! Why a question has no answer, in one line each.

use std::path::PathBuf;
use thiserror::Error;

/// Shorthand for this crate's results.
pub type Result<T> = std::result::Result<T, QueryError>;

/// Reasons why there is no answer.
#[derive(Debug, Error)]
pub enum QueryError {
    /// The archive.
    #[error(transparent)]
    Archive(#[from] wakepath_fleet_archive::FleetArchiveError),
    /// A file can't be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The text is not a query.
    #[error("{why}")]
    Text {
        /// The reason, and what would be right.
        why: String,
    },
    /// The engine could not answer.
    #[error("{engine} says: {said}")]
    Engine {
        /// Which engine.
        engine: &'static str,
        /// Its words, as one line.
        said: String,
    },
    /// The answer holds something that two engines would write in two ways.
    #[error(
        "column {column} is of type {found}; an answer holds integers, numbers, texts and truth values: CAST it"
    )]
    Type {
        /// Which column.
        column: String,
        /// Its type.
        found: String,
    },
    /// The answer's counts are not those of the archive's records.
    #[error("the answer is void: {why}")]
    Void {
        /// The difference.
        why: String,
    },
    /// The engine isn't available.
    #[error("{why}")]
    NoEngine {
        /// The missing prerequisite.
        why: String,
    },
}

impl QueryError {
    pub(crate) fn io(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub(crate) fn engine(engine: &'static str, said: impl ToString) -> Self {
        let said = said.to_string();
        let lines: Vec<&str> = said
            .lines()
            .map(str::trim)
            .filter(|l| !l.is_empty())
            .collect();
        Self::Engine {
            engine,
            said: lines.join(" "),
        }
    }
}
