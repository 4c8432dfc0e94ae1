//! A distribution as it is drawn: the figures of a box, a histogram in bins of equal width on a
//! log axis, and the tail value by value.

use serde::Serialize;
use wakepath_statistics::{Distribution, Quantile, QuantileValue};

/// Bins for each power of ten.
const BINS_PER_DECADE: u32 = 20;
/// Bins begin at 10 ns; below, clocks tell little.
const FIRST_BIN: u32 = BINS_PER_DECADE;
/// Beyond a year none begins.
const LAST_BIN: u32 = BINS_PER_DECADE * 17;
/// Number of largest values that are all drawn.
const WHOLE_TAIL: u64 = 64;
/// Beyond those, points for each power of ten of the share.
const TAIL_PER_DECADE: f64 = 24.0;

/// How a distribution is drawn. Values are nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// Values.
    pub count: u64,
    /// Smallest.
    pub min: i64,
    /// Largest observed.
    pub max: i64,
    /// Mean.
    pub mean: f64,
    /// 25, 50, 75, 99 and 99.9 %, by nearest rank.
    pub quantiles: [QuantileValue; 5],
    /// Occupied bins, ascending.
    pub bins: Vec<HistogramBin>,
    /// Points of the complementary cumulative distribution, by descending value: the largest
    /// values one by one, then evenly on a log axis, down to the smallest.
    pub tail: Vec<Tail>,
}

/// How many values lie in `from..below`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HistogramBin {
    /// Smallest value of the bin; the lowest bin begins with the smallest value there is.
    pub from: i64,
    /// One past its largest value.
    pub below: i64,
    /// Values in it.
    pub count: u64,
}

/// How many values are at least this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tail {
    /// A value that occurred.
    pub value: i64,
    /// Values at or above it.
    pub at_least: u64,
}

impl Shape {
    /// The shape of a distribution.
    pub fn new(values: &Distribution) -> Self {
        Self {
            count: values.count(),
            min: values.min(),
            max: values.max(),
            mean: values.mean(),
            quantiles: OF_A_BOX.map(|parts| values.quantile(quantile_of(parts))),
            bins: bins(values.sorted()),
            tail: tail(values.sorted()),
        }
    }
}

/// Quantiles of a box: 25, 50, 75, 99 and 99.9 %, in parts per million.
const OF_A_BOX: [u32; 5] = [250_000, 500_000, 750_000, 990_000, 999_000];

fn quantile_of(parts: u32) -> Quantile {
    // All of them lie between 0 and 1.
    Quantile::from_parts_per_million(parts).unwrap_or(Quantile::P50)
}

impl Shape {
    /// The shape of counts by value: each bin's lowest and highest value and its count, ascending, with the
    /// overall largest value. Quantiles are the upper edges of their bins, as everywhere for counts; the
    /// tail gives the number of values at or above each bin's lower edge, which is exact.
    pub fn of_counts(counts: &[(i64, i64, u64)], max: i64) -> Option<Self> {
        let count: u64 = counts.iter().map(|bin| bin.2).sum();
        let (first, last) = (counts.first()?, counts.last()?);
        let middle = |bin: &(i64, i64, u64)| (bin.0 as f64 + bin.1 as f64) / 2.0 * bin.2 as f64;
        let at = |parts: u32| {
            let quantile = quantile_of(parts);
            let rank = quantile.rank(count);
            let mut seen = 0;
            let found = counts.iter().find(|bin| {
                seen += bin.2;
                seen >= rank
            });
            QuantileValue {
                parts_per_million: parts,
                value: Some(found.map_or(max, |bin| bin.1.min(max))),
                is_maximum: !quantile.differs_from_maximum(count),
            }
        };
        Some(Self {
            count,
            min: first.0,
            max,
            mean: counts.iter().map(middle).sum::<f64>() / count as f64,
            quantiles: OF_A_BOX.map(at),
            bins: bins_of_counts(counts),
            tail: tail_of_counts(counts, max.max(last.0)),
        })
    }
}

/// Counts grouped by their lower edges into twentieths of a decade; a wider bin is kept as it is.
fn bins_of_counts(counts: &[(i64, i64, u64)]) -> Vec<HistogramBin> {
    let mut bins: Vec<HistogramBin> = Vec::new();
    for &(low, high, count) in counts {
        let end = bins.last().map_or(i64::MIN, |bin| bin.below);
        if let Some(bin) = bins.last_mut().filter(|_| low < end) {
            bin.count += count;
            continue;
        }
        let below = (FIRST_BIN..LAST_BIN).find(|&k| edge(k) > low);
        let (from, next) = match below {
            Some(k) if k > FIRST_BIN => (edge(k - 1), edge(k)),
            _ => (low, edge(FIRST_BIN)),
        };
        let (from, below) = if high - low < next - from {
            (from.max(end), next)
        } else {
            (low, high + 1)
        };
        bins.push(HistogramBin { from, below, count });
    }
    bins
}

fn tail_of_counts(counts: &[(i64, i64, u64)], max: i64) -> Vec<Tail> {
    let mut tail = vec![Tail {
        value: max,
        at_least: 1,
    }];
    let step = 10_f64.powf(1.0 / TAIL_PER_DECADE);
    let mut at_least = 0;
    for (number, &(low, _, count)) in counts.iter().enumerate().rev() {
        at_least += count;
        let before = tail[tail.len() - 1];
        let is_far = at_least <= WHOLE_TAIL || at_least as f64 >= before.at_least as f64 * step;
        if low == before.value {
            tail.pop();
        }
        if is_far || number == 0 {
            tail.push(Tail {
                value: low,
                at_least,
            });
        }
    }
    tail
}

/// Where bin `k` begins: 10^(k / 20) ns, rounded.
fn edge(k: u32) -> i64 {
    10_f64
        .powf(f64::from(k) / f64::from(BINS_PER_DECADE))
        .round() as i64
}

fn bins(sorted: &[i64]) -> Vec<HistogramBin> {
    let mut bins = Vec::new();
    let (mut rest, mut from, mut next) = (sorted, sorted[0], FIRST_BIN);
    while !rest.is_empty() {
        let below = edge(next);
        let inside = rest.partition_point(|&value| value < below);
        if inside > 0 {
            bins.push(HistogramBin {
                from: from.min(below - 1),
                below,
                count: inside as u64,
            });
        }
        (rest, from, next) = (&rest[inside..], below, next + 1);
    }
    bins
}

fn tail(sorted: &[i64]) -> Vec<Tail> {
    let count = sorted.len() as u64;
    let mut tail: Vec<Tail> = Vec::new();
    let mut rank = 1_u64;
    while rank <= count {
        let value = sorted[(count - rank) as usize];
        let below = sorted.partition_point(|&other| other < value) as u64;
        let at_least = count - below;
        tail.push(Tail { value, at_least });
        let step = if at_least < WHOLE_TAIL {
            1
        } else {
            (at_least as f64 * (10_f64.powf(1.0 / TAIL_PER_DECADE) - 1.0)) as u64
        };
        rank = at_least + step.max(1);
    }
    if tail.last().is_some_and(|last| last.at_least < count) {
        tail.push(Tail {
            value: sorted[0],
            at_least: count,
        });
    }
    tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(values: Vec<i64>) -> Shape {
        Shape::new(&Distribution::new(values).unwrap())
    }

    fn bins_of(shape: &Shape) -> Vec<(i64, i64, u64)> {
        let bins = shape.bins.iter();
        bins.map(|bin| (bin.from, bin.below, bin.count)).collect()
    }

    #[test]
    fn the_box_has_the_nearest_rank_quantiles_of_one_to_a_thousand() {
        let shape = shape((1..=1000).collect());
        assert_eq!(
            shape.quantiles.map(|q| q.value.unwrap()),
            [250, 500, 750, 990, 999]
        );
        assert!(!shape.quantiles[4].is_maximum);
        assert_eq!((shape.min, shape.max, shape.mean), (1, 1000, 500.5));
    }

    #[test]
    fn bins_are_a_twentieth_of_a_decade_and_early_wake_ups_share_the_lowest() {
        let shape = shape(vec![-1_449, 3, 1_000, 1_121, 1_122, 9_999]);
        assert_eq!(
            bins_of(&shape),
            [
                (-1_449, 10, 2),
                (1_000, 1_122, 2),
                (1_122, 1_259, 1),
                (8_913, 10_000, 1)
            ]
        );
    }

    #[test]
    fn the_largest_values_are_all_in_the_tail_and_equal_ones_once() {
        let mut values: Vec<i64> = (1..=1_000).collect();
        values.push(1_000);
        let tail = shape(values).tail;
        let point = |value, at_least| Tail { value, at_least };
        assert_eq!(tail[..3], [point(1_000, 2), point(999, 3), point(998, 4)]);
        assert_eq!(tail[tail.len() - 1], point(1, 1_001));
        assert!(tail.len() < 110, "{}", tail.len());
    }

    #[test]
    fn counts_have_the_shape_of_what_was_counted() {
        // 990 values of 5 µs, 9 of 6 µs, one of 812 µs, in bins of a microsecond.
        let counts = [
            (5_000, 5_999, 990),
            (6_000, 6_999, 9),
            (812_000, 812_999, 1),
        ];
        let shape = Shape::of_counts(&counts, 812_345).unwrap();
        assert_eq!((shape.count, shape.min, shape.max), (1_000, 5_000, 812_345));
        assert_eq!(
            shape.quantiles.map(|q| q.value.unwrap()),
            [5_999, 5_999, 5_999, 5_999, 6_999]
        );
        assert_eq!(
            bins_of(&shape),
            [
                (5_000, 6_000, 990),
                (6_000, 7_000, 9),
                (794_328, 891_251, 1)
            ]
        );
        let tail: Vec<_> = shape.tail.iter().map(|t| (t.value, t.at_least)).collect();
        assert_eq!(
            tail,
            [(812_345, 1), (812_000, 1), (6_000, 10), (5_000, 1_000)]
        );
        // Bins far narrower than a twentieth of a decade are drawn together, side by side.
        let fine: Vec<_> = (100_000..120_000)
            .step_by(300)
            .map(|low| (low, low + 299, 1))
            .collect();
        let shape = Shape::of_counts(&fine, 120_199).unwrap();
        assert_eq!(
            bins_of(&shape),
            [(100_000, 112_202, 41), (112_202, 125_893, 26)]
        );
        assert_eq!(Shape::of_counts(&[], 0), None);
    }

    proptest! {
        #[test]
        fn no_value_is_lost_in_the_bins_and_every_point_of_the_tail_is_counted_right(
            values in proptest::collection::vec(-5_000..3_000_000_000_i64, 1..500),
        ) {
            let shape = shape(values.clone());
            prop_assert_eq!(shape.bins.iter().map(|b| b.count).sum::<u64>(), values.len() as u64);
            for bin in &shape.bins {
                let inside = values.iter().filter(|&&v| v < bin.below && v >= bin.from).count();
                prop_assert_eq!(inside as u64, bin.count);
            }
            for point in &shape.tail {
                let above = values.iter().filter(|&&v| v >= point.value).count();
                prop_assert_eq!(above as u64, point.at_least);
            }
        }
    }
}
