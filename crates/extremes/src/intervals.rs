//! Excesses known to a rounding only, after ln(1 + τy)/τ with τ = ξ/σ held: exponential of mean σ, each
//! between two ends. Which τ is likeliest is looked for in `likelihood`.

use crate::likelihood::{Rounded, TOLERANCE};
use crate::pareto::log_ratio;
use crate::search::largest;

/// Intervals narrower than this share of the mean count by their sums,
const NARROW: f64 = 0.04;
/// at scales at which they are within this: the terms left out are then below 10⁻⁹ for each value.
const NARROW_ENOUGH: f64 = 0.2;

/// The intervals, those that are narrow added up: with w the width over the scale,
/// ln(1 − e^{−w}) = ln w − w/2 + w²/24 − w⁴/2880 + …, so that a new scale costs no logarithm for
/// each of them.
pub(crate) struct Intervals {
    narrow: Vec<Rounded>,
    wide: Vec<Rounded>,
    sums: Sums,
    /// Mean of the middles, near the likeliest scale.
    mean: f64,
}

/// Over narrow intervals, by how often each occurs.
#[derive(Default)]
struct Sums {
    count: f64,
    /// Of the middles,
    middles: f64,
    /// of the logarithms of the widths,
    logarithms: f64,
    /// of their squares
    squares: f64,
    /// and fourth powers.
    fourths: f64,
    widest: f64,
}

impl Intervals {
    /// Of excesses with τ held.
    pub(crate) fn new(values: &[Rounded], tau: f64) -> Self {
        let wide: Vec<Rounded> = values.iter().map(|value| transformed(value, tau)).collect();
        let (mut sum, mut count) = (0.0, 0.0);
        for value in &wide {
            let high = if value.high.is_finite() {
                value.high
            } else {
                value.low
            };
            sum += value.count * f64::midpoint(value.low, high);
            count += value.count;
        }
        let mut found = Self {
            narrow: Vec::new(),
            wide,
            sums: Sums::default(),
            mean: sum / count,
        };
        let limit = NARROW * found.mean;
        let is_narrow = |value: &Rounded| value.high - value.low < limit;
        (found.narrow, found.wide) = found.wide.into_iter().partition(is_narrow);
        found.narrow.iter().for_each(|value| found.sums.add(value));
        found
    }

    /// The likeliest scale.
    pub(crate) fn best_scale(&self) -> f64 {
        let mut log_likelihood = |log: f64| self.log_likelihood(log.exp());
        largest(&mut log_likelihood, self.mean.ln(), 0.05, TOLERANCE)
            .map_or(self.mean, |found| found.0.exp())
    }

    /// Log-likelihood with a scale above 0.
    pub(crate) fn log_likelihood(&self, scale: f64) -> f64 {
        let each = |values: &[Rounded]| -> f64 { values.iter().map(|v| exact(v, scale)).sum() };
        let narrow = if self.sums.widest < NARROW_ENOUGH * scale {
            self.sums.log_likelihood(scale)
        } else {
            each(&self.narrow)
        };
        narrow + each(&self.wide)
    }
}

impl Sums {
    fn add(&mut self, value: &Rounded) {
        let width = value.high - value.low;
        let square = width * width;
        self.count += value.count;
        self.middles += value.count * (value.low + width / 2.0);
        self.logarithms += value.count * width.ln();
        self.squares += value.count * square;
        self.fourths += value.count * square * square;
        self.widest = self.widest.max(width);
    }

    fn log_likelihood(&self, scale: f64) -> f64 {
        let square = scale * scale;
        self.logarithms - self.count * scale.ln() - self.middles / scale
            + self.squares / (24.0 * square)
            - self.fourths / (2880.0 * square * square)
    }
}

fn exact(value: &Rounded, scale: f64) -> f64 {
    let width = (value.high - value.low) / scale;
    value.count * ((-(-width).exp_m1()).ln() - value.low / scale)
}

/// Both ends after ln(1 + τy)/τ, with one logarithm if they are close.
fn transformed(value: &Rounded, tau: f64) -> Rounded {
    let low = log_ratio(tau, value.low);
    let beside = 1.0 + tau * value.low;
    let step = value.high - value.low;
    let ratio = tau * step / beside;
    let high = match ratio.abs() < 1e-3 {
        // ln(1 + r)/r = 1 − r/2 + r²/3 − r³/4 + …
        true => low + step / beside * (1.0 - ratio * (0.5 - ratio * (1.0 / 3.0 - ratio / 4.0))),
        false => log_ratio(tau, value.high),
    };
    Rounded {
        low,
        high,
        ..*value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_say_what_each_interval_says() {
        for step in [1.0, 10.0, 60.0, 300.0] {
            let values: Vec<Rounded> = (0_u32..40)
                .map(|place| Rounded {
                    low: f64::from(place) * step,
                    high: f64::from(place + 1) * step,
                    count: f64::from(41 - place),
                })
                .collect();
            let reach = values[39].high;
            for tau in [
                -0.999 / reach,
                -0.3 / reach,
                0.0,
                1e-12,
                0.5 / reach,
                20.0 / reach,
            ] {
                let intervals = Intervals::new(&values, tau);
                for scale in [0.3, 1.0, 2.5].map(|times| times * intervals.mean) {
                    let expected: f64 = values
                        .iter()
                        .map(|value| {
                            let at = |end: f64| log_ratio(tau, end);
                            let (low, high) = (at(value.low), at(value.high));
                            exact(
                                &Rounded {
                                    low,
                                    high,
                                    ..*value
                                },
                                scale,
                            )
                        })
                        .sum();
                    let found = intervals.log_likelihood(scale);
                    assert!(
                        (found - expected).abs() < 1e-6,
                        "{step} {tau} {scale}: {found} {expected}"
                    );
                }
            }
        }
    }
}
