//! Powers and logarithms from additions and multiplications alone, so that a sweep's sets are the
//! same to the last bit on every machine: those of the C library differ from one to the next.

use std::f64::consts::{LN_2, SQRT_2};

/// 2^x for x between −1000 and 1000, to about 1e-14.
pub fn power_of_two(x: f64) -> f64 {
    let whole = x.floor();
    // e^y for |y| ≤ ln 2 / 2 by its series.
    let y = (x - whole - 0.5) * LN_2;
    let mut series = 1.0;
    for divisor in (1..=12).rev() {
        series = 1.0 + series * y / f64::from(divisor);
    }
    let scale = f64::from_bits(((1023 + whole as i64) as u64) << 52);
    series * SQRT_2 * scale
}

/// log₂ x for a normal x above 0, to about 1e-14.
pub fn binary_logarithm(x: f64) -> f64 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7FF) as i64 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 artanh((m − 1) / (m + 1)).
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut series = 0.0;
    for odd in (0..10).rev() {
        series = series * square + 1.0 / f64::from(2 * odd + 1);
    }
    exponent as f64 + 2.0 * s * series / LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_with_the_library() {
        for step in 1..20_000 {
            let x = f64::from(step) * 0.013_7 - 100.0;
            let (found, expected) = (power_of_two(x), x.exp2());
            assert!(
                (found / expected - 1.0).abs() < 1e-13,
                "2^{x}: {found} {expected}"
            );
            let (found, expected) = (binary_logarithm(expected), x);
            assert!(
                (found - expected).abs() < 1e-13 * x.abs().max(1.0),
                "{found} {expected}"
            );
        }
    }
}
