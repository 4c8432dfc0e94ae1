//! Whether one group of runs is higher than another: Mann and Whitney's test, exact, ties included. Each
//! value represents one run; samples of one run are no replicates of each other.

use crate::normal::normal_upper_tail;
use crate::subset_sums::{cost, doubled_ranks, subsets_of_size, tails};

/// Additions up to which the null distribution is counted: some 55 runs a side, in a fraction of a
/// second.
const MOST_ADDITIONS: u64 = 60_000_000;

/// The outcome of a rank test: probabilities of what was seen, or more, if nothing differed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct RankTest {
    /// U of Mann and Whitney: pairs in which the second group's value is higher, ties counted as
    /// one half; or W⁺ of Wilcoxon: sum of the ranks of the positive differences.
    pub statistic: f64,
    /// Of the second group as high as this, or higher.
    pub p_higher: f64,
    /// Of the second group as low as this, or lower.
    pub p_lower: f64,
    /// Twice the smaller one, 1 at most.
    pub p_two_sided: f64,
    /// Whether the probabilities were counted rather than taken from the normal approximation.
    pub exact: bool,
}

impl RankTest {
    pub(crate) fn new(statistic: f64, (p_lower, p_higher): (f64, f64), exact: bool) -> Self {
        Self {
            statistic,
            p_higher,
            p_lower,
            p_two_sided: (2.0 * p_lower.min(p_higher)).min(1.0),
            exact,
        }
    }
}

/// Mann & Whitney (1947) for independent groups. With ties the distribution is the conditional one
/// over mid-ranks, counted as well (Lehmann 1975, Nonparametrics, 1.4). Groups too large to count
/// (more than some 55 a side) get the normal approximation with ties and continuity corrected. `None`
/// where a group is empty or a value is no number.
pub fn rank_sum_test(first: &[f64], second: &[f64]) -> Option<RankTest> {
    let pooled = [first, second].concat();
    if first.is_empty() || second.is_empty() || pooled.iter().any(|value| value.is_nan()) {
        return None;
    }
    let ranks = doubled_ranks(&pooled);
    let (m, n) = (first.len() as f64, second.len() as f64);
    let doubled_sum: u64 = ranks[first.len()..]
        .iter()
        .map(|&rank| u64::from(rank))
        .sum();
    let statistic = doubled_sum as f64 / 2.0 - n * (n + 1.0) / 2.0;
    if cost(&ranks, second.len()) <= MOST_ADDITIONS {
        let ways = subsets_of_size(&ranks, second.len());
        let found = tails(&ways, doubled_sum as usize);
        return Some(RankTest::new(statistic, found, true));
    }
    let all = m + n;
    let mut sorted = ranks;
    sorted.sort_unstable();
    let ties: f64 = sorted
        .chunk_by(|a, b| a == b)
        .map(|alike| (alike.len() as f64).powi(3) - alike.len() as f64)
        .sum();
    let deviation = (m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)))).sqrt();
    if deviation <= 0.0 {
        return Some(RankTest::new(statistic, (1.0, 1.0), false));
    }
    let from_mean = statistic - m * n / 2.0;
    let higher = normal_upper_tail((from_mean - 0.5) / deviation);
    let lower = normal_upper_tail((-from_mean - 0.5) / deviation);
    Some(RankTest::new(statistic, (lower, higher), false))
}

/// The smallest probability that [`rank_sum_test`] can give in one direction, without ties: one arrangement
/// of all. More runs are needed if this is above the requested level.
pub fn least_rank_sum_p(first: u64, second: u64) -> f64 {
    let mut all = 1.0;
    for i in 1..=first.min(second) {
        all *= (first.max(second) + i) as f64 / i as f64;
    }
    1.0 / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison_figures::{MANN_WHITNEY, MANN_WHITNEY_TIES};
    use proptest::prelude::*;

    /// Groups as the fixture writes them: first group, second group, NaN for absent.
    pub(crate) fn groups<const N: usize>(row: &[f64; N], size: usize) -> (Vec<f64>, Vec<f64>) {
        let taken = |part: &[f64]| part.iter().copied().filter(|v| !v.is_nan()).collect();
        (taken(&row[..size]), taken(&row[size..2 * size]))
    }

    #[test]
    fn probabilities_agree_with_scipy() {
        for row in MANN_WHITNEY {
            let (first, second) = groups(&row, 12);
            let found = rank_sum_test(&first, &second).unwrap();
            let expected = &row[24..];
            assert!(found.exact);
            for (found, expected) in [
                found.statistic,
                found.p_higher,
                found.p_lower,
                found.p_two_sided,
            ]
            .iter()
            .zip(expected)
            {
                assert!(
                    (found - expected).abs() <= 1e-12 * expected,
                    "{found} {expected}"
                );
            }
        }
    }

    #[test]
    fn ties_agree_with_the_enumeration_of_all_arrangements() {
        for row in MANN_WHITNEY_TIES {
            let (first, second) = groups(&row, 6);
            let found = rank_sum_test(&first, &second).unwrap();
            assert_eq!(found.statistic, row[12]);
            assert!((found.p_higher - row[13]).abs() < 1e-12, "{found:?}");
            assert!((found.p_lower - row[14]).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn the_printed_table_of_critical_values_is_met() {
        // Two-sided 5 %: the largest U that is significant (Siegel & Castellan, table J).
        for (n, critical) in [(4, 0), (5, 2), (6, 5), (8, 13), (10, 23)] {
            let ranks: Vec<u32> = (1..=2 * n).collect();
            let ways = subsets_of_size(&ranks, n as usize);
            let least = (n * (n + 1) / 2) as usize;
            assert!(2.0 * tails(&ways, least + critical).0 <= 0.05, "{n}");
            assert!(2.0 * tails(&ways, least + critical + 1).0 > 0.05, "{n}");
        }
    }

    #[test]
    fn hollander_and_wolfes_permeability_data_give_their_probability() {
        // Hollander & Wolfe 1973, 69f: W = 35, one-sided P = 0.1272.
        let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let weeks = [1.15, 0.88, 0.90, 0.74, 1.21];
        let found = rank_sum_test(&weeks, &term).unwrap();
        assert_eq!(found.statistic, 35.0);
        assert!((found.p_higher - 0.1272).abs() < 5e-5, "{found:?}");
    }

    #[test]
    fn three_against_three_can_not_show_less_than_one_in_twenty() {
        assert_eq!(least_rank_sum_p(3, 3), 0.05);
        assert!((least_rank_sum_p(4, 4) - 1.0 / 70.0).abs() < 1e-15);
        assert_eq!(least_rank_sum_p(1, 1), 0.5);
        let found = rank_sum_test(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap();
        assert!((found.p_higher - 0.05).abs() < 1e-15);
    }

    #[test]
    fn no_runs_and_no_numbers_give_nothing_and_constants_show_nothing() {
        assert_eq!(rank_sum_test(&[], &[1.0]), None);
        assert_eq!(rank_sum_test(&[f64::NAN], &[1.0]), None);
        let same = rank_sum_test(&[7.0; 4], &[7.0; 4]).unwrap();
        assert_eq!(
            (same.p_higher, same.p_lower, same.p_two_sided),
            (1.0, 1.0, 1.0)
        );
    }

    #[test]
    fn large_groups_are_approximated_and_said_to_be() {
        let first: Vec<f64> = (0..400).map(f64::from).collect();
        let second: Vec<f64> = (0..400).map(|i| f64::from(i) + 20.5).collect();
        let found = rank_sum_test(&first, &second).unwrap();
        assert!(!found.exact);
        assert!(found.p_higher < 0.01 && found.p_lower > 0.98, "{found:?}");
    }

    proptest! {
        #[test]
        fn swapping_the_groups_swaps_the_directions(
            first in proptest::collection::vec(-9..9_i32, 1..8),
            second in proptest::collection::vec(-9..9_i32, 1..8),
        ) {
            let numbers = |all: &[i32]| all.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
            let (first, second) = (numbers(&first), numbers(&second));
            let there = rank_sum_test(&first, &second).unwrap();
            let back = rank_sum_test(&second, &first).unwrap();
            prop_assert!((there.p_higher - back.p_lower).abs() < 1e-12);
            prop_assert!(there.p_higher + there.p_lower >= 1.0 - 1e-12);
            let pairs = (first.len() * second.len()) as f64;
            prop_assert!((there.statistic + back.statistic - pairs).abs() < 1e-12);
        }
    }
}
