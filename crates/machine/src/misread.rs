//! Reasons why the text of a kernel file can't be parsed.
//!
//! `Reading` covers missing and unreadable files, and stores this as one line.

use std::borrow::Cow;
use thiserror::Error;
use wakepath_timeline::CpuSetError;

/// Missing or invalid part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Misread {
    /// Not a number, or out of range.
    #[error("a number was expected")]
    NotANumber,
    /// Not in this form.
    #[error("expected {0}")]
    NotOfForm(&'static str),
    /// This part is missing.
    #[error("no {0}")]
    Lacks(Cow<'static, str>),
    /// A row of `/proc/stat` ends early.
    #[error("cpu{cpu} has {counts} counts, expected 8 or more")]
    TooFewCounts {
        /// The CPU of the row.
        cpu: u16,
        /// Number of values.
        counts: usize,
    },
    /// Not a list or mask of CPUs.
    #[error(transparent)]
    Cpus(#[from] CpuSetError),
}

impl Misread {
    /// The part that is lacking.
    pub fn lacks(part: impl Into<Cow<'static, str>>) -> Self {
        Self::Lacks(part.into())
    }
}
