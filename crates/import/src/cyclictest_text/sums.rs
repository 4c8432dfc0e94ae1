//! The lines below the histogram that sum it up.

use crate::histogram_lines::nanoseconds;
use crate::{Histogram, ImportError};

/// A line below the histogram, with a number for each thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sum {
    Total,
    Min,
    Mean,
    Max,
    Overflows,
}

impl Sum {
    const ALL: [(&'static str, Self); 5] = [
        ("# Total:", Self::Total),
        ("# Min Latencies:", Self::Min),
        ("# Avg Latencies:", Self::Mean),
        ("# Max Latencies:", Self::Max),
        ("# Histogram Overflows:", Self::Overflows),
    ];

    /// The sum that a line is, and its numbers.
    pub(super) fn new(line: &str) -> Option<(Self, &str)> {
        let mut all = Self::ALL.into_iter();
        all.find_map(|(name, sum)| Some((sum, line.strip_prefix(name)?)))
    }
}

/// Puts the number of a thread into its histogram.
pub(super) fn set(
    histogram: &mut Histogram,
    sum: Sum,
    value: u64,
    line: usize,
    unit_ns: i64,
) -> Result<(), ImportError> {
    let latency = || nanoseconds(line, value, unit_ns).map(Some);
    match sum {
        Sum::Total => {}
        Sum::Min => histogram.min_ns = latency()?,
        Sum::Mean => histogram.mean_ns = latency()?,
        Sum::Max => histogram.max_ns = latency()?,
        Sum::Overflows => histogram.overflowed = value,
    }
    Ok(())
}
