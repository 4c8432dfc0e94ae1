//! Exact integer histograms: each value of nanoseconds with its count. Counts add, so partial answers
//! merge and nothing is lost by it; quantiles read from them are those of the samples.

use std::collections::BTreeMap;

/// Most distinct values of one exact histogram. A histogram with more uses bins 1/256 of their
/// value wide, which are at most 0.4 % too high; `is_exact` distinguishes them.
pub const MOST_EXACT_BINS: usize = 50_000;

/// Bins for each power of two in a histogram that is not exact: 2⁸.
const SUB_BITS: u32 = 8;

/// Values and their counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: BTreeMap<i64, u64>,
}

/// Values in one bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// The largest value that it can hold; in an exact histogram the only one.
    pub upper_ns: i64,
    /// Number of values.
    pub count: i64,
    /// Their sum, exact.
    pub sum_ns: i64,
}

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: i64) {
        *self.counts.entry(value).or_default() += 1;
    }

    /// Whether each value has its own bin.
    pub fn is_exact(&self) -> bool {
        self.counts.len() <= MOST_EXACT_BINS
    }

    /// Its bins, ascending; `None` if a sum is too large for a table.
    pub fn bins(&self) -> Option<Vec<Bin>> {
        let exact = self.is_exact();
        let largest = self.counts.last_key_value().map_or(0, |(&value, _)| value);
        let mut bins: Vec<Bin> = Vec::new();
        for (&value, &count) in &self.counts {
            // The bin of the largest value ends at that value, so that the worst stays exact.
            let upper_ns = if exact {
                value
            } else {
                upper_edge(value).min(largest)
            };
            let count = i64::try_from(count).ok()?;
            let sum_ns = value.checked_mul(count)?;
            match bins.last_mut().filter(|last| last.upper_ns == upper_ns) {
                Some(last) => {
                    last.count += count;
                    last.sum_ns = last.sum_ns.checked_add(sum_ns)?;
                }
                None => bins.push(Bin {
                    upper_ns,
                    count,
                    sum_ns,
                }),
            }
        }
        Some(bins)
    }
}

/// The largest value in the bin of a value. Never below the value.
fn upper_edge(value: i64) -> i64 {
    let size = value.unsigned_abs();
    let octave = size.checked_ilog2().unwrap_or(0).saturating_sub(SUB_BITS);
    let low = size >> octave << octave;
    match value < 0 {
        // Towards zero is upwards.
        true => -(low as i64),
        false => (low + ((1 << octave) - 1)).min(i64::MAX as u64) as i64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_told_one_by_one() {
        let mut histogram = Histogram::default();
        for value in [7, -3, 7, 1_000_000_007] {
            histogram.add(value);
        }
        let told: Vec<_> = histogram.bins().unwrap();
        let told: Vec<_> = told
            .iter()
            .map(|b| (b.upper_ns, b.count, b.sum_ns))
            .collect();
        assert_eq!(
            told,
            [(-3, 1, -3), (7, 2, 14), (1_000_000_007, 1, 1_000_000_007)]
        );
    }

    #[test]
    fn many_values_are_told_in_bins_that_are_never_too_low_and_sums_stay_exact() {
        let mut histogram = Histogram::default();
        let values: Vec<i64> = (0..60_000).map(|i| i * 37 - 100_000).collect();
        values.iter().for_each(|&value| histogram.add(value));
        assert!(!histogram.is_exact());
        let bins = histogram.bins().unwrap();
        assert_eq!(bins.iter().map(|bin| bin.count).sum::<i64>(), 60_000);
        let sum: i64 = values.iter().sum();
        assert_eq!(bins.iter().map(|bin| bin.sum_ns).sum::<i64>(), sum);
        assert_eq!(bins.last().unwrap().upper_ns, *values.last().unwrap());
        assert!(bins.windows(2).all(|two| two[0].upper_ns < two[1].upper_ns));
        for value in values {
            let upper = upper_edge(value);
            assert!(upper >= value && (upper - value) as f64 <= value.abs() as f64 / 256.0);
        }
    }

    #[test]
    fn edges_of_the_type_have_a_bin() {
        for value in [i64::MIN + 1, -1, 0, 1, i64::MAX] {
            assert!(upper_edge(value) >= value, "{value}");
        }
        let mut histogram = Histogram::default();
        histogram.add(i64::MAX);
        histogram.add(i64::MAX);
        assert_eq!(
            histogram.bins(),
            None,
            "the sum is not an integer of a table"
        );
    }
}
