//! The likelihood of excesses over a threshold under the generalised Pareto distribution, exact or
//! known to a rounding only, and its fit. With τ = ξ/σ held, ln(1 + τy)/τ is exponential of mean σ:
//! the fit is a search over τ alone (Grimshaw 1993; Davison 1984).

use crate::intervals::Intervals;
use crate::pareto::Pareto;
use crate::search::largest;

/// Excesses over a threshold, all above 0.
#[derive(Debug, Clone, PartialEq)]
pub enum Excesses {
    /// Each known as it is.
    Exact {
        /// The excesses.
        values: Vec<f64>,
        /// The largest of them.
        largest: f64,
    },
    /// Values on a grid: all between two ends, with how many there are.
    Rounded(Vec<Rounded>),
}

/// Excesses that were rounded to one value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounded {
    /// Lower end of what rounds to it.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// How many.
    pub count: f64,
}

/// A fitted tail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The distribution.
    pub pareto: Pareto,
    /// Its log-likelihood; of rounded values, of their intervals.
    pub log_likelihood: f64,
}

/// The least shape that is fitted: at ξ < −1 the likelihood is largest where the tail ends at the
/// largest value, whatever the values are.
pub(crate) const LEAST_SHAPE: f64 = -1.0;
/// How exactly the place of a maximum is looked for: an error of 10⁻⁶ there is one of 10⁻¹² in the
/// likelihood.
pub(crate) const TOLERANCE: f64 = 1e-7;

impl Excesses {
    /// Of values on a grid of `resolution` above a threshold that is half a step below the smallest value
    /// that exceeds it; exact if `resolution` is `None`.
    pub fn new(values: &[f64], resolution: Option<f64>) -> Self {
        match resolution {
            None => Self::Exact {
                values: values.to_vec(),
                largest: values.iter().copied().fold(0.0, f64::max),
            },
            Some(step) => Self::Rounded(
                sorted_counts(values)
                    .into_iter()
                    .map(|(value, count)| Rounded {
                        low: (value - step / 2.0).max(0.0),
                        high: value + step / 2.0,
                        count: count as f64,
                    })
                    .collect(),
            ),
        }
    }

    /// How many there are.
    pub fn count(&self) -> f64 {
        match self {
            Self::Exact { values, .. } => values.len() as f64,
            Self::Rounded(values) => values.iter().map(|value| value.count).sum(),
        }
    }

    /// The largest, in the values' unit.
    pub fn largest(&self) -> f64 {
        match self {
            Self::Exact { largest, .. } => *largest,
            Self::Rounded(values) => values.iter().map(|value| value.high).fold(0.0, f64::max),
        }
    }

    /// With τ = ξ/σ held.
    pub(crate) fn at(&self, tau: f64) -> AtRatio {
        match self {
            Self::Exact { values, largest } => {
                let logs = sum_of_logs(values, *largest, tau);
                AtRatio::Exact {
                    count: values.len() as f64,
                    sum: logs.0,
                    jacobian: logs.1,
                }
            }
            Self::Rounded(values) => AtRatio::Rounded(Intervals::new(values, tau)),
        }
    }

    /// Where the search over τ begins and what a step is: s = ln(1 + τM), M the `reach`.
    pub(crate) fn ratio(reach: f64, s: f64) -> f64 {
        s.exp_m1() / reach
    }

    /// Fits by maximum likelihood, ξ ≥ −1. `None` without excesses or where all are the same.
    pub fn fit(&self) -> Option<Fit> {
        self.fit_from(None)
    }

    /// As [`Excesses::fit`], beginning the search at a distribution that is known to be near.
    pub(crate) fn fit_from(&self, near: Option<Pareto>) -> Option<Fit> {
        let reach = self.largest();
        if self.count() < 2.0 || reach.is_nan() || reach <= 0.0 {
            return None;
        }
        let mut profile = |s: f64| {
            let tau = Self::ratio(reach, s);
            let at = self.at(tau);
            let scale = at.best_scale();
            if tau * scale >= LEAST_SHAPE {
                at.log_likelihood(scale)
            } else {
                f64::NEG_INFINITY
            }
        };
        let near = near.map(|near| (near.shape / near.scale * reach).ln_1p());
        let start = near.filter(|s| s.is_finite()).unwrap_or(0.0);
        // Where the start is outside of ξ ≥ −1, the exponential is not.
        // From nearby, for one draw of a thousand, less will do.
        let (step, tolerance) = match near {
            Some(_) => (0.1, 1e-5),
            None => (0.5, TOLERANCE),
        };
        let found = largest(&mut profile, start, step, tolerance)
            .or_else(|| largest(&mut profile, 0.0, 0.5, TOLERANCE))?;
        let (s, log_likelihood) = found;
        let tau = Self::ratio(reach, s);
        let scale = self.at(tau).best_scale();
        let pareto = Pareto {
            scale,
            shape: tau * scale,
        };
        (scale > 0.0 && log_likelihood.is_finite()).then_some(Fit {
            pareto,
            log_likelihood,
        })
    }
}

/// (Σ ln(1 + τy)/τ, Σ ln(1 + τy)). A fit spends most of its time on logarithms: takes that of eight factors
/// at once if none is close to 1.
fn sum_of_logs(values: &[f64], largest: f64, tau: f64) -> (f64, f64) {
    if tau == 0.0 {
        return (values.iter().sum(), 0.0);
    }
    if tau * largest <= -1.0 {
        return (f64::INFINITY, f64::NEG_INFINITY);
    }
    let logs: f64 = if (tau * largest).abs() < 1e-3 {
        values.iter().map(|value| (tau * value).ln_1p()).sum()
    } else {
        let product = |eight: &[f64]| -> f64 { eight.iter().map(|y| 1.0 + tau * y).product() };
        values.chunks(8).map(|eight| product(eight).ln()).sum()
    };
    (logs / tau, logs)
}

/// The excesses after ln(1 + τy)/τ.
pub(crate) enum AtRatio {
    Exact { count: f64, sum: f64, jacobian: f64 },
    Rounded(Intervals),
}

impl AtRatio {
    /// The scale that is likeliest with τ held.
    pub(crate) fn best_scale(&self) -> f64 {
        match self {
            Self::Exact { count, sum, .. } => sum / count,
            Self::Rounded(intervals) => intervals.best_scale(),
        }
    }

    /// Log-likelihood of the excesses with this scale, τ held.
    pub(crate) fn log_likelihood(&self, scale: f64) -> f64 {
        if scale.is_nan() || scale <= 0.0 {
            return f64::NEG_INFINITY;
        }
        match self {
            Self::Exact {
                count,
                sum,
                jacobian,
            } => {
                if sum.is_finite() {
                    -count * scale.ln() - jacobian - sum / scale
                } else {
                    f64::NEG_INFINITY
                }
            }
            Self::Rounded(intervals) => intervals.log_likelihood(scale),
        }
    }
}

/// Each value once, ascending, with how often it occurs.
fn sorted_counts(values: &[f64]) -> Vec<(f64, u64)> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let same = sorted.chunk_by(|a, b| a == b);
    same.map(|same| (same[0], same.len() as u64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::{PARETO_FITS, PARETO_SAMPLES};
    use crate::random::Random;

    #[test]
    fn fits_agree_with_scipys_maximum_likelihood() {
        for ([shape, scale, negative], sample) in PARETO_FITS.iter().zip(PARETO_SAMPLES) {
            let fit = Excesses::new(&sample, None).fit().unwrap();
            assert!((fit.pareto.shape - shape).abs() < 2e-5, "{fit:?} {shape}");
            assert!(
                (fit.pareto.scale - scale).abs() < 2e-5 * scale,
                "{fit:?} {scale}"
            );
            assert!(
                (-fit.log_likelihood - negative).abs() < 1e-7,
                "{fit:?} {negative}"
            );
        }
    }

    #[test]
    fn finely_rounded_values_fit_as_exact_ones_and_coarse_ones_keep_the_shape() {
        let truth = Pareto {
            scale: 1000.0,
            shape: 0.15,
        };
        let mut random = Random::stream(3, 0);
        let values: Vec<f64> = (0..2000).map(|_| truth.draw(&mut random)).collect();
        let exact = Excesses::new(&values, None).fit().unwrap().pareto;
        for (step, near) in [(1.0, 2e-4), (400.0, 0.03)] {
            let rounded: Vec<f64> = values
                .iter()
                .map(|value| ((value / step).floor() + 0.5) * step)
                .collect();
            let fit = Excesses::new(&rounded, Some(step)).fit().unwrap().pareto;
            assert!(
                (fit.shape - exact.shape).abs() < near,
                "{step}: {fit:?} {exact:?}"
            );
            assert!(
                (fit.scale / exact.scale - 1.0).abs() < near,
                "{step}: {fit:?} {exact:?}"
            );
        }
    }

    #[test]
    fn too_little_is_not_fitted() {
        assert_eq!(Excesses::new(&[], None).fit(), None);
        assert_eq!(Excesses::new(&[3.0], None).fit(), None);
        assert_eq!(Excesses::new(&[0.0; 9], None).fit(), None);
    }
}
