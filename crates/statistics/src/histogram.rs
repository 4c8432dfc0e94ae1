//! A histogram for live figures: constant memory, constant time, known error. Judgements are made
//! from the exact samples, never from this.

/// Values below this are counted exactly.
const EXACT: u64 = 1 << (SUB_BITS + 1);
/// 2⁷ bins for each power of two: a bin is at most 1/128 of its value wide.
const SUB_BITS: u32 = 7;
/// Below zero, this many nanoseconds are counted exactly; a timer that fires early does so by
/// microseconds.
const UNDER_ZERO: u64 = 4096;

/// Log-linear histogram of signed nanoseconds. Exact from −4096 ns to 255 ns, above that within
/// 0.8 % of the value; anything lower than −4096 ns is counted together. Count, smallest and
/// largest are always exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatencyHistogram {
    /// Bin `i` counts −1 − i ns.
    under_zero: Vec<u64>,
    far_under_zero: u64,
    bins: Vec<u64>,
    count: u64,
    extremes: Option<(i64, i64)>,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram of about 90 kB; recording allocates nothing.
    pub fn new() -> Self {
        Self {
            under_zero: vec![0; UNDER_ZERO as usize],
            far_under_zero: 0,
            bins: vec![0; bin_of(i64::MAX as u64) + 1],
            count: 0,
            extremes: None,
        }
    }

    /// Counts one value in nanoseconds.
    pub fn record(&mut self, value: i64) {
        self.record_many(value, 1);
    }

    /// Counts a value in nanoseconds that occurred `times` times.
    pub fn record_many(&mut self, value: i64, times: u64) {
        if times == 0 {
            return;
        }
        if value >= 0 {
            self.bins[bin_of(value as u64)] += times;
        } else {
            let below = value.unsigned_abs() - 1;
            match self
                .under_zero
                .get_mut(usize::try_from(below).unwrap_or(usize::MAX))
            {
                Some(bin) => *bin += times,
                None => self.far_under_zero += times,
            }
        }
        self.count += times;
        self.extremes = Some(match self.extremes {
            None => (value, value),
            Some((min, max)) => (min.min(value), max.max(value)),
        });
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        let add = |to: &mut Vec<u64>, from: &[u64]| {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        };
        add(&mut self.under_zero, &other.under_zero);
        add(&mut self.bins, &other.bins);
        self.far_under_zero += other.far_under_zero;
        self.count += other.count;
        self.extremes = match (self.extremes, other.extremes) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (one, None) => one,
            (None, other) => other,
        };
    }

    /// Number of values recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Smallest value, exact.
    pub fn min(&self) -> Option<i64> {
        self.extremes.map(|(min, _)| min)
    }

    /// Largest value, exact: the largest of [`Self::count`] observed.
    pub fn max(&self) -> Option<i64> {
        self.extremes.map(|(_, max)| max)
    }

    /// The upper edge of the bin that holds the nearest-rank quantile, so never below it, and at
    /// most the largest value. `None` when empty.
    pub fn quantile(&self, quantile: crate::Quantile) -> Option<i64> {
        let (min, max) = self.extremes?;
        let rank = quantile.rank(self.count);
        let mut seen = 0;
        for (_, upper, count) in self.occupied() {
            seen += count;
            if seen >= rank {
                return Some(upper.clamp(min, max));
            }
        }
        Some(max)
    }

    /// The bins that hold values, ascending: smallest and largest value of the bin in
    /// nanoseconds, and how many there are.
    pub fn occupied(&self) -> impl Iterator<Item = (i64, i64, u64)> + '_ {
        let far = (i64::MIN, -(UNDER_ZERO as i64) - 1, self.far_under_zero);
        let under_zero = self
            .under_zero
            .iter()
            .enumerate()
            .rev()
            .map(|(bin, &count)| {
                let value = -1 - bin as i64;
                (value, value, count)
            });
        let at_or_above = (0_usize..).zip(&self.bins).map(|(bin, &count)| {
            let (low, high) = bin_edges(bin);
            (low, high, count)
        });
        std::iter::once(far)
            .chain(under_zero)
            .chain(at_or_above)
            .filter(|&(_, _, n)| n > 0)
    }
}

fn bin_of(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    // `octave` ≥ 1: the power of two above the exact part; each has 2⁷ bins.
    let octave = value.ilog2() - SUB_BITS;
    let sub = (value >> octave) - (1 << SUB_BITS);
    ((u64::from(octave) + 1) * (1 << SUB_BITS) + sub) as usize
}

fn bin_edges(bin: usize) -> (i64, i64) {
    let bin = bin as u64;
    if bin < EXACT {
        return (bin as i64, bin as i64);
    }
    let octave = (bin >> SUB_BITS) - 1;
    let low = ((1 << SUB_BITS) + (bin & ((1 << SUB_BITS) - 1))) << octave;
    (low as i64, (low + ((1 << octave) - 1)) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Distribution, Quantile};
    use proptest::prelude::*;

    #[test]
    fn early_wake_ups_are_counted_exactly() {
        let mut histogram = LatencyHistogram::new();
        for value in [-1_449, -1, 0, 5, -10_000_000] {
            histogram.record(value);
        }
        let bins: Vec<_> = histogram.occupied().collect();
        assert_eq!(bins[0], (i64::MIN, -4097, 1));
        assert_eq!(
            bins[1..],
            [(-1_449, -1_449, 1), (-1, -1, 1), (0, 0, 1), (5, 5, 1)]
        );
        assert_eq!(
            (histogram.min(), histogram.max()),
            (Some(-10_000_000), Some(5))
        );
        assert_eq!(histogram.quantile(Quantile::P50), Some(-1));
        assert_eq!(LatencyHistogram::new().quantile(Quantile::P50), None);
    }

    #[test]
    fn the_bins_cover_every_value_without_gap_or_overlap() {
        let last = bin_of(i64::MAX as u64);
        assert_eq!(bin_edges(last).1, i64::MAX);
        for bin in 1..=last {
            assert_eq!(bin_edges(bin).0, bin_edges(bin - 1).1 + 1, "{bin}");
        }
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bin_and_the_bin_is_narrow(value in 0..i64::MAX) {
            let (low, high) = bin_edges(bin_of(value as u64));
            prop_assert!(low <= value && value <= high);
            prop_assert!((high - low) as f64 <= value as f64 / 128.0);
        }

        #[test]
        fn quantiles_are_never_too_low_and_at_most_a_bin_too_high(
            values in proptest::collection::vec(-5_000..3_000_000_000_i64, 1..200),
            parts in 1_u32..1_000_000, split in 0..200_usize,
        ) {
            let (mut histogram, mut second) = (LatencyHistogram::new(), LatencyHistogram::new());
            for (i, &value) in values.iter().enumerate() {
                if i < split { histogram.record(value) } else { second.record(value) }
            }
            histogram.merge(&second);
            let exact = Distribution::new(values).unwrap();
            let quantile = Quantile::from_parts_per_million(parts).unwrap();
            let (found, value) = (histogram.quantile(quantile).unwrap(), exact.at(quantile));
            prop_assert!(found >= value);
            prop_assert!(value < -4096 || (found - value) as f64 <= value.abs() as f64 / 128.0);
            prop_assert_eq!(histogram.count(), exact.count());
            prop_assert_eq!(histogram.max(), Some(exact.max()));
        }
    }
}
