//! Quantiles of Student's t, for intervals of means.

use crate::special::beta_quantile;

/// The `probability` quantile of Student's t with `degrees` > 0 degrees of freedom, through the
/// incomplete beta function (Abramowitz & Stegun 26.7.1). `NaN` outside 0 < probability < 1.
pub fn student_t_quantile(probability: f64, degrees: f64) -> f64 {
    if !(probability > 0.0 && probability < 1.0 && degrees > 0.0) {
        return f64::NAN;
    }
    if probability < 0.5 {
        return -student_t_quantile(1.0 - probability, degrees);
    }
    let both_tails = 2.0 * (1.0 - probability);
    if both_tails < 0.5 {
        let x = beta_quantile(both_tails, degrees / 2.0, 0.5);
        (degrees * (1.0 - x) / x).sqrt()
    } else if both_tails < 1.0 {
        let y = beta_quantile(1.0 - both_tails, 0.5, degrees / 2.0);
        (degrees * y / (1.0 - y)).sqrt()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scipy_figures::STUDENT_T;

    #[test]
    fn quantiles_agree_with_scipy() {
        for (p, degrees, expected) in STUDENT_T {
            let found = student_t_quantile(p, degrees);
            assert!(
                (found - expected).abs() < 1e-8 * expected.abs(),
                "{p} {degrees}: {found}"
            );
        }
    }

    #[test]
    fn quantiles_agree_with_the_printed_table() {
        // The usual table of the back pages: 97.5 and 99.5 %.
        for (p, degrees, printed) in [
            (0.975, 10.0, 2.228),
            (0.995, 29.0, 2.756),
            (0.975, 1.0, 12.706),
            (0.995, 9.0, 3.250),
        ] {
            assert!((student_t_quantile(p, degrees) - printed).abs() < 5e-4);
        }
        assert_eq!(student_t_quantile(0.5, 3.0), 0.0);
        assert!((student_t_quantile(0.025, 10.0) + 2.228).abs() < 5e-4);
    }
}
