//! The upper tail of the normal distribution, for groups too large to be counted.

use crate::special::gamma_upper_tail;

/// P(Z ≥ z) for a standard normal Z: half the upper tail of the gamma distribution with shape 1/2
/// at z²/2 (DLMF 7.11.1).
pub(crate) fn normal_upper_tail(z: f64) -> f64 {
    let half = 0.5 * gamma_upper_tail(0.5, z * z / 2.0);
    if z >= 0.0 { half } else { 1.0 - half }
}

#[cfg(test)]
mod tests {
    use super::*;

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
