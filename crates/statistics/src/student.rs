//! Quantiles of Student's t, for intervals of means.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The `probability` quantile of Student's t with `degrees` > 0 degrees of freedom. `NaN` outside
/// 0 < probability < 1.
pub fn student_t_quantile(probability: f64, degrees: f64) -> f64 {
    let inside = probability > 0.0 && probability < 1.0;
    match StudentsT::new(0.0, 1.0, degrees) {
        Ok(distribution) if inside => distribution.inverse_cdf(probability),
        _ => f64::NAN,
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
        assert!(student_t_quantile(1.0, 3.0).is_nan());
        assert!(student_t_quantile(0.5, 0.0).is_nan());
        assert!((student_t_quantile(0.025, 10.0) + 2.228).abs() < 5e-4);
    }
}
