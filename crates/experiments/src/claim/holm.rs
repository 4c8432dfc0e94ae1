//! Holm's correction: among all claims of an experiment, any wrong decision at all has the stated probability.

/// Adjusted probabilities in the order given: max over j ≤ i of p₍ⱼ₎ · (n − j + 1), 1 at most (Holm 1979). Holds
/// however the tests depend on each other, as claims about one kernel's runs do.
pub(super) fn adjusted(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut most = 0.0_f64;
    for (smaller, index) in order.into_iter().enumerate() {
        let left = (probabilities.len() - smaller) as f64;
        most = most.max((probabilities[index] * left).min(1.0));
        adjusted[index] = most;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_probabilities_are_those_worked_out_by_hand() {
        // 0.005 · 4, 0.02 · 3, 0.04 · 2, and 0.05 · 1, which is less than the one before.
        let found = adjusted(&[0.04, 0.005, 0.02, 0.05]);
        let expected = [0.08, 0.02, 0.06, 0.08];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(adjusted(&[0.4, 0.9]), [0.8, 0.9]);
        assert_eq!(adjusted(&[0.7, 0.7]), [1.0, 1.0]);
        assert_eq!(adjusted(&[]), [0.0; 0]);
    }

    #[test]
    fn three_against_three_decides_nothing_as_soon_as_there_are_two_claims() {
        assert!(adjusted(&[0.05, 1.0])[0] > 0.05);
    }
}
