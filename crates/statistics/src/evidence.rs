//! How many due times a run must have before a bound reaches its target. Planning only: it assumes that
//! misses continue at the same rate.

use crate::binomial::{miss_bound_without_misses, miss_upper_bound};
use crate::special::beta_tails;

/// Due times without a miss after which the upper bound on the miss probability is at most
/// `target` at `confidence`: the smallest n with 1 − α^{1/n} ≤ target. `None` when target is 0
/// or not a probability.
pub(crate) fn due_times_needed_without_misses(target: f64, confidence: f64) -> Option<u64> {
    if !(target > 0.0 && target <= 1.0 && confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    if target == 1.0 {
        return Some(0);
    }
    let estimate = ((1.0 - confidence).ln() / (-target).ln_1p())
        .ceil()
        .max(1.0) as u64;
    let reached = |due: u64| due > 0 && miss_bound_without_misses(due as f64, confidence) <= target;
    // The quotient may round to the wrong side of a whole number.
    let first = estimate.saturating_sub(1).max(1);
    (first..=estimate.saturating_add(1))
        .find(|&due| reached(due))
        .or(Some(estimate))
}

/// Due times in all (including those so far) after which the upper bound on the miss probability is at most
/// `target` at `confidence`, if misses continue at the rate seen: `missed` of `due`, in clusters of
/// `cluster_size` (1: independent). Each cluster counts as one event, as in
/// [`MissTally::upper_bound`](crate::MissTally::upper_bound). `None` when the rate seen is not below the
/// target, so that no longer run would help.
pub fn due_times_needed(
    missed: u64,
    due: u64,
    cluster_size: f64,
    target: f64,
    confidence: f64,
) -> Option<u64> {
    let size = cluster_size.max(1.0);
    if missed == 0 {
        let alone = due_times_needed_without_misses(target, confidence)?;
        return Some(((alone as f64 * size).ceil() as u64).max(due));
    }
    let rate = missed as f64 / due as f64;
    if rate >= target || !(target > 0.0 && target < 1.0) {
        return None;
    }
    // The bound is at most the target when the probability of at most this many misses is at most α there:
    // P(B ≤ x) = I_{1−p}(n − x, x + 1) = upper tail of Beta(x + 1, n − x) at p.
    let reached = |all: f64| {
        let (events, effective) = (all * rate / size, all / size);
        beta_tails(events + 1.0, effective - events, target).1 <= 1.0 - confidence
    };
    let start = due as f64;
    if miss_upper_bound(missed as f64 / size, start / size, confidence) <= target {
        return Some(due);
    }
    let mut high = start.max(1.0);
    while !reached(high) {
        high *= 2.0;
        if high > 1e15 {
            return None;
        }
    }
    let mut low = (high / 2.0).max(start);
    while high - low > (high * 1e-6).max(1.0) {
        let middle = low + (high - low) / 2.0;
        if reached(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_counts_without_misses() {
        assert_eq!(due_times_needed_without_misses(1e-6, 0.95), Some(2_995_731));
        assert_eq!(due_times_needed_without_misses(0.05, 0.95), Some(59));
        assert_eq!(due_times_needed_without_misses(0.01, 0.95), Some(299));
        assert_eq!(due_times_needed_without_misses(0.05, 0.99), Some(90));
        assert_eq!(due_times_needed_without_misses(3e-3, 0.95), Some(998));
        assert_eq!(due_times_needed_without_misses(0.0, 0.95), None);
    }

    #[test]
    fn a_nines_claim_needs_weeks() {
        // 10⁻⁹ at 1 kHz: 34.7 days.
        let due = due_times_needed_without_misses(1e-9, 0.95).unwrap();
        assert!((due as f64 / 1000.0 / 86_400.0 - 34.7).abs() < 0.03);
    }

    #[test]
    fn a_rate_above_the_target_can_not_be_waited_out() {
        assert_eq!(due_times_needed(6, 1000, 1.0, 0.005, 0.95), None);
        assert_eq!(due_times_needed(5, 1000, 1.0, 0.005, 0.95), None);
    }

    #[test]
    fn the_count_given_reaches_the_target_and_a_tenth_less_does_not() {
        for (missed, due, size) in [(1, 300, 1.0), (3, 1000, 1.0), (3, 1000, 3.0), (0, 10, 2.0)] {
            let needed = due_times_needed(missed, due, size, 0.005, 0.95).unwrap() as f64;
            let rate = missed as f64 / due as f64;
            let bound = |all: f64| miss_upper_bound(all * rate / size, all / size, 0.95);
            assert!(
                bound(needed) <= 0.005 * (1.0 + 1e-9),
                "{missed} {due}: {needed}"
            );
            assert!(bound(needed * 0.9) > 0.005, "{missed} {due}: {needed}");
        }
    }

    #[test]
    fn a_run_that_suffices_needs_no_more() {
        assert_eq!(due_times_needed(0, 1375, 1.0, 0.005, 0.95), Some(1375));
        assert_eq!(
            due_times_needed(1, 100_000, 1.0, 0.005, 0.95),
            Some(100_000)
        );
    }
}
