//! Reasons to reject a program, a guest's answer or a stored file.
//!
//! [`crate::LabError`] adds the place.

use crate::elf::ElfError;
use wakepath_guest::sending::ReceiveError;

/// Reasons to reject a program that a guest needs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramFault {
    /// Its file.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// The package has no such file.
    #[error("the package holds no such program")]
    NotInPackage,
    /// Something that it loads is not there.
    #[error("its library {name} is missing")]
    LibraryMissing {
        /// The library.
        name: String,
    },
    /// Its loader is missing.
    #[error("{name} is missing")]
    LoaderMissing {
        /// The loader.
        name: String,
    },
    /// The guest's kernel has that place for itself.
    #[error("the guest's kernel has this place for files of its own: copy the program elsewhere")]
    OfTheKernel,
}

/// Reasons why a guest's data is incomplete.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfinished {
    /// It is damaged or cut short.
    #[error(transparent)]
    Sent(#[from] ReceiveError),
    /// The guest ended before it had reported that everything was sent.
    #[error("it ended at: {last}")]
    EndedAt {
        /// The last of its console.
        last: String,
    },
}

/// Reasons to reject a file that the laboratory wrote.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// It can't be read as one.
    #[error("{is_not}: {source}{}", remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default())]
    NotUnderstood {
        /// The expected content.
        is_not: &'static str,
        /// Why.
        source: serde_json::Error,
        /// The way out.
        remedy: Option<&'static str>,
    },
}
