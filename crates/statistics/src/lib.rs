//! Pure statistics of latencies and misses: what a sample says about quantiles and miss rates,
//! and how much of it is evidence. It reads no clock, draws no random numbers and judges nothing:
//! comparing a bound with a criterion is the verdict's work.
//!
//! Times are signed nanoseconds (`i64`), counts are `u64`, probabilities are `f64` in 0..=1.

mod batch_means;
mod binomial;
mod clusters;
mod correlation;
mod distribution;
mod evidence;
mod histogram;
mod order_statistics;
mod quantile;
#[cfg(test)]
#[path = "../fixtures/scipy_figures.rs"]
mod scipy_figures;
mod special;
mod stationarity;
mod student;

pub use batch_means::{MeanInterval, batch_mean_interval};
pub use binomial::{
    MissInterval, miss_bound_without_misses, miss_interval, miss_lower_bound, miss_upper_bound,
};
pub use clusters::{MissClusters, MissTally};
pub use correlation::{LjungBox, autocorrelations, effective_count_for_mean, ljung_box};
pub use distribution::{Distribution, DistributionSummary, QuantileValue};
pub use evidence::{due_times_needed, due_times_needed_without_misses};
pub use histogram::LatencyHistogram;
pub use order_statistics::{RankInterval, ValueInterval, quantile_rank_interval};
pub use quantile::Quantile;
pub use stationarity::{HalvesCompared, TwoSampleDistance, compare_halves, kolmogorov_smirnov};
pub use student::student_t_quantile;
