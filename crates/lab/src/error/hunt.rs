//! Errors of hunts.

use std::path::PathBuf;

/// Error of a hunt.
#[derive(Debug, thiserror::Error)]
pub enum HuntError {
    /// No guest is ready for programs.
    #[error("no snapshot of the guest: {why}")]
    NoSnapshot {
        /// The reason.
        why: String,
    },
    /// A snapshot can't be continued.
    #[error("the snapshot can't be continued: {why}")]
    NoBranch {
        /// The reason.
        why: String,
    },
    /// Hunts need one x86-64 CPU and one kernel.
    #[error("a hunt has one kernel on one x86-64 CPU: {what}")]
    Guest {
        /// The conflicting option.
        what: String,
    },
    /// A directory of another hunt.
    #[error("{}: {why}: choose another directory", path.display())]
    OtherHunt {
        /// The file.
        path: PathBuf,
        /// The difference.
        why: String,
    },
    /// A grammar that can't be parsed.
    #[error(transparent)]
    Grammar(#[from] wakepath_guest::hunt::GrammarError),
    /// A program that can't be parsed.
    #[error("{}: {fault}", path.display())]
    Program {
        /// The file.
        path: PathBuf,
        /// The line.
        fault: wakepath_guest::hunt::TextError,
    },
}
