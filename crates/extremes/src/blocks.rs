//! The generalised extreme value distribution of the largest values of blocks: the cross-check of
//! the tail above a threshold. With t = ξ/(σ + ξ(x₀ − μ)) held, ln(1 + t(x − x₀))/t follows Gumbel's
//! law, whose own fit is a zero of one variable: again a search over t alone.

use crate::pareto::{log_ratio, power_ratio};
use crate::search::{crossing, largest};

/// P(M ≤ x) = exp(−(1 + ξ(x − μ)/σ)^{−1/ξ}) (Jenkinson 1955).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ExtremeValue {
    /// Location μ.
    pub location: f64,
    /// Scale σ > 0.
    pub scale: f64,
    /// Shape ξ, of the same sign as a tail's.
    pub shape: f64,
}

impl ExtremeValue {
    /// The level that the largest value of a block exceeds with probability `exceed`.
    pub fn level(&self, exceed: f64) -> f64 {
        self.location + self.scale * power_ratio(self.shape, reduced(exceed))
    }
}

/// −ln(−ln(1 − p)), Gumbel's own quantile.
fn reduced(exceed: f64) -> f64 {
    -(-(-exceed).ln_1p()).ln()
}

/// The largest values of blocks, with what was fitted to them.
#[derive(Debug, Clone)]
pub struct BlockFit {
    /// The distribution.
    pub distribution: ExtremeValue,
    /// Its log-likelihood.
    pub log_likelihood: f64,
    /// The maxima less their mean.
    centred: Vec<f64>,
    mean: f64,
}

/// Least and greatest `Σ` of centred values after ln(1 + tx)/t.
struct Transformed {
    values: Vec<f64>,
    jacobian: f64,
}

impl Transformed {
    fn of(centred: &[f64], t: f64) -> Self {
        Self {
            values: centred.iter().map(|&x| log_ratio(t, x)).collect(),
            jacobian: centred.iter().map(|&x| (t * x).ln_1p()).sum(),
        }
    }

    /// −ln of the mean of e^{−g/b}, times b, without overflow.
    fn soft_least(&self, scale: f64) -> f64 {
        let least = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let sum: f64 = self
            .values
            .iter()
            .map(|g| (-(g - least) / scale).exp())
            .sum();
        least - scale * (sum / self.values.len() as f64).ln()
    }

    /// Location and scale of Gumbel's law: b = mean g − Σ g e^{−g/b} / Σ e^{−g/b}.
    fn gumbel(&self) -> (f64, f64) {
        let count = self.values.len() as f64;
        let least = self.values.iter().copied().fold(f64::INFINITY, f64::min);
        let mean = self.values.iter().sum::<f64>() / count;
        let mut excess = |scale: f64| {
            let (mut sum, mut weighed) = (0.0, 0.0);
            for g in &self.values {
                let weight = (-(g - least) / scale).exp();
                sum += weight;
                weighed += weight * g;
            }
            mean - weighed / sum - scale
        };
        let range = (mean - least).max(f64::MIN_POSITIVE);
        let scale = crossing(&mut excess, range * 1e-3, range * 10.0, 1e-13);
        (self.soft_least(scale), scale)
    }

    fn log_likelihood(&self, location: f64, scale: f64) -> f64 {
        let sum: f64 = self
            .values
            .iter()
            .map(|g| {
                let z = (g - location) / scale;
                z + (-z).exp()
            })
            .sum();
        let found = -(self.values.len() as f64) * scale.ln() - sum - self.jacobian;
        match found.is_finite() {
            true => found,
            false => f64::NEG_INFINITY,
        }
    }
}

impl BlockFit {
    /// Fits by maximum likelihood, ξ > −1. `None` for fewer than ten maxima or where all are one.
    pub fn of(maxima: &[f64]) -> Option<Self> {
        let mean = maxima.iter().sum::<f64>() / maxima.len().max(1) as f64;
        let centred: Vec<f64> = maxima.iter().map(|x| x - mean).collect();
        let span = span(&centred);
        if maxima.len() < 10 || span.is_nan() || span <= 0.0 {
            return None;
        }
        let of = |t: f64| {
            let transformed = Transformed::of(&centred, t);
            let (location, scale) = transformed.gumbel();
            (location, scale, transformed.log_likelihood(location, scale))
        };
        let mut profile = |s: f64| {
            let t = s / span;
            match within(&centred, t) {
                true => {
                    let (_, scale, value) = of(t);
                    if t * scale > -1.0 {
                        value
                    } else {
                        f64::NEG_INFINITY
                    }
                }
                false => f64::NEG_INFINITY,
            }
        };
        let t = largest(&mut profile, 0.0, 0.1, 1e-9)?.0 / span;
        let (location, scale, log_likelihood) = of(t);
        let distribution = ExtremeValue {
            location: mean + power_ratio(t, location),
            scale: scale * (t * location).exp(),
            shape: t * scale,
        };
        Some(Self {
            distribution,
            log_likelihood,
            centred,
            mean,
        })
    }

    /// The largest log-likelihood with the level of `exceed` for each block held.
    fn held_at(&self, level: f64, exceed: f64) -> f64 {
        let (level, reduced, span) = (level - self.mean, reduced(exceed), span(&self.centred));
        let mut profile = |s: f64| {
            let t = s / span;
            if !within(&self.centred, t) || t * level <= -1.0 {
                return f64::NEG_INFINITY;
            }
            let (transformed, at_level) = (Transformed::of(&self.centred, t), log_ratio(t, level));
            let mut of_scale = |log_scale: f64| {
                let scale = log_scale.exp();
                match t * scale > -1.0 {
                    true => transformed.log_likelihood(at_level - scale * reduced, scale),
                    false => f64::NEG_INFINITY,
                }
            };
            let (_, near) = transformed.gumbel();
            largest(&mut of_scale, near.ln(), 0.1, 1e-9).map_or(f64::NEG_INFINITY, |found| found.1)
        };
        let ExtremeValue {
            location,
            scale,
            shape,
        } = self.distribution;
        let fitted = span * shape / (scale + shape * (self.mean - location));
        [fitted, 0.0]
            .into_iter()
            .find_map(|start| largest(&mut profile, start, 0.1, 1e-7))
            .map_or(f64::NEG_INFINITY, |found| found.1)
    }

    /// One end of the profile-likelihood interval of the level of `exceed` for each block: above it
    /// where `upwards`. `drop` is how much log-likelihood may be lost: 1.921 for the two ends of a
    /// 95 % interval, 1.353 for one bound of 95 %. `None` where there is no end.
    pub fn level_bound(&self, exceed: f64, drop: f64, upwards: bool) -> Option<f64> {
        let estimate = self.distribution.level(exceed);
        let mut room = |level: f64| drop - (self.log_likelihood - self.held_at(level, exceed));
        let mut step = self.distribution.scale * 0.25;
        let mut near = estimate;
        for _ in 0..60 {
            let far = if upwards { near + step } else { near - step };
            if room(far) < 0.0 {
                return Some(crossing(&mut room, near, far, 1e-7));
            }
            near = far;
            step *= 1.6;
        }
        None
    }
}

fn span(centred: &[f64]) -> f64 {
    let largest = centred.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = centred.iter().copied().fold(f64::INFINITY, f64::min);
    largest - least
}

/// Whether every value is inside the support.
fn within(centred: &[f64], t: f64) -> bool {
    centred.iter().all(|x| t * x > -1.0)
}

/// Largest values of consecutive blocks of `size`; values left over at the start are left out.
pub fn block_maxima(series: &[i64], size: usize) -> Vec<f64> {
    let size = size.max(1);
    let used = &series[series.len() % size..];
    used.chunks_exact(size)
        .filter_map(|block| block.iter().max())
        .map(|&largest| largest as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{EXTREME_VALUE_FITS, PORT_PIRIE, SERIES};

    fn close(found: f64, expected: f64, by: f64) {
        assert!(
            (found - expected).abs() <= by,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn the_sea_levels_of_port_pirie_have_their_published_fit() {
        let fit = BlockFit::of(&PORT_PIRIE).unwrap();
        let ExtremeValue {
            location,
            scale,
            shape,
        } = fit.distribution;
        close(location, 3.874_75, 1e-5);
        close(scale, 0.198_04, 1e-5);
        close(shape, -0.050_11, 2e-5);
        close(-fit.log_likelihood, -4.339_1, 5e-5);
    }

    #[test]
    fn the_sea_levels_of_port_pirie_have_their_published_fit_without_a_shape() {
        let untransformed = Transformed::of(&PORT_PIRIE, 0.0);
        let (location, scale) = untransformed.gumbel();
        close(location, 3.869_44, 1e-5);
        close(scale, 0.194_89, 1e-5);
        close(
            -untransformed.log_likelihood(location, scale),
            -4.217_7,
            5e-5,
        );
    }

    #[test]
    fn the_sea_levels_of_port_pirie_have_their_published_levels_and_intervals() {
        let fit = BlockFit::of(&PORT_PIRIE).unwrap();
        close(fit.distribution.level(0.1), 4.296, 5e-4);
        close(fit.distribution.level(0.01), 4.688, 5e-4);
        for (exceed, low, high) in [(0.1, 4.205, 4.445), (0.01, 4.490, 5.261)] {
            close(
                fit.level_bound(exceed, 1.920_73, false).unwrap(),
                low,
                1.5e-3,
            );
            close(
                fit.level_bound(exceed, 1.920_73, true).unwrap(),
                high,
                1.5e-3,
            );
        }
    }

    /// The delta method is what bounds are not made with: its interval is published too.
    #[test]
    fn the_curvature_at_the_fit_has_the_published_standard_errors() {
        let fit = BlockFit::of(&PORT_PIRIE).unwrap();
        let ExtremeValue {
            location,
            scale,
            shape,
        } = fit.distribution;
        let at = [location, scale, shape];
        let negative = |p: [f64; 3]| -> f64 {
            PORT_PIRIE
                .iter()
                .map(|x| {
                    let z = 1.0 + p[2] * (x - p[0]) / p[1];
                    p[1].ln() + (1.0 + 1.0 / p[2]) * z.ln() + z.powf(-1.0 / p[2])
                })
                .sum()
        };
        let step = 1e-4;
        let mut hessian = [[0.0; 3]; 3];
        for (i, row) in hessian.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                let moved = |a: f64, b: f64| {
                    let mut p = at;
                    p[i] += a * step;
                    p[j] += b * step;
                    negative(p)
                };
                *cell = (moved(1.0, 1.0) - moved(1.0, -1.0) - moved(-1.0, 1.0) + moved(-1.0, -1.0))
                    / (4.0 * step * step);
            }
        }
        let cofactor = |i: usize, j: usize| {
            let rest = |k: usize| (0..3).filter(move |&m| m != k);
            let (rows, columns): (Vec<_>, Vec<_>) = (rest(i).collect(), rest(j).collect());
            let minor = hessian[rows[0]][columns[0]] * hessian[rows[1]][columns[1]]
                - hessian[rows[0]][columns[1]] * hessian[rows[1]][columns[0]];
            if (i + j).is_multiple_of(2) {
                minor
            } else {
                -minor
            }
        };
        let determinant: f64 = (0..3).map(|j| hessian[0][j] * cofactor(0, j)).sum();
        let covariance = |i, j| cofactor(j, i) / determinant;
        for (i, published) in [0.0279, 0.0202, 0.0983].into_iter().enumerate() {
            close(f64::sqrt(covariance(i, i)), published, 1e-4);
        }
        let y = -(0.99_f64.ln());
        let by_shape = scale * (1.0 - y.powf(-shape)) / (shape * shape)
            - scale / shape * y.powf(-shape) * y.ln();
        let gradient = [1.0, (y.powf(-shape) - 1.0) / shape, by_shape];
        let mut variance = 0.0;
        for i in 0..3 {
            for j in 0..3 {
                variance += gradient[i] * covariance(i, j) * gradient[j];
            }
        }
        let half = 1.959_964 * f64::sqrt(variance);
        close(fit.distribution.level(0.01) - half, 4.377, 1e-3);
        close(fit.distribution.level(0.01) + half, 5.000, 1e-3);
    }

    #[test]
    fn fits_agree_with_scipy_for_either_sign_of_the_shape() {
        for [from, bend, location, scale, shape] in EXTREME_VALUE_FITS {
            let sample: Vec<f64> = SERIES[from as usize..from as usize + 60]
                .iter()
                .map(|x| (bend * x).exp())
                .collect();
            let found = BlockFit::of(&sample).unwrap().distribution;
            close(found.location, location, 2e-4 * location.abs());
            close(found.scale, scale, 2e-4 * scale);
            close(found.shape, shape, 2e-4);
        }
    }

    #[test]
    fn blocks_are_whole_and_too_few_are_not_fitted() {
        assert_eq!(block_maxima(&[9, 1, 5, 2, 7], 2), [5.0, 7.0]);
        assert!(BlockFit::of(&[1.0; 30]).is_none());
        assert!(BlockFit::of(&[1.0, 2.0, 3.0]).is_none());
    }
}
