//! Many tests at once: Benjamini and Hochberg's adjustment, so that of the findings shown at most
//! the stated share is expected to be chance.

/// Adjusted probabilities in the order given: min over j ≥ i of p₍ⱼ₎ · n / j (Benjamini & Hochberg
/// 1995; Yekutieli & Benjamini 1999). Holds for tests that are independent or rise and fall
/// together, as metrics of one run do.
pub fn adjusted_for_many(probabilities: &[f64]) -> Vec<f64> {
    let count = probabilities.len() as f64;
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut least = 1.0_f64;
    for (larger, index) in order.into_iter().enumerate() {
        let rank = count - larger as f64;
        least = least.min(probabilities[index] * count / rank);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison_figures::BENJAMINI_HOCHBERG;

    #[test]
    fn benjamini_and_hochbergs_own_example_rejects_four_of_fifteen() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.000,
        ];
        let adjusted = adjusted_for_many(&p);
        assert_eq!(adjusted.iter().filter(|&&p| p <= 0.05).count(), 4);
        assert_eq!(adjusted[14], 1.0);
    }

    #[test]
    fn adjusted_probabilities_agree_with_scipy() {
        let (p, expected): (Vec<f64>, Vec<f64>) = BENJAMINI_HOCHBERG.iter().copied().unzip();
        for (found, expected) in adjusted_for_many(&p).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(adjusted_for_many(&[]), [0.0; 0]);
        assert_eq!(adjusted_for_many(&[0.03]), [0.03]);
    }
}
