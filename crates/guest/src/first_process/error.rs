//! Errors in a guest, each one line on the guest's console.

use std::error::Error;
use std::fmt::Display;
use std::io;

/// Error in a guest.
#[derive(Debug, thiserror::Error)]
pub enum InsideError {
    /// Not started by the kernel.
    #[error("this is the first process of a laboratory's guest and nothing else")]
    NotFirst,
    /// The kernel lacks something that every guest needs.
    #[error("{place} can't be mounted: {source}")]
    Mount {
        /// The mount point.
        place: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel has no network.
    #[error("loopback can't be brought up: {0}")]
    Loopback(io::Error),
    /// The kernel refuses a module.
    #[error("the module {path}: {source}")]
    Module {
        /// Its file.
        path: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel refuses a value.
    #[error("{value} can't be written to {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// The value.
        value: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The kernel's disk isn't as ordered.
    #[error(
        "this kernel's null_blk keeps no data or takes no time: for --disk boot Debian's 6.1 or newer"
    )]
    NoDisk,
    /// The order can't be parsed.
    #[error(
        "{path}: {0} (is this wakepath of another version than the host's?)",
        path = crate::order::ORDER_PATH
    )]
    Order(serde_json::Error),
    /// The system refused something about a file.
    #[error("{place}: {source}")]
    File {
        /// The file.
        place: String,
        /// The system's error.
        source: io::Error,
    },
    /// A command can't be started, or its output not kept.
    #[error("{command}: {source}")]
    NotStarted {
        /// The command.
        command: String,
        /// The system's error.
        source: io::Error,
    },
    /// A command that had to succeed failed.
    #[error("{command}: {how}: {said}")]
    Failed {
        /// The command.
        command: String,
        /// Its exit code, or that a signal ended it.
        how: String,
        /// Its last words.
        said: String,
    },
    /// The measurement failed.
    #[error("{0}")]
    Measuring(Box<dyn Error>),
}

impl InsideError {
    pub(super) fn at(place: impl Display, source: io::Error) -> Self {
        Self::File {
            place: place.to_string(),
            source,
        }
    }
}
