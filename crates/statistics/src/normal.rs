//! The upper tail of the normal distribution, for groups too large to be counted.

use statrs::function::gamma::gamma_ur;

/// P(Z ≥ z) for a standard normal Z: half the upper tail of the gamma distribution with shape 1/2
/// at z²/2 (DLMF 7.11.1).
pub(crate) fn normal_upper_tail(z: f64) -> f64 {
    let square = z * z / 2.0;
    // The library's function has no value at 0; its error function has ten digits only.
    let half = if square > 0.0 {
        0.5 * gamma_ur(0.5, square)
    } else {
        0.5
    };
    if z >= 0.0 { half } else { 1.0 - half }
}

/// The z with P(Z ≤ z) = `probability`, for one from ½ to below 1: bisection.
pub(crate) fn normal_quantile(probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if normal_upper_tail(middle) > 1.0 - probability {
            low = middle
        } else {
            high = middle
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_tails_agree_with_scipy() {
        for (z, expected) in crate::scipy_figures::NORMAL_UPPER {
            let found = normal_upper_tail(z);
            assert!((found - expected).abs() <= 1e-12 * expected, "{z}: {found}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_printed_table() {
        for (probability, printed) in [(0.5, 0.0), (0.95, 1.644_854), (0.99, 2.326_348)] {
            assert!((normal_quantile(probability) - printed).abs() < 1e-6);
        }
    }

    #[test]
    fn the_tails_are_those_of_the_printed_table() {
        for (z, printed) in [
            (0.0, 0.5),
            (1.0, 0.158_655),
            (1.96, 0.024_998),
            (3.0, 0.001_350),
        ] {
            assert!((normal_upper_tail(z) - printed).abs() < 5e-7, "{z}");
            assert!(
                (normal_upper_tail(-z) - (1.0 - printed)).abs() < 5e-7,
                "{z}"
            );
        }
    }
}
