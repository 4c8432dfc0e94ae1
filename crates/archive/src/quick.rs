//! Terms of a quick check, which measures too little to rely on.

use serde::{Deserialize, Serialize};
use std::fmt;
use wakepath_timeline::duration::rounded;

/// Length of the usual check, for comparison.
const USUAL: &str = "85 s";

/// A check of a few seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickCheck {
    /// Policies measured.
    pub policies: usize,
    /// Policies of the usual check.
    pub of_policies: usize,
    /// Time for each condition.
    pub each_ns: u64,
}

impl fmt::Display for QuickCheck {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.policies < self.of_policies {
            write!(out, "{} of {} policies, ", self.policies, self.of_policies)?;
        }
        write!(
            out,
            "{} of each condition: too short to catch rare stalls or run-to-run variation; the full check \
             takes {USUAL}",
            rounded(self.each_ns.cast_signed())
        )
    }
}
