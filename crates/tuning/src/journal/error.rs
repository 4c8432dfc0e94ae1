//! Reasons why a journal can't be used, and its faults.

use super::{LARGEST, VERSION};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use wakepath_directory::DirectoryError;

/// Why the journal can't be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Its directory can't be trusted.
    #[error(transparent)]
    Directory(DirectoryError),
    /// Another wakepath is at work.
    #[error("{}: another wakepath is tuning this machine; wait for it", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// It, or its directory, can't be opened, created, read or written.
    #[error("{}: {source}{}", path.display(), remedy(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: Error,
    },
    /// A journal exists already.
    #[error("{}: this machine is tuned already; first: wakepath tune revert", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A boot entry is prepared already.
    #[error("{}: a boot entry is prepared already; first: wakepath tune boot --remove", path.display())]
    Kept {
        /// The file.
        path: PathBuf,
    },
    /// A line other than the last can't be read.
    #[error("{}: line {line} is damaged: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// The damage.
        why: Damage,
    },
}

/// Damage to a journal or one of its lines.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It has a second name elsewhere.
    #[error("not a regular file with one name")]
    NoPlainFile,
    /// It is longer than any journal.
    #[error("longer than {} MiB", LARGEST >> 20)]
    TooLong,
    /// A line isn't an entry.
    #[error(transparent)]
    NoEntry(#[from] serde_json::Error),
    /// The first entry of a journal is missing or in another place.
    #[error("only the first line can identify the boot")]
    Beginning,
    /// It is of another version of the format.
    #[error("version {0}; this wakepath reads {VERSION}")]
    Version(u32),
    /// A change out of turn.
    #[error("change {number} where {expected} was expected")]
    OutOfTurn {
        /// Its number.
        number: usize,
        /// The number that was due.
        expected: usize,
    },
    /// It speaks of a change that no line has announced.
    #[error("change {number} of {count} is missing")]
    UnknownChange {
        /// Its number.
        number: usize,
        /// Announced number.
        count: usize,
    },
}

impl JournalError {
    pub(crate) fn io(path: &Path, source: Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }
}

impl From<DirectoryError> for JournalError {
    fn from(error: DirectoryError) -> Self {
        match error {
            DirectoryError::Busy { path } => Self::Busy { path },
            DirectoryError::Io { path, source, .. } => Self::Io { path, source },
            other => Self::Directory(other),
        }
    }
}

fn remedy(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::PermissionDenied => "; only root can change the machine's settings: sudo",
        _ => "",
    }
}
