//! A quantile as an exact fraction in parts per million, so that ranks never depend on how 0.999
//! rounds in binary. It holds no data.

/// A quantile strictly between 0 and 1, in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Quantile(u32);

const WHOLE: u64 = 1_000_000;

impl Quantile {
    /// The median.
    pub const P50: Self = Self(500_000);
    /// 90 %.
    pub const P90: Self = Self(900_000);
    /// 99 %.
    pub const P99: Self = Self(990_000);
    /// 99.9 %.
    pub const P999: Self = Self(999_000);
    /// 99.99 %.
    pub const P9999: Self = Self(999_900);

    /// The quantile of as many parts per million; `None` unless 1 to 999 999.
    pub const fn from_parts_per_million(parts: u32) -> Option<Self> {
        if parts == 0 || parts as u64 >= WHOLE {
            None
        } else {
            Some(Self(parts))
        }
    }

    /// Parts per million.
    pub const fn parts_per_million(self) -> u32 {
        self.0
    }

    /// The quantile as a probability.
    pub fn probability(self) -> f64 {
        f64::from(self.0) / WHOLE as f64
    }

    /// Nearest rank ⌈n·q⌉, from 1, among `count` sorted values; 0 only for an empty sample.
    pub fn rank(self, count: u64) -> u64 {
        let product = u128::from(count) * u128::from(self.0);
        // At most `count`, so it fits.
        product.div_ceil(u128::from(WHOLE)) as u64
    }

    /// Whether `count` samples are enough for this quantile to be another sample than the
    /// largest: 1000 for the 99.9 % quantile. With fewer, the quantile shown is the maximum.
    pub fn differs_from_maximum(self, count: u64) -> bool {
        self.rank(count) < count
    }

    /// The smallest sample with [`Self::differs_from_maximum`]: ⌈1 / (1 − q)⌉.
    pub fn count_to_differ_from_maximum(self) -> u64 {
        WHOLE.div_ceil(WHOLE - u64::from(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_rank_does_not_suffer_from_binary_fractions() {
        // In binary 0.07 · 100 is 7.000000000000001, whose ceiling is 8.
        assert_eq!(Quantile::P999.rank(1000), 999);
        assert_eq!(Quantile::P99.rank(300), 297);
        assert_eq!(Quantile::P9999.rank(10_000), 9_999);
        assert_eq!(
            Quantile::from_parts_per_million(70_000).unwrap().rank(100),
            7
        );
        assert_eq!(Quantile::P50.rank(5), 3);
        assert_eq!(Quantile::P50.rank(4), 2);
        assert_eq!(Quantile::P999.rank(u64::MAX), 18_428_297_329_635_842_064);
    }

    #[test]
    fn a_p999_of_300_samples_is_the_maximum() {
        assert!(!Quantile::P999.differs_from_maximum(300));
        assert!(!Quantile::P999.differs_from_maximum(999));
        assert!(Quantile::P999.differs_from_maximum(1000));
        assert_eq!(Quantile::P999.count_to_differ_from_maximum(), 1000);
    }

    #[test]
    fn nought_and_one_are_not_quantiles() {
        assert_eq!(Quantile::from_parts_per_million(0), None);
        assert_eq!(Quantile::from_parts_per_million(1_000_000), None);
    }

    proptest! {
        #[test]
        fn the_count_to_differ_is_the_smallest_one(parts in 1_u32..1_000_000) {
            let quantile = Quantile::from_parts_per_million(parts).unwrap();
            let count = quantile.count_to_differ_from_maximum();
            prop_assert!(quantile.differs_from_maximum(count));
            prop_assert!(!quantile.differs_from_maximum(count - 1));
        }
    }
}
