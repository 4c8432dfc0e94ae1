//! Confidence intervals of quantiles from order statistics: free of any assumption about the
//! distribution, but not of independence.

use crate::special::beta_tails;
use crate::{Distribution, MissClusters, Quantile};

/// Ranks (from 1) between which a percentile is with at least the requested confidence. A side is `None` if
/// the sample is too small to give one.
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

/// The two-sided interval of `quantile` at `confidence` from values in their order in time, which may
/// depend on each other: that of as many independent values as the series is worth
/// (the variance of the values above the quantile in blocks of time, over that of independent ones).
/// A side is `None` where these are too few.
pub fn quantile_interval_in_order(
    series: &[i64],
    quantile: Quantile,
    confidence: f64,
) -> ValueInterval {
    let Some(sorted) = Distribution::new(series.to_vec()) else {
        return ValueInterval {
            lower: None,
            upper: None,
            coverage: 1.0,
        };
    };
    let middle = sorted.at(quantile);
    let mut above = MissClusters::new(0);
    series.iter().for_each(|&value| above.push(value > middle));
    let unit = above.tally().variance_ratio((1.0 + confidence) / 2.0);
    let count = sorted.count();
    let ranks = quantile_rank_interval((count as f64 / unit) as u64, quantile, confidence);
    // The same share of the values below: a rank among the independent ones is `unit` ranks.
    let lower = ranks.lower.map(|rank| (rank as f64 * unit).floor() as u64);
    let upper = ranks.upper.map(|rank| (rank as f64 * unit).ceil() as u64);
    ValueInterval {
        lower: lower.and_then(|rank| sorted.at_rank(rank)),
        upper: upper.and_then(|rank| sorted.at_rank(rank.min(count))),
        coverage: ranks.coverage,
    }
}

/// (P(B < rank), P(B ≥ rank)) for B binomial(count, q) and 1 ≤ rank ≤ count: P(B ≥ k) =
/// I_q(k, count − k + 1).
fn tails(count: u64, q: f64, rank: u64) -> (f64, f64) {
    let (at_least, below) = beta_tails(rank as f64, (count - rank) as f64 + 1.0, q);
    (below, at_least)
}

/// Number of the ranks 1..=count that hold, if all that hold come first.
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
    fn independent_values_mostly_have_the_same_interval_in_order() {
        for quantile in [Quantile::P50, Quantile::P99] {
            let same = (0..40).filter(|&seed| {
                let mut random = crate::SplitMix::of_key(&[seed]);
                let series: Vec<i64> = (0..2000).map(|_| (random.unit() * 1e6) as i64).collect();
                let alone = Distribution::new(series.clone()).unwrap();
                quantile_interval_in_order(&series, quantile, 0.9)
                    == alone.quantile_interval(quantile, 0.9)
            });
            // Chance makes some series look dependent.
            assert!(same.count() >= 30);
        }
    }

    #[test]
    fn intervals_hold_where_values_depend_on_those_before() {
        // AR(1) with φ = 0.95, whose 99 % quantile is 2.326 348: independent values would give an
        // interval that holds in half of the runs.
        let mut random = crate::SplitMix::from_state(11);
        let mut normal = || {
            let radius = (-2.0 * random.unit().ln()).sqrt();
            radius * (2.0 * std::f64::consts::PI * random.unit()).cos()
        };
        let (mut held, mut held_alone) = (0, 0);
        for _ in 0..100 {
            let mut value = normal();
            let series: Vec<i64> = (0..10_000)
                .map(|_| {
                    value = 0.95 * value + (1.0 - 0.95_f64.powi(2)).sqrt() * normal();
                    (value * 1e6) as i64
                })
                .collect();
            let covers = |interval: ValueInterval| {
                interval.lower.is_none_or(|low| low <= 2_326_348)
                    && interval.upper.is_none_or(|high| high >= 2_326_348)
            };
            held += u32::from(covers(quantile_interval_in_order(
                &series,
                Quantile::P99,
                0.95,
            )));
            let alone = Distribution::new(series).unwrap();
            held_alone += u32::from(covers(alone.quantile_interval(Quantile::P99, 0.95)));
        }
        assert!(held >= 91 && held_alone < 75, "{held} {held_alone}");
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
