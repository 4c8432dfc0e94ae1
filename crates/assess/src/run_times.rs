//! Summary figures of a distribution of times.

use serde::Serialize;
use wakepath_statistics::{LatencyHistogram, Quantile};

/// A distribution of times in nanoseconds. A quantile needs at least one value above it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RunTimes {
    /// How many were measured.
    pub count: u64,
    /// Median, within 0.8 %, like the others below.
    pub median_ns: Option<u64>,
    /// 99th percentile.
    pub p99_ns: Option<u64>,
    /// 99.9th percentile.
    pub p999_ns: Option<u64>,
    /// Largest, exact. Observed, not a bound.
    pub max_ns: Option<u64>,
}

impl RunTimes {
    /// Of a histogram whose largest value, exactly, is `max_ns`.
    pub(crate) fn new(histogram: &LatencyHistogram, max_ns: u64) -> Self {
        let count = histogram.count();
        let quantile = |quantile: Quantile, least: u64| {
            let value = histogram.quantile(quantile)?;
            (count >= least).then(|| value.unsigned_abs().min(max_ns))
        };
        Self {
            count,
            median_ns: quantile(Quantile::P50, 1),
            p99_ns: quantile(Quantile::P99, 100),
            p999_ns: quantile(Quantile::P999, 1000),
            max_ns: (count > 0).then_some(max_ns),
        }
    }
}
