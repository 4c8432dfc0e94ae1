//! Confidence intervals of quantiles from order statistics: free of any assumption about the
//! distribution, but not of independence.

use crate::Quantile;
use crate::special::beta_tails;

/// Ranks (from 1) between which a quantile lies with at least the confidence asked for. A side is
/// `None` where the sample is too small to give one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RankInterval {
    /// Rank of the lower end.
    pub lower: Option<u64>,
    /// Rank of the upper end.
    pub upper: Option<u64>,
    /// Probability that the interval covers the quantile, 0 to 1; an absent side counts as
    /// unlimited.
    pub coverage: f64,
}

/// As [`RankInterval`], with the values at these ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ValueInterval {
    /// Lower end, in the sample's unit.
    pub lower: Option<i64>,
    /// Upper end, in the sample's unit.
    pub upper: Option<i64>,
    /// Probability that the interval covers the quantile, 0 to 1.
    pub coverage: f64,
}

/// The two-sided interval of `quantile` at `confidence` from `count` independent values: with B
/// binomial(count, q), the largest rank l with P(B ≤ l − 1) ≤ α/2 and the smallest rank u with
/// P(B ≥ u) ≤ α/2 (David & Nagaraja, Order Statistics, 7.1). Coverage is P(l ≤ B < u).
pub fn quantile_rank_interval(count: u64, quantile: Quantile, confidence: f64) -> RankInterval {
    let q = quantile.probability();
    let side = (1.0 - confidence) / 2.0;
    // Number of ranks l = 1.. for which P(B < l) is at most a side: it grows with l.
    let lower = partition_point(count, |rank| tails(count, q, rank).0 <= side);
    // Number of ranks u = 1.. for which P(B ≥ u) is still above a side: it falls with u.
    let below_upper = partition_point(count, |rank| tails(count, q, rank).1 > side);
    let lower = (lower > 0).then_some(lower);
    let upper = (below_upper < count).then_some(below_upper + 1);
    let left = lower.map_or(0.0, |rank| tails(count, q, rank).0);
    let right = upper.map_or(0.0, |rank| tails(count, q, rank).1);
    RankInterval {
        lower,
        upper,
        coverage: 1.0 - left - right,
    }
}

/// (P(B < rank), P(B ≥ rank)) for B binomial(count, q) and 1 ≤ rank ≤ count: P(B ≥ k) =
/// I_q(k, count − k + 1).
fn tails(count: u64, q: f64, rank: u64) -> (f64, f64) {
    let (at_least, below) = beta_tails(rank as f64, (count - rank) as f64 + 1.0, q);
    (below, at_least)
}

/// How many of the ranks 1..=count hold, where all that hold come first.
fn partition_point(count: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scipy_figures::RANK_INTERVALS;

    #[test]
    fn intervals_agree_with_scipy() {
        for (count, parts, confidence, lower, upper, coverage) in RANK_INTERVALS {
            let quantile = Quantile::from_parts_per_million(parts.round() as u32).unwrap();
            let found = quantile_rank_interval(count as u64, quantile, confidence);
            assert_eq!(found.lower, Some(lower as u64), "{count}");
            assert_eq!(
                found.upper,
                (upper > 0.0).then_some(upper as u64),
                "{count}"
            );
            assert!(
                (found.coverage - coverage).abs() < 1e-7,
                "{count}: {}",
                found.coverage
            );
        }
    }

    #[test]
    fn a_small_sample_has_no_upper_end_for_a_high_quantile() {
        let found = quantile_rank_interval(300, Quantile::P999, 0.95);
        assert_eq!(found.upper, None);
        assert_eq!(quantile_rank_interval(0, Quantile::P50, 0.95).lower, None);
        // P(B ≤ 0) = 0.5 for one value and the median: no side holds.
        let one = quantile_rank_interval(1, Quantile::P50, 0.95);
        assert_eq!((one.lower, one.upper, one.coverage), (None, None, 1.0));
    }
}
