//! Why the text of a kernel's file could not be understood. Whether the file is there and may be
//! read is in `Reading`, which keeps this as one line.

use std::borrow::Cow;
use thiserror::Error;
use wakepath_timeline::CpuSetError;

/// Missing or invalid part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Misread {
    /// It is no number, or none of the size expected.
    #[error("a number was expected")]
    NotANumber,
    /// It is not of the form that stands here.
    #[error("expected {0}")]
    NotOfForm(&'static str),
    /// It lacks a part, which stands here.
    #[error("no {0}")]
    Lacks(Cow<'static, str>),
    /// A row of `/proc/stat` ends early.
    #[error("cpu{cpu} has {counts} counts, expected 8 or more")]
    TooFewCounts {
        /// The CPU of the row.
        cpu: u16,
        /// How many are there.
        counts: usize,
    },
    /// It is no list or mask of CPUs.
    #[error(transparent)]
    Cpus(#[from] CpuSetError),
}

impl Misread {
    /// The part that is lacking.
    pub fn lacks(part: impl Into<Cow<'static, str>>) -> Self {
        Self::Lacks(part.into())
    }
}
