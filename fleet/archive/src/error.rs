//! Errors of an archive, or of a run to add, in one line each.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Shorthand for this crate's results.
pub type Result<T> = std::result::Result<T, FleetArchiveError>;

/// Why an archive can't be read or added to. Nothing was changed that a reader sees.
#[derive(Debug, Error)]
pub enum FleetArchiveError {
    /// A system error.
    #[error("{}: can't {what}: {source}", path.display())]
    Io {
        /// The action that failed.
        what: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A directory that belongs to another user, or can't be opened.
    #[error(transparent)]
    Directory(#[from] wakepath_directory::DirectoryError),
    /// The run can't be read.
    #[error(transparent)]
    Run(#[from] wakepath_archive::ArchiveError),
    /// The run can be read and not be judged.
    #[error("{}: {source}", path.display())]
    Assessment {
        /// The run.
        path: PathBuf,
        /// Why.
        source: wakepath_assess::AssessmentError,
    },
    /// A run that the archive refuses.
    #[error("{}: {why}; nothing was added", path.display())]
    Refused {
        /// The run.
        path: PathBuf,
        /// The reason, with the way out.
        why: String,
    },
    /// A run of this name is there, and it is another.
    #[error(
        "{}: run {run_id} is in the archive already, {how}; nothing was added", path.display()
    )]
    Another {
        /// The run.
        path: PathBuf,
        /// Its name.
        run_id: String,
        /// The difference.
        how: String,
    },
    /// A name that no board can have.
    #[error(
        "{name:?} is not a name of a board: up to 64 letters, digits, `.`, `_` and `-`, the first a letter or digit"
    )]
    BoardName {
        /// As it was given.
        name: String,
    },
    /// Not a day.
    #[error("{day:?} is not a day; one is written 2026-11-24")]
    Day {
        /// As it was given.
        day: String,
    },
    /// Not an archive of a fleet.
    #[error("{}: not an archive of a fleet: it holds no run; add one with `wakepath-fleet add`", path.display())]
    NotAnArchive {
        /// The path.
        path: PathBuf,
    },
    /// A bucket that can't be an archive.
    #[error("{url}: {why}")]
    Bucket {
        /// As it was given.
        url: String,
        /// The reason, with the way out.
        why: String,
    },
    /// Something in the archive is not as it was written.
    #[error("{}: {why}", path.display())]
    Damaged {
        /// The path.
        path: PathBuf,
        /// The reason.
        why: String,
    },
}

impl FleetArchiveError {
    /// A system error, with the action and the path.
    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }

    pub(crate) fn damaged(path: &Path, why: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            why: why.into(),
        }
    }
}
