//! The special functions that no library at hand has exactly enough for millions of due times: the
//! incomplete beta function, its inverse, and Kolmogorov's distribution. Checked against SciPy;
//! nothing here knows what the probabilities are of. Why these and no others:
//! `docs/decisions/0023-own-incomplete-beta-function.md`.

use statrs::function::gamma::ln_gamma;

/// What Stirling's series adds to (x − ½) ln x − x + ½ ln 2π (Abramowitz & Stegun 6.1.41): exact to
/// double precision above 15 in four terms.
fn stirling_correction(x: f64) -> f64 {
    let square = x * x;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0) / square) / square) / square) / x
}

/// Both tails of the beta distribution with shapes `a`, `b` > 0 at `x`, as (I_x(a, b), I_{1−x}(b, a)). The
/// smaller one is never found by subtracting the other from 1. Continued fraction of DLMF 8.17.22 by the
/// modified Lentz method.
pub(crate) fn beta_tails(a: f64, b: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x >= 1.0 {
        return (1.0, 0.0);
    }
    let front = beta_front(a, b, x);
    if x < (a + 1.0) / (a + b + 2.0) {
        let lower = (front * beta_fraction(a, b, x) / a).min(1.0);
        (lower, 1.0 - lower)
    } else {
        let upper = (front * beta_fraction(b, a, 1.0 - x) / b).min(1.0);
        (1.0 - upper, upper)
    }
}

/// x^a (1 − x)^b / B(a, b). With a large shape the log-gammas nearly cancel, so their difference
/// is written out from Stirling's series and only small terms are added up.
fn beta_front(a: f64, b: f64, x: f64) -> f64 {
    const LARGE: f64 = 15.0;
    let both = a + b;
    let exponent = if a < LARGE && b < LARGE {
        a * x.ln() + b * (-x).ln_1p() + ln_gamma(both) - ln_gamma(a) - ln_gamma(b)
    } else if a < LARGE {
        a * (x * both).ln() - a
            + b * (-x).ln_1p()
            + (b - 0.5) * (a / b).ln_1p()
            + stirling_correction(both)
            - stirling_correction(b)
            - ln_gamma(a)
    } else if b < LARGE {
        return beta_front(b, a, 1.0 - x);
    } else {
        let from_mean = x - a / both;
        a * ln_ratio(x * both / a, from_mean * both / a)
            + b * ln_ratio((1.0 - x) * both / b, -from_mean * both / b)
            + 0.5 * (a * b / (2.0 * std::f64::consts::PI * both)).ln()
            + stirling_correction(both)
            - stirling_correction(a)
            - stirling_correction(b)
    };
    exponent.exp()
}

/// ln `ratio`; `beyond_one` is the same ratio less 1 with digits that `ratio` has lost when it is close to 1.
fn ln_ratio(ratio: f64, beyond_one: f64) -> f64 {
    if beyond_one.abs() < 0.5 {
        beyond_one.ln_1p()
    } else {
        ratio.ln()
    }
}

fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    // The number of steps grows with the square root of the larger shape.
    const STEPS: u32 = 10_000_000;
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for step in 1..STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

fn away_from_zero(value: f64) -> f64 {
    const TINY: f64 = 1e-300;
    if value.abs() < TINY { TINY } else { value }
}

/// The `x` at which the lower tail of the beta distribution with shapes `a`, `b` > 0 is
/// `probability`: bisection, on a geometric scale while the bracket spans magnitudes, so that
/// bounds of 10⁻⁹ are as exact as those near one half.
pub(crate) fn beta_quantile(probability: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (1e-300_f64, 1.0_f64);
    for _ in 0..200 {
        let middle = if high > 4.0 * low {
            (low * high).sqrt()
        } else {
            low + (high - low) * 0.5
        };
        if middle <= low || middle >= high {
            break;
        }
        let (lower, upper) = beta_tails(a, b, middle);
        // Compare in the smaller tail, where the digits are.
        let below = if probability < 0.5 {
            lower < probability
        } else {
            upper > 1.0 - probability
        };
        if below {
            low = middle;
        } else {
            high = middle;
        }
        if high - low <= 4e-16 * high {
            break;
        }
    }
    low + (high - low) * 0.5
}

/// Upper tail of the Kolmogorov distribution: 2 Σ (−1)^{k−1} exp(−2k²x²).
pub(crate) fn kolmogorov_upper_tail(x: f64) -> f64 {
    if x < 0.18 {
        // The alternating series converges too slowly here, and the answer is 1 to 14 digits.
        return 1.0;
    }
    let mut sum = 0.0;
    for k in 1..=100_u32 {
        let k = f64::from(k);
        let term = (-2.0 * k * k * x * x).exp();
        sum += if k % 2.0 == 1.0 { term } else { -term };
        if term < 1e-18 {
            break;
        }
    }
    (2.0 * sum).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scipy_figures::*;

    fn close(found: f64, expected: f64, relative: f64) -> bool {
        (found - expected).abs() <= relative * expected.abs()
    }

    #[test]
    fn incomplete_beta_agrees_with_scipy() {
        for (a, b, x, expected) in INCOMPLETE_BETA {
            let found = beta_tails(a, b, x).0;
            assert!(
                close(found, expected, 1e-10),
                "{a} {b} {x}: {found} {expected}"
            );
        }
    }

    #[test]
    fn beta_quantiles_agree_with_scipy() {
        for (p, a, b, expected) in BETA_QUANTILE {
            let found = beta_quantile(p, a, b);
            assert!(
                close(found, expected, 1e-9),
                "{p} {a} {b}: {found} {expected}"
            );
        }
    }

    #[test]
    fn the_kolmogorov_distribution_agrees_with_scipy() {
        for (x, expected) in KOLMOGOROV {
            let found = kolmogorov_upper_tail(x);
            assert!(close(found, expected, 1e-10), "{x}: {found} {expected}");
        }
    }
}
