//! The level that a cycle exceeds with a given probability, and its one-sided bound by the profile
//! likelihood, the uncertainty of how often the threshold is exceeded included (Coles 2001, 4.3.3).

use crate::likelihood::{Excesses, Fit, LEAST_SHAPE};
use crate::pareto::{log_ratio, power_ratio};
use crate::search::{crossing, largest};

/// A level to estimate, and the data for it.
#[derive(Debug, Clone, Copy)]
pub struct Level<'a> {
    /// Excesses over the threshold: one for each cluster.
    pub excesses: &'a Excesses,
    /// The tail fitted to them.
    pub fit: Fit,
    /// Cycles observed.
    pub cycles: u64,
    /// Probability that a cycle begins a cluster beyond the level: θ times that of any one cycle.
    pub exceed: f64,
}

impl Level<'_> {
    /// Share of the cycles at which the threshold was exceeded, clusters counted once.
    pub fn rate(&self) -> f64 {
        self.excesses.count() / self.cycles as f64
    }

    /// The estimate above the threshold: (σ/ξ)[(ζ/p)^ξ − 1].
    pub fn estimate(&self) -> f64 {
        let pareto = self.fit.pareto;
        pareto.scale * power_ratio(pareto.shape, (self.rate() / self.exceed).ln())
    }

    /// The largest log-likelihood, of the excesses and of their number.
    fn log_likelihood(&self) -> f64 {
        self.fit.log_likelihood + self.of_rate(self.rate())
    }

    fn of_rate(&self, rate: f64) -> f64 {
        let (count, cycles) = (self.excesses.count(), self.cycles as f64);
        if rate < 1.0 {
            count * rate.ln() + (cycles - count) * (-rate).ln_1p()
        } else {
            f64::NEG_INFINITY
        }
    }

    /// The largest log-likelihood with the level held at `level` above the threshold.
    fn held_at(&self, level: f64) -> f64 {
        let reach = self.excesses.largest().max(level);
        let expected = (self.rate() / self.exceed).ln();
        let mut profile = |s: f64| {
            let tau = Excesses::ratio(reach, s);
            let (at, hazard) = (self.excesses.at(tau), log_ratio(tau, level));
            // e^depth · p is the rate; the scale that puts the level there follows from it.
            let mut of_depth = |depth: f64| {
                let scale = hazard / depth;
                if depth > 0.0 && tau * scale >= LEAST_SHAPE {
                    at.log_likelihood(scale) + self.of_rate(self.exceed * depth.exp())
                } else {
                    f64::NEG_INFINITY
                }
            };
            largest(&mut of_depth, expected, 0.02, 1e-6).map_or(f64::NEG_INFINITY, |found| found.1)
        };
        let pareto = self.fit.pareto;
        let fitted = (pareto.shape / pareto.scale * reach).ln_1p();
        let starts = [fitted, 0.0, 1.0, -1.0];
        let mut finite = starts.into_iter().filter(|start| start.is_finite());
        finite
            .find_map(|start| largest(&mut profile, start, 0.2, 1e-5))
            .map_or(f64::NEG_INFINITY, |found| found.1)
    }

    /// The signed root of the likelihood ratio at a level above the threshold: about standard normal at the
    /// true one, positive if that is below the estimate.
    pub fn signed_root(&self, level: f64) -> f64 {
        let lost = (self.log_likelihood() - self.held_at(level)).max(0.0);
        (2.0 * lost).sqrt().copysign(self.estimate() - level)
    }

    /// The highest level whose signed root is at least `least`, a negative number such as −1.645 (95 %,
    /// one-sided, were the root exactly normal). `None` if no level is too high.
    pub fn upper_bound(&self, least: f64) -> Option<f64> {
        let estimate = self.estimate();
        let critical = least * least / 2.0;
        let best = self.log_likelihood();
        let mut room = |level: f64| critical - (best - self.held_at(level));
        let (mut low, mut step) = (estimate, self.fit.pareto.scale.max(estimate * 0.1));
        for _ in 0..60 {
            let high = low + step;
            if room(high) < 0.0 {
                return Some(crossing(&mut room, low, high, 1e-6));
            }
            low = high;
            step *= 1.7;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{LEVELS, PARETO_SAMPLES};

    #[test]
    fn estimates_and_bounds_agree_with_those_of_a_general_optimiser() {
        for [sample, cycles, exceed, estimate, bound] in LEVELS {
            let excesses = Excesses::new(&PARETO_SAMPLES[sample as usize], None);
            let fit = excesses.fit().unwrap();
            let level = Level {
                excesses: &excesses,
                fit,
                cycles: cycles as u64,
                exceed,
            };
            let found = level.estimate();
            assert!((found / estimate - 1.0).abs() < 1e-4, "{found} {estimate}");
            let found = level.upper_bound(-1.644_853_626_951).unwrap();
            assert!(
                (found / bound - 1.0).abs() < 1e-3,
                "{sample} {exceed}: {found} {bound}"
            );
            let root = level.signed_root(found);
            assert!((root + 1.644_853_6).abs() < 1e-3, "{root}");
        }
    }

    #[test]
    fn the_root_is_nought_at_the_estimate_and_falls_with_the_level() {
        let excesses = Excesses::new(&PARETO_SAMPLES[1], None);
        let fit = excesses.fit().unwrap();
        let level = Level {
            excesses: &excesses,
            fit,
            cycles: 100_000,
            exceed: 1e-5,
        };
        let estimate = level.estimate();
        assert!(level.signed_root(estimate).abs() < 1e-3);
        let roots: Vec<f64> = [0.8, 0.9, 1.1, 1.4, 2.0]
            .map(|times| level.signed_root(times * estimate))
            .to_vec();
        assert!(roots.windows(2).all(|two| two[0] > two[1]), "{roots:?}");
    }
}
