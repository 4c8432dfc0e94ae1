//! The laws that test statistics follow in large samples without fitted parameters: tails of Cramér and von
//! Mises's W² and Anderson and Darling's A², of χ² and of the normal distribution.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};
use std::f64::consts::PI;

/// P(W² > x) in the limit: Smirnov's alternating integral, (1/π) Σ (−1)^{k+1} ∫ (2/t) √(t / −sin t)
/// e^{−x t²/2} dt over t from (2k−1)π to 2kπ (Anderson and Darling 1952, 4.32). KPSS's statistic
/// for a level has the same limit (Kwiatkowski and others 1992).
pub fn cramer_von_mises_tail(x: f64) -> f64 {
    if x < 0.02 {
        return 1.0;
    }
    let mut sum = 0.0;
    for k in 1..40_u32 {
        let first = (2.0 * f64::from(k) - 1.0) * PI;
        // t = first + π sin²φ takes the singularities of both ends away.
        let term = simpson(|phi| {
            let (sin, cos) = phi.sin_cos();
            let square = sin * sin;
            let t = first + PI * square;
            // −sin t = sin(π sin²φ), which vanishes as πsin²φ and as πcos²φ at the ends.
            let smaller = square.min(cos * cos);
            let ratio = if smaller < 1e-12 {
                2.0 * (PI * (1.0 - smaller)).sqrt()
            } else {
                2.0 * PI * sin * cos / (PI * smaller).sin().sqrt()
            };
            ratio * (2.0 / t) * t.sqrt() * (-x * t * t / 2.0).exp()
        });
        sum += if k % 2 == 1 { term } else { -term };
        if term < 1e-14 {
            break;
        }
    }
    (sum / PI).clamp(0.0, 1.0)
}

/// ∫ over 0..π/2 by Simpson's rule.
fn simpson(f: impl Fn(f64) -> f64) -> f64 {
    const STEPS: u32 = 128;
    let width = PI / 2.0 / f64::from(STEPS);
    let weight = |step: u32| match step {
        0 | STEPS => 1.0,
        step if step % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS)
        .map(|step| weight(step) * f(f64::from(step) * width))
        .sum();
    sum * width / 3.0
}

/// P(A² > x) in the limit, to 2·10⁻⁶ (Marsaglia and Marsaglia 2004, ADinf).
pub fn anderson_darling_tail(x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let polynomial =
        |coefficients: &[f64]| coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c);
    let below = if x < 2.0 {
        let sum = polynomial(&[
            2.000_12,
            0.247_105,
            -0.064_982_1,
            0.034_796_2,
            -0.011_672_0,
            0.001_686_91,
        ]);
        (-1.233_714_1 / x).exp() / x.sqrt() * sum
    } else {
        let sum = polynomial(&[1.0776, -2.30695, 0.43424, -0.082433, 0.008056, -0.0003146]);
        (-sum.exp()).exp()
    };
    (1.0 - below).clamp(0.0, 1.0)
}

/// P(χ² > x) with `degrees` degrees of freedom.
pub(crate) fn chi_squared_tail(x: f64, degrees: f64) -> f64 {
    ChiSquared::new(degrees).map_or(f64::NAN, |law| law.sf(x.max(0.0)))
}

/// P(|Z| > |z|) of the normal distribution.
pub(crate) fn normal_two_sided(z: f64) -> f64 {
    2.0 * Normal::standard().sf(z.abs())
}

/// The normal quantile.
pub(crate) fn normal_quantile(probability: f64) -> f64 {
    Normal::standard().inverse_cdf(probability)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::LIMIT_LAWS;

    #[test]
    fn tails_agree_with_scipy() {
        for [x, tail] in LIMIT_LAWS {
            let found = cramer_von_mises_tail(x);
            assert!((found - tail).abs() < 1e-7, "{x}: {found} {tail}");
        }
    }

    #[test]
    fn published_points_of_the_limits_are_met() {
        // KPSS 1992, table 1; Marsaglia and Marsaglia 2004 for A² without fitted parameters.
        for (x, tail) in [(0.347, 0.10), (0.463, 0.05), (0.739, 0.01)] {
            assert!((cramer_von_mises_tail(x) - tail).abs() < 1e-3, "{x}");
        }
        for (x, tail) in [(1.933, 0.10), (2.492, 0.05), (3.8781, 0.01)] {
            assert!((anderson_darling_tail(x) - tail).abs() < 1e-4, "{x}");
        }
        assert_eq!(cramer_von_mises_tail(0.0), 1.0);
        assert!(cramer_von_mises_tail(30.0) < 1e-12);
    }
}
