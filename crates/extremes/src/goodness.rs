//! How far excesses are from the tail that was fitted to them. No critical values here: after
//! fitting the classical ones are useless, and `resample` finds those that hold.

use crate::pareto::Pareto;

/// Distances of an empirical distribution function from a fitted one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Distances {
    /// Anderson and Darling's A², which weighs the tails.
    pub anderson_darling: f64,
    /// Cramér and von Mises's W².
    pub cramer_von_mises: f64,
}

/// The distances of ascending excesses from a tail.
pub fn distances(sorted: &[f64], pareto: &Pareto) -> Distances {
    let count = sorted.len() as f64;
    let hazards: Vec<f64> = sorted.iter().map(|&y| pareto.hazard(y)).collect();
    let (mut sum, mut squares) = (0.0, 1.0 / (12.0 * count));
    for (place, &hazard) in hazards.iter().enumerate() {
        let below = (-(-hazard).exp_m1()).max(f64::MIN_POSITIVE);
        let odd = 2.0 * place as f64 + 1.0;
        // ln F of the i-th smallest, ln(1 − F) of the i-th largest.
        sum += odd * (below.ln() - hazards[hazards.len() - 1 - place]);
        squares += (below - odd / (2.0 * count)).powi(2);
    }
    Distances {
        anderson_darling: -count - sum / count,
        cramer_von_mises: squares,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{DISTANCES, PARETO_SAMPLES};

    #[test]
    fn distances_agree_with_scipy() {
        for ([shape, scale, a2, w2], sample) in DISTANCES.iter().zip(PARETO_SAMPLES) {
            let mut sorted = sample.to_vec();
            sorted.sort_by(f64::total_cmp);
            let found = distances(
                &sorted,
                &Pareto {
                    shape: *shape,
                    scale: *scale,
                },
            );
            assert!(
                (found.anderson_darling - a2).abs() < 1e-8 * a2,
                "{found:?} {a2}"
            );
            assert!((found.cramer_von_mises - w2).abs() < 1e-8, "{found:?} {w2}");
        }
    }
}
