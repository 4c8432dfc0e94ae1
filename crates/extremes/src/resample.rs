//! A fitted tail drawn again and again, each time fitted anew: which distances a true model has
//! after fitting, and how far from normal the signed root of the level is. The draws follow from a
//! seed and their number alone.

use crate::goodness::{Distances, distances};
use crate::level::Level;
use crate::likelihood::Excesses;
use crate::random::Random;

/// What to draw.
#[derive(Debug, Clone, Copy)]
pub struct Resampling {
    /// How many draws.
    pub draws: u32,
    /// Where they come from.
    pub seed: u64,
    /// Step of the grid that the values lie on; `None` where they are as good as exact.
    pub resolution: Option<f64>,
}

/// What draws of the fitted tail look like.
#[derive(Debug, Clone, Default)]
pub struct Resampled {
    distances: Vec<Distances>,
    roots: Vec<f64>,
}

impl Resampling {
    /// Draws from the fit of `level`. The distance of each from its own fit is kept; with `roots`,
    /// the signed root at the level that is true there too.
    pub fn of(self, level: &Level<'_>, roots: bool) -> Resampled {
        let (pareto, truth) = (level.fit.pareto, level.estimate());
        let mut found = Resampled::default();
        for number in 0..self.draws {
            let mut random = Random::stream(self.seed, number.into());
            let count = random.binomial(level.cycles, level.rate());
            let mut values: Vec<f64> = (0..count)
                .map(|_| self.rounded(pareto.draw(&mut random)))
                .collect();
            let excesses = Excesses::new(&values, self.resolution);
            let Some(fit) = excesses.fit_from(Some(pareto)) else {
                continue;
            };
            values.sort_by(f64::total_cmp);
            found.distances.push(distances(&values, &fit.pareto));
            if roots {
                let again = Level {
                    excesses: &excesses,
                    fit,
                    ..*level
                };
                found.roots.push(again.signed_root(truth));
            }
        }
        found.roots.sort_by(f64::total_cmp);
        found
    }

    fn rounded(self, value: f64) -> f64 {
        match self.resolution {
            None => value,
            Some(step) => ((value / step).floor() + 0.5) * step,
        }
    }
}

impl Resampled {
    /// Probabilities, if the fitted model is true, of distances as large as these: A², then W².
    pub fn probabilities(&self, seen: Distances) -> (f64, f64) {
        let share = |as_large: &dyn Fn(&Distances) -> bool| {
            let count = self
                .distances
                .iter()
                .filter(|found| as_large(found))
                .count();
            (count + 1) as f64 / (self.distances.len() + 1) as f64
        };
        (
            share(&|found| found.anderson_darling >= seen.anderson_darling),
            share(&|found| found.cramer_von_mises >= seen.cramer_von_mises),
        )
    }

    /// The signed root that the true level falls below with probability `alpha`: −1.645 at 5 % were
    /// it normal. `None` where too few draws could be fitted.
    pub fn root(&self, alpha: f64) -> Option<f64> {
        let rank = (alpha * (self.roots.len() + 1) as f64).floor() as usize;
        self.roots.get(rank.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::PARETO_SAMPLES;

    fn resampled(seed: u64, roots: bool) -> (Resampled, Distances) {
        let mut values = PARETO_SAMPLES[1].to_vec();
        let excesses = Excesses::new(&values, None);
        let fit = excesses.fit().unwrap();
        let level = Level {
            excesses: &excesses,
            fit,
            cycles: 10_000,
            exceed: 1e-4,
        };
        let resampling = Resampling {
            draws: 199,
            seed,
            resolution: None,
        };
        values.sort_by(f64::total_cmp);
        (
            resampling.of(&level, roots),
            distances(&values, &fit.pareto),
        )
    }

    #[test]
    fn the_same_seed_draws_the_same_and_another_does_not() {
        let (first, seen) = resampled(1, false);
        assert_eq!(first.distances, resampled(1, false).0.distances);
        assert_ne!(first.distances, resampled(2, false).0.distances);
        let (a2, w2) = first.probabilities(seen);
        assert!(
            a2 > 0.01 && a2 <= 1.0 && w2 > 0.01 && w2 <= 1.0,
            "{a2} {w2}"
        );
        let far = Distances {
            anderson_darling: 30.0,
            cramer_von_mises: 5.0,
        };
        assert_eq!(first.probabilities(far), (1.0 / 200.0, 1.0 / 200.0));
    }

    #[test]
    fn the_root_is_near_the_normal_one() {
        let (found, _) = resampled(1, true);
        let root = found.root(0.05).unwrap();
        assert!((-2.6..-1.2).contains(&root), "{root}");
        assert_eq!(found.root(0.001), None);
    }
}
