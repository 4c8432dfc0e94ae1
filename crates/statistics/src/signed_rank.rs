//! Whether paired differences are higher than zero: Wilcoxon's signed-rank test, exact, ties included. For
//! runs measured in pairs, one of each side after the other.

use crate::RankTest;
use crate::subset_sums::{doubled_ranks, subsets, tails};

/// Wilcoxon (1945) over `differences`, second less first. Zeros are left out, as he did; ties have
/// mid-ranks, and the distribution is counted over all signs. `None` where a difference is no
/// number or there are more than 300.
pub fn signed_rank_test(differences: &[f64]) -> Option<RankTest> {
    if differences.iter().any(|value| value.is_nan()) || differences.len() > 300 {
        return None;
    }
    let kept: Vec<f64> = differences.iter().copied().filter(|&d| d != 0.0).collect();
    let sizes: Vec<f64> = kept.iter().map(|difference| difference.abs()).collect();
    let ranks = doubled_ranks(&sizes);
    let positive: u64 = ranks
        .iter()
        .zip(&kept)
        .filter(|(_, difference)| **difference > 0.0)
        .map(|(&rank, _)| u64::from(rank))
        .sum();
    let ways = subsets(&ranks);
    let found = tails(&ways, positive as usize);
    Some(RankTest::new(positive as f64 / 2.0, found, true))
}

/// The smallest probability that [`signed_rank_test`] can give in one direction: one choice of
/// signs of all.
pub fn least_signed_rank_p(pairs: u64) -> f64 {
    0.5_f64.powi(pairs.min(1000) as i32)
}

#[cfg(test)]
#[allow(clippy::approx_constant, reason = "3.14 is a published datum")]
mod tests {
    use super::*;
    use crate::comparison_figures::SIGNED_RANK;

    #[test]
    fn probabilities_agree_with_scipy() {
        for row in SIGNED_RANK {
            let differences: Vec<f64> = row[..12].iter().copied().filter(|v| !v.is_nan()).collect();
            let found = signed_rank_test(&differences).unwrap();
            assert_eq!(found.statistic, row[12]);
            assert!((found.p_higher - row[13]).abs() < 1e-12, "{found:?}");
            assert!((found.p_lower - row[14]).abs() < 1e-12, "{found:?}");
        }
    }

    #[test]
    fn hollander_and_wolfes_depression_scores_give_their_probability() {
        // Hollander & Wolfe 1973, 29f: T⁺ = 40, one-sided P = 0.019.
        let x = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let y = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
        let found = signed_rank_test(&differences).unwrap();
        assert_eq!(found.statistic, 40.0);
        assert!((found.p_higher - 0.01953).abs() < 5e-6, "{found:?}");
    }

    #[test]
    fn zeros_and_nothing_show_nothing() {
        assert_eq!(signed_rank_test(&[]).unwrap().p_higher, 1.0);
        assert_eq!(signed_rank_test(&[0.0, 0.0]).unwrap().p_two_sided, 1.0);
        assert_eq!(signed_rank_test(&[f64::NAN]), None);
        assert_eq!(
            signed_rank_test(&[1.0; 5]).unwrap().p_higher,
            least_signed_rank_p(5)
        );
    }
}
