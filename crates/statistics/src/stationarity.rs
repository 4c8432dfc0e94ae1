//! Compares the second half of a run with the first. Gives a warning with the size of the difference, which
//! alone never passes or fails a run.

use crate::special::kolmogorov_upper_tail;

/// Distance of two samples.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TwoSampleDistance {
    /// Largest difference of the empirical distribution functions, 0 to 1: the effect size.
    pub distance: f64,
    /// Asymptotic probability of at least such a distance between independent samples of one
    /// continuous distribution. Ties make it conservative, serial correlation makes it too small.
    pub p_value: f64,
}

/// First half of a series against its second half.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HalvesCompared {
    /// How far the distributions are apart.
    pub difference: TwoSampleDistance,
    /// Median of the first half (nearest rank), in the series' unit.
    pub first_median: i64,
    /// Median of the second half.
    pub second_median: i64,
}

/// Two-sample Kolmogorov–Smirnov distance of two ascending samples, with the asymptotic p-value
/// at √(nm/(n+m))·D. `None` when either is empty.
pub fn kolmogorov_smirnov(first: &[i64], second: &[i64]) -> Option<TwoSampleDistance> {
    if first.is_empty() || second.is_empty() {
        return None;
    }
    let (n, m) = (first.len() as f64, second.len() as f64);
    let (mut i, mut j, mut distance) = (0, 0, 0.0_f64);
    while i < first.len() && j < second.len() {
        let value = first[i].min(second[j]);
        while i < first.len() && first[i] == value {
            i += 1;
        }
        while j < second.len() && second[j] == value {
            j += 1;
        }
        distance = distance.max((i as f64 / n - j as f64 / m).abs());
    }
    let p_value = kolmogorov_upper_tail((n * m / (n + m)).sqrt() * distance);
    Some(TwoSampleDistance { distance, p_value })
}

/// Compares the halves of a series given in the order of time (the middle value of an odd count
/// goes to the second half). `None` with fewer than two values.
pub fn compare_halves(series: &[i64]) -> Option<HalvesCompared> {
    let (first, second) = series.split_at(series.len() / 2);
    let (mut first, mut second) = (first.to_vec(), second.to_vec());
    first.sort_unstable();
    second.sort_unstable();
    let median = |sorted: &[i64]| sorted[(sorted.len() - 1) / 2];
    Some(HalvesCompared {
        difference: kolmogorov_smirnov(&first, &second)?,
        first_median: median(&first),
        second_median: median(&second),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scipy_figures::{HALVES, SERIES};

    #[test]
    fn the_distance_agrees_with_scipy() {
        let series: Vec<i64> = SERIES.iter().map(|&value| value as i64).collect();
        let found = compare_halves(&series).unwrap().difference;
        let [(distance, p)] = HALVES;
        assert!((found.distance - distance).abs() < 1e-12);
        assert!((found.p_value - p).abs() < 1e-9 * p);
    }

    #[test]
    fn ties_do_not_make_a_difference_of_their_own() {
        let found = kolmogorov_smirnov(&[1, 1, 2, 2], &[1, 2]).unwrap();
        assert_eq!((found.distance, found.p_value), (0.0, 1.0));
        assert_eq!(kolmogorov_smirnov(&[1, 2], &[3, 4]).unwrap().distance, 1.0);
        assert_eq!(kolmogorov_smirnov(&[], &[3]), None);
        assert_eq!(compare_halves(&[3]), None);
    }

    #[test]
    fn a_step_in_the_middle_is_seen() {
        let series: Vec<i64> = (0..200)
            .map(|i| if i < 100 { 50 + i % 7 } else { 90 + i % 7 })
            .collect();
        let found = compare_halves(&series).unwrap();
        assert_eq!(found.difference.distance, 1.0);
        assert!(found.difference.p_value < 1e-20);
        assert_eq!((found.first_median, found.second_median), (53, 93));
    }
}
