//! Options of a hunt.

use crate::asked::GuestsAsked;
use std::path::PathBuf;
use std::time::Duration;

/// How programs are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// See `search`.
    Guided,
    /// All are new. For comparison.
    Random,
}

/// Options of a hunt.
#[derive(Debug, Clone)]
pub struct HuntAsked {
    /// The guest: one kernel.
    pub guests: GuestsAsked,
    /// Directory of corpus and findings.
    pub directory: PathBuf,
    /// Time to search.
    pub time: Duration,
    /// Whether programs run as root.
    pub as_root: bool,
    /// Files with further lines of the grammar.
    pub calls: Vec<PathBuf>,
    /// Seed of the programs and of the guest.
    pub seed: u64,
    /// Programs of a branch.
    pub programs: usize,
    /// Time limit of a program in virtual nanoseconds.
    pub limit_ns: u64,
    /// Number of sections to work out at the end.
    pub findings: usize,
    /// How programs are chosen.
    pub way: Way,
    /// Ends the search as soon as a section begins in this function.
    pub until: Option<String>,
}
