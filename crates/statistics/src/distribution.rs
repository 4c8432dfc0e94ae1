//! A whole sample, sorted: exact quantiles by nearest rank and nothing estimated between ranks.

use crate::{Quantile, RankInterval, ValueInterval, quantile_rank_interval};

/// All values of a sample in ascending order, usually nanoseconds. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distribution {
    sorted: Vec<i64>,
}

/// A quantile of a sample, with whether the sample is large enough for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct QuantileValue {
    /// Which quantile, in parts per million.
    pub parts_per_million: u32,
    /// Its value, in the sample's unit; `None` if it is unknown, because the values there were counted and
    /// not kept.
    pub value: Option<i64>,
    /// Whether the sample is too small for it, so that `value` is merely the largest observed, or not
    /// known.
    pub is_maximum: bool,
}

/// The figures shown of a distribution. Values in the sample's unit, usually nanoseconds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DistributionSummary {
    /// Number of values.
    pub count: u64,
    /// Smallest observed.
    pub min: i64,
    /// Largest of `count` observed; not a bound.
    pub max: i64,
    /// Arithmetic mean.
    pub mean: f64,
    /// 50, 90, 99, 99.9 and 99.99 %.
    pub quantiles: Vec<QuantileValue>,
}

impl DistributionSummary {
    /// A quantile's value; `None` if the sample is too small to distinguish it from the maximum.
    pub fn distinct(&self, wanted: Quantile) -> Option<i64> {
        self.quantile(wanted)
            .filter(|found| !found.is_maximum)?
            .value
    }

    /// The quantile, if it is one of those that it has.
    pub fn quantile(&self, wanted: Quantile) -> Option<&QuantileValue> {
        let mut all = self.quantiles.iter();
        all.find(|of| of.parts_per_million == wanted.parts_per_million())
    }
}

impl Distribution {
    /// Sorts `values`; `None` when there are none.
    pub fn new(mut values: Vec<i64>) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        values.sort_unstable();
        Some(Self { sorted: values })
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.sorted.len() as u64
    }

    /// Smallest value.
    pub fn min(&self) -> i64 {
        self.sorted[0]
    }

    /// Largest value: the largest of [`Self::count`] observed, not a bound.
    pub fn max(&self) -> i64 {
        self.sorted[self.sorted.len() - 1]
    }

    /// Arithmetic mean; the sum is exact.
    pub fn mean(&self) -> f64 {
        let sum: i128 = self.sorted.iter().map(|&value| i128::from(value)).sum();
        sum as f64 / self.sorted.len() as f64
    }

    /// The values, ascending.
    pub fn sorted(&self) -> &[i64] {
        &self.sorted
    }

    /// The value at a rank from 1 to [`Self::count`]; `None` outside.
    pub fn at_rank(&self, rank: u64) -> Option<i64> {
        let index = usize::try_from(rank.checked_sub(1)?).ok()?;
        self.sorted.get(index).copied()
    }

    /// The value of a quantile by nearest rank: the ⌈n·q⌉-th smallest.
    pub fn at(&self, quantile: Quantile) -> i64 {
        self.sorted[quantile.rank(self.count()) as usize - 1]
    }

    /// A quantile by nearest rank, with whether the sample is large enough for it.
    pub fn quantile(&self, quantile: Quantile) -> QuantileValue {
        QuantileValue {
            parts_per_million: quantile.parts_per_million(),
            value: Some(self.at(quantile)),
            is_maximum: !quantile.differs_from_maximum(self.count()),
        }
    }

    /// Two-sided confidence interval of a quantile from order statistics; see
    /// [`quantile_rank_interval`]. A side is `None` where the sample is too small for it.
    /// Assumes independent values.
    pub fn quantile_interval(&self, quantile: Quantile, confidence: f64) -> ValueInterval {
        let RankInterval {
            lower,
            upper,
            coverage,
        } = quantile_rank_interval(self.count(), quantile, confidence);
        ValueInterval {
            lower: lower.and_then(|rank| self.at_rank(rank)),
            upper: upper.and_then(|rank| self.at_rank(rank)),
            coverage,
        }
    }

    /// The figures shown.
    pub fn summary(&self) -> DistributionSummary {
        let shown = [
            Quantile::P50,
            Quantile::P90,
            Quantile::P99,
            Quantile::P999,
            Quantile::P9999,
        ];
        DistributionSummary {
            count: self.count(),
            min: self.min(),
            max: self.max(),
            mean: self.mean(),
            quantiles: shown
                .iter()
                .map(|&quantile| self.quantile(quantile))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let distribution = Distribution::new((1..=1000).rev().collect()).unwrap();
        assert_eq!(distribution.at(Quantile::P50), 500);
        assert_eq!(distribution.at(Quantile::P999), 999);
        assert!(!distribution.quantile(Quantile::P999).is_maximum);
        assert_eq!(distribution.at(Quantile::P9999), 1000);
        assert!(distribution.quantile(Quantile::P9999).is_maximum);
        assert_eq!((distribution.min(), distribution.max()), (1, 1000));
        assert_eq!(distribution.mean(), 500.5);
    }

    #[test]
    fn the_mean_does_not_overflow() {
        let distribution = Distribution::new(vec![i64::MAX, i64::MAX, i64::MAX]).unwrap();
        assert_eq!(distribution.mean(), i64::MAX as f64);
    }

    #[test]
    fn one_value_is_every_quantile_and_an_empty_sample_is_none() {
        let one = Distribution::new(vec![-7]).unwrap();
        assert_eq!(one.at(Quantile::P50), -7);
        assert_eq!(Distribution::new(Vec::new()), None);
    }

    #[test]
    fn the_interval_of_a_quantile_is_two_of_the_values() {
        let distribution = Distribution::new((1..=100).collect()).unwrap();
        let interval = distribution.quantile_interval(Quantile::P50, 0.95);
        assert_eq!((interval.lower, interval.upper), (Some(40), Some(61)));
        // 100 samples cannot bound the 99 % quantile from above at this confidence.
        assert_eq!(
            distribution.quantile_interval(Quantile::P99, 0.95).upper,
            None
        );
    }
}
