//! Pure statistics of latencies and misses: percentiles and miss rates of a sample, the amount of evidence in
//! it, and comparisons of several runs with several others. It reads no clock, draws no random number without
//! a seed and judges nothing: the verdict compares a bound with a criterion.
//!
//! Times are signed nanoseconds (`i64`), counts are `u64`, probabilities are `f64` in 0..=1.

mod batch_means;
mod binomial;
mod blocks;
mod clusters;
#[cfg(test)]
#[path = "../fixtures/comparison_figures.rs"]
mod comparison_figures;
mod correlation;
mod dispersion;
mod distribution;
mod evidence;
mod false_discovery;
mod histogram;
mod normal;
mod order_statistics;
mod quantile;
mod rank_sum;
#[cfg(test)]
#[path = "../fixtures/scipy_figures.rs"]
mod scipy_figures;
mod shares;
mod shift;
mod signed_rank;
mod special;
mod split_mix;
mod stationarity;
mod steady_bound;
mod student;
mod subset_sums;
mod wilson;

pub use batch_means::{MeanInterval, batch_mean_interval};
pub use binomial::{miss_bound_without_misses, miss_lower_bound, miss_upper_bound};
#[cfg(feature = "serde")]
pub use clusters::serialize_miss_counts;
pub use clusters::{MissClusters, MissTally, NearMiss};
pub use distribution::{Distribution, DistributionSummary, QuantileValue};
pub use evidence::due_times_needed;
pub use false_discovery::adjusted_for_many;
pub use histogram::LatencyHistogram;
pub use order_statistics::{
    RankInterval, ValueInterval, quantile_interval_in_order, quantile_rank_interval,
};
pub use quantile::Quantile;
pub use rank_sum::{RankTest, least_rank_sum_p, rank_sum_test};
pub use shares::{Moments, VarianceShares, variance_shares};
pub use shift::{Shift, equivalence_p, equivalence_p_of_pairs, shift_between, shift_of_pairs};
pub use signed_rank::{least_signed_rank_p, signed_rank_test};
pub use split_mix::SplitMix;
pub use stationarity::{HalvesCompared, TwoSampleDistance, compare_halves, kolmogorov_smirnov};
pub use student::student_t_quantile;
pub use wilson::wilson_interval;
