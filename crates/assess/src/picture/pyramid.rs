//! Smallest and largest values over ever longer stretches of a series, so that a picture of any
//! part at any zoom shows every spike while drawing few points.

use serde::Serialize;

/// Levels from fine to coarse. The coarser ones are computed from the finest, so that an extreme
/// is at every level the same value at the same index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pyramid {
    /// Finest first.
    pub levels: Vec<Level>,
}

/// The series in buckets of one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Level {
    /// Values in a bucket; the last may have fewer.
    pub size: u64,
    /// In order; `None` if no index of the bucket has a value.
    pub buckets: Vec<Option<Bucket>>,
}

/// The extremes of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Bucket {
    /// Smallest value, in nanoseconds.
    pub min: i64,
    /// Largest value, in nanoseconds.
    pub max: i64,
    /// Index of the first of the largest values.
    pub at: u64,
}

/// Buckets of a level that make one of the next.
const FACTOR: usize = 4;
/// A level of no more buckets than this is the last: no screen has fewer pixels.
const FEWEST: usize = 256;

impl Bucket {
    fn and(self, later: Self) -> Self {
        Self {
            min: self.min.min(later.min),
            max: self.max.max(later.max),
            at: if later.max > self.max {
                later.at
            } else {
                self.at
            },
        }
    }
}

impl Pyramid {
    /// The pyramid of a series, whose finest level has at most `most` buckets: single values if
    /// there are no more than that.
    pub fn new(series: &[Option<i64>], most: u64) -> Self {
        let most = usize::try_from(most.max(1)).unwrap_or(usize::MAX);
        let size = series.len().div_ceil(most).max(1).next_power_of_two();
        let mut index = 0;
        let buckets = series.chunks(size).map(|values| {
            let first = index;
            index += values.len() as u64;
            let single = |(at, value): (u64, &Option<i64>)| {
                value.map(|value| Bucket {
                    min: value,
                    max: value,
                    at,
                })
            };
            (first..).zip(values).filter_map(single).reduce(Bucket::and)
        });
        let mut levels = vec![Level {
            size: size as u64,
            buckets: buckets.collect(),
        }];
        while let Some(finer) = levels.last().filter(|level| level.buckets.len() > FEWEST) {
            let coarser = Level {
                size: finer.size * FACTOR as u64,
                buckets: finer
                    .buckets
                    .chunks(FACTOR)
                    .map(|four| four.iter().flatten().copied().reduce(Bucket::and))
                    .collect(),
            };
            levels.push(coarser);
        }
        Self { levels }
    }

    /// The level with the fewest buckets.
    pub fn coarsest(&self) -> &Level {
        &self.levels[self.levels.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_short_series_is_kept_value_by_value() {
        let pyramid = Pyramid::new(&[Some(3), None, Some(-1)], 100);
        assert_eq!(pyramid.levels.len(), 1);
        let kept: Vec<_> = pyramid.levels[0]
            .buckets
            .iter()
            .map(|bucket| bucket.map(|bucket| (bucket.min, bucket.max, bucket.at)))
            .collect();
        assert_eq!(kept, [Some((3, 3, 0)), None, Some((-1, -1, 2))]);
    }

    #[test]
    fn a_single_spike_among_600_000_is_at_every_zoom() {
        for spike in [0, 1, 127, 128, 300_001, 599_999] {
            let mut series = vec![Some(5_000); 600_000];
            series[spike] = Some(777_777);
            let pyramid = Pyramid::new(&series, 6_000);
            assert!(pyramid.levels.len() >= 3);
            for level in &pyramid.levels {
                let bucket = level.buckets[spike / level.size as usize].unwrap();
                assert_eq!((bucket.max, bucket.at), (777_777, spike as u64));
                let seen = level.buckets.iter().flatten();
                assert_eq!(seen.filter(|bucket| bucket.max > 5_000).count(), 1);
            }
        }
    }

    #[test]
    fn nothing_has_a_pyramid_of_nothing() {
        assert_eq!(Pyramid::new(&[], 10).coarsest().buckets, []);
    }

    proptest! {
        #[test]
        fn every_bucket_has_the_extremes_of_its_own_values(
            series in proptest::collection::vec(proptest::option::of(-50_i64..50), 0..3_000),
            most in 1_u64..2_000,
        ) {
            for level in Pyramid::new(&series, most).levels {
                let pieces: Vec<_> = series.chunks(level.size as usize).collect();
                prop_assert_eq!(pieces.len(), level.buckets.len());
                for (number, (piece, bucket)) in pieces.iter().zip(&level.buckets).enumerate() {
                    let values = || piece.iter().flatten().copied();
                    prop_assert_eq!(bucket.map(|b| (b.min, b.max)), values().min().zip(values().max()));
                    if let Some(bucket) = bucket {
                        prop_assert_eq!(bucket.at / level.size, number as u64);
                        prop_assert_eq!(series[bucket.at as usize], Some(bucket.max));
                    }
                }
            }
        }
    }
}
