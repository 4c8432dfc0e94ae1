//! In how many ways ranks add up to a sum: the null distributions of the rank tests, by counting
//! and not by approximation. It knows nothing of samples.

/// `ways[s]`: how many of the subsets of `size` of `weights` have the sum `s`. Counts are `f64`:
/// beyond 2⁵³ they are rounded, far below any probability that is printed.
pub(crate) fn subsets_of_size(weights: &[u32], size: usize) -> Vec<f64> {
    let most: usize = largest(weights, size);
    let mut ways = vec![vec![0.0; most + 1]; size + 1];
    ways[0][0] = 1.0;
    for (taken, &weight) in weights.iter().enumerate() {
        let weight = weight as usize;
        for chosen in (1..=size.min(taken + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(chosen);
            let (fewer, more) = (&fewer[chosen - 1], &mut more[0]);
            for sum in weight..=most {
                more[sum] += fewer[sum - weight];
            }
        }
    }
    ways.pop().unwrap_or_default()
}

/// `ways[s]`: how many of all subsets of `weights` have the sum `s`.
pub(crate) fn subsets(weights: &[u32]) -> Vec<f64> {
    let most: usize = weights.iter().map(|&weight| weight as usize).sum();
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for &weight in weights {
        let weight = weight as usize;
        for sum in (weight..=most).rev() {
            ways[sum] += ways[sum - weight];
        }
    }
    ways
}

/// Additions that [`subsets_of_size`] needs, to be asked before it is called.
pub(crate) fn cost(weights: &[u32], size: usize) -> u64 {
    weights.len() as u64 * size as u64 * (largest(weights, size) as u64 + 1)
}

fn largest(weights: &[u32], size: usize) -> usize {
    let mut sorted = weights.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted
        .iter()
        .take(size)
        .map(|&weight| weight as usize)
        .sum()
}

/// (P(sum ≤ `at`), P(sum ≥ `at`)) where every subset is as likely as any other.
pub(crate) fn tails(ways: &[f64], at: usize) -> (f64, f64) {
    let all: f64 = ways.iter().sum();
    let below: f64 = ways.iter().take(at + 1).sum();
    let above: f64 = ways.iter().skip(at).sum();
    (below / all, above / all)
}

/// Twice the rank of every value, from 1, ties sharing their mean rank, so that all are whole.
pub(crate) fn doubled_ranks(values: &[f64]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0; values.len()];
    let mut first = 0;
    for alike in order.chunk_by(|&a, &b| values[a] == values[b]) {
        // Ranks first + 1 … first + n; twice their mean.
        let doubled = (2 * first + alike.len() + 1) as u32;
        for &index in alike {
            ranks[index] = doubled;
        }
        first += alike.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_four_ranks_have_the_sums_that_one_can_count() {
        // 1+2, 1+3, {1+4, 2+3}, 2+4, 3+4
        let ways = subsets_of_size(&[1, 2, 3, 4], 2);
        assert_eq!(ways, [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 1.0, 1.0]);
        assert_eq!(tails(&ways, 4), (2.0 / 6.0, 5.0 / 6.0));
        assert_eq!(subsets(&[1, 2]), [1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(doubled_ranks(&[5.0, 1.0, 5.0, 9.0]), [5, 2, 5, 8]);
        assert!(doubled_ranks(&[]).is_empty());
    }
}
