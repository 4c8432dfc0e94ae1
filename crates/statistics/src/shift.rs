//! How much one group of runs is higher than another: Hodges and Lehmann's estimate with its exact interval,
//! and whether the difference is within a margin (two one-sided tests).

use crate::subset_sums::{subsets, subsets_of_size};
use crate::{RankTest, rank_sum_test, signed_rank_test};

/// A shift with its confidence interval, in the values' unit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Shift {
    /// Second less first: the median over all pairs of runs.
    pub estimate: f64,
    /// Lower end; `None`: too few runs for one at this confidence.
    pub lower: Option<f64>,
    /// Upper end; `None`: too few runs for one at this confidence.
    pub upper: Option<f64>,
    /// Probability that the interval covers the shift, at least the confidence asked for; 1 if
    /// it has no ends.
    pub coverage: f64,
}

/// Shift between independent groups (Hodges & Lehmann 1963): the median of all n · m differences;
/// the interval goes from the k-th smallest to the k-th largest of them, with k from the null
/// distribution of U (Moses; Hollander & Wolfe 1973, 4.3). Ties only widen it. `None` where a
/// group is empty or larger than 60.
pub fn shift_between(first: &[f64], second: &[f64], confidence: f64) -> Option<Shift> {
    const MOST: usize = 60;
    if first.is_empty() || second.is_empty() || first.len().max(second.len()) > MOST {
        return None;
    }
    let differences = first
        .iter()
        .flat_map(|first| second.iter().map(move |second| second - first));
    let ranks: Vec<u32> = (1..=(first.len() + second.len()) as u32).collect();
    let ways = subsets_of_size(&ranks, second.len());
    let least = second.len() * (second.len() + 1) / 2;
    shift_of(differences.collect(), &ways[least..], confidence)
}

/// Shift of paired runs: the median of the n (n + 1) / 2 means of two differences (Walsh averages),
/// with the interval from the null distribution of Wilcoxon's W⁺ (Tukey 1949). `None` without
/// differences or with more than 300.
pub fn shift_of_pairs(differences: &[f64], confidence: f64) -> Option<Shift> {
    if differences.is_empty() || differences.len() > 300 {
        return None;
    }
    let mut walsh = Vec::new();
    for (i, first) in differences.iter().enumerate() {
        walsh.extend(
            differences[i..]
                .iter()
                .map(|second| first / 2.0 + second / 2.0),
        );
    }
    let ranks: Vec<u32> = (1..=differences.len() as u32).collect();
    shift_of(walsh, &subsets(&ranks), confidence)
}

/// `ways[u]`: arrangements in which `u` of the `values` are above the true shift.
fn shift_of(mut values: Vec<f64>, ways: &[f64], confidence: f64) -> Option<Shift> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let estimate = match values.len() % 2 {
        1 => values[middle],
        _ => values[middle - 1] / 2.0 + values[middle] / 2.0,
    };
    let all: f64 = ways.iter().sum();
    let side = (1.0 - confidence) / 2.0;
    // The largest k with P(U < k) ≤ a side. One part in 10¹² keeps 1/20 from missing 5 %.
    let (mut k, mut outside, mut below) = (0, 0.0, 0.0);
    for (u, count) in ways.iter().enumerate() {
        below += count / all;
        if below > side * (1.0 + 1e-12) || 2 * (u + 1) > values.len() {
            break;
        }
        (k, outside) = (u + 1, below);
    }
    let ends = (k > 0).then(|| (values[k - 1], values[values.len() - k]));
    Some(Shift {
        estimate,
        lower: ends.map(|(lower, _)| lower),
        upper: ends.map(|(_, upper)| upper),
        coverage: 1.0 - 2.0 * outside,
    })
}

/// Two one-sided tests (Schuirmann 1987): the probability of what was seen if the shift were
/// `margin` or more in either direction. Small: the sides are equivalent within the margin. Exact,
/// from the rank test of values moved by the margin. `None` as for [`rank_sum_test`].
pub fn equivalence_p(first: &[f64], second: &[f64], margin: f64) -> Option<f64> {
    equivalence(margin, |by| {
        let moved: Vec<f64> = second.iter().map(|value| value + by).collect();
        rank_sum_test(first, &moved)
    })
}

/// As [`equivalence_p`], for paired runs, from the signed-rank test.
pub fn equivalence_p_of_pairs(differences: &[f64], margin: f64) -> Option<f64> {
    equivalence(margin, |by| {
        let moved: Vec<f64> = differences.iter().map(|value| value + by).collect();
        signed_rank_test(&moved)
    })
}

fn equivalence(margin: f64, test: impl Fn(f64) -> Option<RankTest>) -> Option<f64> {
    Some(test(margin)?.p_higher.max(test(-margin)?.p_lower))
}

#[cfg(test)]
#[allow(clippy::approx_constant, reason = "3.14 is a published datum")]
mod tests {
    use super::*;
    use crate::comparison_figures::{SHIFT, SHIFT_OF_PAIRS};
    use proptest::prelude::*;

    fn present(part: &[f64]) -> Vec<f64> {
        part.iter()
            .copied()
            .filter(|value| !value.is_nan())
            .collect()
    }

    #[test]
    fn estimates_and_intervals_agree_with_those_from_scipys_distribution() {
        for row in SHIFT {
            let (first, second) = (present(&row[..8]), present(&row[8..16]));
            let found = shift_between(&first, &second, row[16]).unwrap();
            assert!((found.estimate - row[17]).abs() < 1e-12, "{found:?}");
            assert_eq!(found.lower, present(&row[18..19]).pop());
            assert_eq!(found.upper, present(&row[19..20]).pop());
            assert!((found.coverage - row[20]).abs() < 1e-12, "{found:?}");
        }
        for row in SHIFT_OF_PAIRS {
            let found = shift_of_pairs(&present(&row[..10]), row[10]).unwrap();
            assert!((found.estimate - row[11]).abs() < 1e-12, "{found:?}");
            assert_eq!(found.lower, present(&row[12..13]).pop());
            assert_eq!(found.upper, present(&row[13..14]).pop());
            assert!((found.coverage - row[14]).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn hollander_and_wolfes_depression_scores_give_their_estimate() {
        // Hollander & Wolfe 1973, 3.2: θ̂ = −0.46, 96 % interval from −0.786 to −0.010.
        let x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - x).collect();
        let found = shift_of_pairs(&differences, 0.95).unwrap();
        assert!((found.estimate + 0.46).abs() < 1e-9, "{found:?}");
        assert!((found.lower.unwrap() + 0.786).abs() < 1e-9, "{found:?}");
        assert!((found.upper.unwrap() + 0.010).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn three_a_side_have_a_ninety_percent_interval_and_no_wider_one() {
        let (first, second) = ([10.0, 11.0, 12.0], [10.5, 11.5, 12.5]);
        let found = shift_between(&first, &second, 0.90).unwrap();
        assert_eq!((found.lower, found.upper), (Some(-1.5), Some(2.5)));
        assert!((found.coverage - 0.9).abs() < 1e-12);
        let wider = shift_between(&first, &second, 0.95).unwrap();
        assert_eq!(
            (wider.lower, wider.upper, wider.coverage),
            (None, None, 1.0)
        );
    }

    #[test]
    fn one_run_a_side_has_no_interval_and_is_never_equivalent() {
        let found = shift_between(&[10.0], &[11.0], 0.90).unwrap();
        assert_eq!((found.estimate, found.lower), (1.0, None));
        assert_eq!(equivalence_p(&[10.0], &[10.0], 1e9), Some(0.5));
    }

    proptest! {
        #[test]
        fn equivalence_holds_just_where_the_interval_lies_within_the_margin(
            first in proptest::collection::vec(-20..20_i32, 3..7),
            second in proptest::collection::vec(-20..20_i32, 3..7),
            margin in 1..40_i32,
        ) {
            // Distinct values, so that no tie makes the two differ.
            let apart = |all: &[i32], step: f64| -> Vec<f64> {
                all.iter().zip(1..).map(|(&v, i)| f64::from(v) + step * f64::from(i)).collect()
            };
            let (first, second) = (apart(&first, 1.1e-3), apart(&second, 1.7e-5));
            let margin = f64::from(margin) + 0.5;
            let shift = shift_between(&first, &second, 0.9).unwrap();
            let within = shift.lower.is_some_and(|end| end > -margin)
                && shift.upper.is_some_and(|end| end < margin);
            let p = equivalence_p(&first, &second, margin).unwrap();
            prop_assert_eq!(p <= 0.05 + 1e-12, within, "{} {:?}", p, shift);
        }
    }
}
