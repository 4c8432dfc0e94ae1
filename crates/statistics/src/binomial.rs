//! Exact (Clopper–Pearson) bounds on the probability of a miss. They assume that due times are
//! missed independently of each other; where misses cluster, pass effective counts (see
//! [`MissTally`](crate::MissTally)), which may be fractions.

use crate::special::beta_quantile;

/// One-sided upper bound on the miss probability at `confidence` after `missed` of `due`: the
/// `confidence` quantile of Beta(missed + 1, due − missed) (Clopper & Pearson 1934). 1 if
/// nothing was due or everything was missed.
pub fn miss_upper_bound(missed: f64, due: f64, confidence: f64) -> f64 {
    if due <= 0.0 || missed >= due {
        1.0
    } else if missed <= 0.0 {
        miss_bound_without_misses(due, confidence)
    } else {
        beta_quantile(confidence, missed + 1.0, due - missed)
    }
}

/// One-sided lower bound on the miss probability at `confidence` after `missed` of `due`: the
/// 1 − `confidence` quantile of Beta(missed, due − missed + 1). 0 without misses.
pub fn miss_lower_bound(missed: f64, due: f64, confidence: f64) -> f64 {
    if due <= 0.0 || missed <= 0.0 {
        0.0
    } else {
        beta_quantile(1.0 - confidence, missed, (due - missed).max(0.0) + 1.0)
    }
}

/// Upper bound on the miss probability after `due` due times without a miss: 1 − α^{1/due} with
/// α = 1 − `confidence`, about 3/due at 95 %. It also bounds the probability of exceeding the
/// largest of `due` observed values.
pub fn miss_bound_without_misses(due: f64, confidence: f64) -> f64 {
    if due <= 0.0 {
        return 1.0;
    }
    -((1.0 - confidence).ln() / due).exp_m1()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scipy_figures::CLOPPER_PEARSON;
    use proptest::prelude::*;

    fn assert_close(found: f64, expected: f64, of: &str) {
        assert!(
            (found - expected).abs() <= 1e-8 * expected.abs(),
            "{of}: {found} {expected}"
        );
    }

    #[test]
    fn bounds_agree_with_scipy() {
        for (missed, due, confidence, lower, upper, low, high) in CLOPPER_PEARSON {
            let of = format!("{missed} of {due}");
            assert_close(miss_lower_bound(missed, due, confidence), lower, &of);
            assert_close(miss_upper_bound(missed, due, confidence), upper, &of);
            // Two-sided: each side leaves out half.
            let side = 1.0 - (1.0 - confidence) / 2.0;
            assert_close(miss_lower_bound(missed, due, side), low, &of);
            assert_close(miss_upper_bound(missed, due, side), high, &of);
        }
    }

    #[test]
    fn fifty_nine_without_a_miss_show_95_percent_at_95_percent_confidence() {
        assert!(miss_upper_bound(0.0, 59.0, 0.95) <= 0.05);
        assert!(miss_upper_bound(0.0, 58.0, 0.95) > 0.05);
        assert!(miss_upper_bound(0.0, 299.0, 0.95) <= 0.01);
        assert!(miss_upper_bound(0.0, 298.0, 0.95) > 0.01);
    }

    #[test]
    fn nothing_due_bounds_nothing() {
        assert_eq!(miss_upper_bound(0.0, 0.0, 0.95), 1.0);
        assert_eq!(miss_lower_bound(0.0, 0.0, 0.95), 0.0);
        assert_eq!(miss_upper_bound(7.0, 7.0, 0.95), 1.0);
        assert_close(
            miss_lower_bound(7.0, 7.0, 0.95),
            0.05_f64.powf(1.0 / 7.0),
            "7 of 7",
        );
    }

    proptest! {
        #[test]
        fn another_miss_raises_both_bounds_and_another_success_lowers_them(
            due in 1_u32..200_000, share in 0.0..1.0_f64, confidence in 0.5..0.999_f64,
        ) {
            let (missed, due) = ((f64::from(due) * share).floor(), f64::from(due));
            let upper = miss_upper_bound(missed, due, confidence);
            let lower = miss_lower_bound(missed, due, confidence);
            let slack = 1.0 + 1e-9;
            prop_assert!(lower <= missed / due * slack && missed / due <= upper * slack);
            prop_assert!(miss_upper_bound(missed + 1.0, due + 1.0, confidence) * slack >= upper);
            prop_assert!(miss_lower_bound(missed + 1.0, due + 1.0, confidence) * slack >= lower);
            prop_assert!(miss_upper_bound(missed, due + 1.0, confidence) <= upper * slack);
        }

        #[test]
        fn fewer_effective_due_times_widen_the_upper_bound(
            due in 100_u32..100_000, share in 0.0..0.3_f64, size in 1.0..50.0_f64,
        ) {
            let (missed, due) = ((f64::from(due) * share).floor(), f64::from(due));
            let plain = miss_upper_bound(missed, due, 0.95);
            let clustered = miss_upper_bound(missed / size, due / size, 0.95);
            prop_assert!(clustered * (1.0 + 1e-9) >= plain);
        }
    }
}
