//! The generalised Pareto distribution of excesses over a threshold, near ξ = 0 as exact as
//! elsewhere. How it is fitted is in `likelihood`.

use crate::random::Random;

/// P(Y > y) = (1 + ξ y / σ)^{−1/ξ} for excesses y ≥ 0; e^{−y/σ} at ξ = 0 (Pickands 1975).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Pareto {
    /// Scale σ > 0, in the values' unit.
    pub scale: f64,
    /// Shape ξ: below 0 the tail ends, at 0 it is exponential, above 0 it is a power.
    pub shape: f64,
}

impl Pareto {
    /// −ln P(Y > y), the exponential quantile of y.
    pub fn hazard(&self, y: f64) -> f64 {
        log_ratio(self.shape, y / self.scale)
    }

    /// P(Y > y).
    pub fn survival(&self, y: f64) -> f64 {
        (-self.hazard(y)).exp()
    }

    /// The excess whose −ln P(Y > y) is `hazard`: σ (e^{ξh} − 1) / ξ.
    pub fn at_hazard(&self, hazard: f64) -> f64 {
        self.scale * power_ratio(self.shape, hazard)
    }

    /// An excess drawn at random.
    pub fn draw(&self, random: &mut Random) -> f64 {
        self.at_hazard(random.exponential())
    }
}

/// ln(1 + t x) / t, which is x at t = 0. ∞ beyond the end of the tail.
pub(crate) fn log_ratio(t: f64, x: f64) -> f64 {
    let product = t * x;
    match product {
        ..=-1.0 => f64::INFINITY,
        _ if product.abs() < 1e-300 => x,
        _ => product.ln_1p() / t,
    }
}

/// (e^{t x} − 1) / t, which is x at t = 0.
pub(crate) fn power_ratio(t: f64, x: f64) -> f64 {
    let product = t * x;
    if product.abs() < 1e-300 {
        x
    } else {
        product.exp_m1() / t
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::PARETO;
    use proptest::prelude::*;

    #[test]
    fn survival_and_quantiles_agree_with_scipy() {
        for [shape, scale, y, survival, tail, at_tail] in PARETO {
            let pareto = Pareto { scale, shape };
            assert!(
                (pareto.survival(y) - survival).abs() <= 1e-13 * survival,
                "{shape} {y}"
            );
            let found = pareto.at_hazard(-tail.ln());
            assert!(
                (found - at_tail).abs() <= 1e-12 * at_tail,
                "{shape} {tail}: {found}"
            );
        }
    }

    proptest! {
        #[test]
        fn an_excess_and_its_hazard_are_each_others_inverse(
            shape in -0.9..0.9_f64, scale in 0.1..1e6_f64, hazard in 0.0..20.0_f64,
        ) {
            let pareto = Pareto { scale, shape };
            let back = pareto.hazard(pareto.at_hazard(hazard));
            // Near the end of a bounded tail the hazard is steep.
            prop_assert!((back - hazard).abs() < 1e-6 * (1.0 + hazard) * (20.0 * (-shape).max(0.0)).exp());
        }

        #[test]
        fn nothing_jumps_at_the_exponential(y in 0.0..30.0_f64, side in -1e-9..1e-9_f64) {
            let (at, beside) = (
                Pareto { scale: 1.0, shape: 0.0 }.hazard(y),
                Pareto { scale: 1.0, shape: side }.hazard(y),
            );
            prop_assert!((at - beside).abs() < 1e-6);
        }
    }
}
