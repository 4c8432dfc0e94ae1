//! Jitter margin by Kao and Lincoln's criterion: every delay in [L, L + J] is tolerated if for all
//! θ in (0, π]: P_alias(θ)|K| / |1 + P_ZOH(e^{iθ})K| < 1/(Ñ|e^{iθ} − 1|), with
//! P_alias = √Σ_k |P(i(θ + 2πk)/h)|², L folded into P_ZOH, N = J/h,
//! Ñ² = ⌊N⌋² + 2⌊N⌋g + g, g = N − ⌊N⌋. Here P·K is the loop broken at one input.

use super::sampled::{span, split_input};
use super::{Chain, Complex};

/// Frequencies of the first search; the neighbourhood of the smallest is searched again.
const GRID: usize = 4000;
/// Aliases on each side: |G| falls at least with the square of frequency, so the omitted ones add
/// less than 1e-5 of P_alias.
const ALIASES: i32 = 40;

/// J_m(L) in ns; the loop must be stable at the constant delay L.
pub(super) fn margin_ns(chain: &Chain, period_ns: u64, delay_ns: u64) -> u64 {
    let response = Sampled::new(chain, period_ns, delay_ns);
    let lowest = 1e-5_f64.ln();
    let spacing = (std::f64::consts::PI.ln() - lowest) / (GRID - 1) as f64;
    let bound = |x: f64| response.bound(x.exp().min(std::f64::consts::PI));
    let mut best = (f64::INFINITY, lowest);
    for n in 0..GRID {
        let x = lowest + spacing * n as f64;
        let value = bound(x);
        if value < best.0 {
            best = (value, x);
        }
    }
    // Golden section around the smallest, because a minimum over a grid would overstate the margin.
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (best.1 - spacing, best.1 + spacing);
    for _ in 0..50 {
        let (a, b) = (high - golden * (high - low), low + golden * (high - low));
        let (value_a, value_b) = (bound(a), bound(b));
        best.0 = best.0.min(value_a).min(value_b);
        if value_a < value_b { high = b } else { low = a }
    }
    (periods_for(best.0) * period_ns as f64) as u64
}

/// N for which Ñ = bound: Ñ² is linear in the fraction g between whole N.
fn periods_for(bound: f64) -> f64 {
    let whole = bound.floor();
    whole + (bound * bound - whole * whole) / (2.0 * whole + 1.0)
}

struct Sampled<'a> {
    chain: &'a Chain,
    period: f64,
    whole: u64,
    transition: Vec<Vec<f64>>,
    new: Vec<f64>,
    old: Vec<f64>,
}

impl<'a> Sampled<'a> {
    fn new(chain: &'a Chain, period_ns: u64, delay_ns: u64) -> Self {
        let period = period_ns as f64 * 1e-9;
        let (new, old) = split_input(chain, period, (delay_ns % period_ns) as f64 * 1e-9);
        let transition = span(chain, period).transition;
        Self {
            chain,
            period,
            whole: delay_ns / period_ns,
            transition,
            new,
            old,
        }
    }

    /// |1 + P_ZOH K| / (P_alias |K| |e^{iθ} − 1|): the largest Ñ allowed at θ.
    fn bound(&self, theta: f64) -> f64 {
        let z = Complex::unit(theta);
        let alias: f64 = (-ALIASES..=ALIASES)
            .map(|k| {
                let omega = (theta + std::f64::consts::TAU * f64::from(k)) / self.period;
                self.chain.transfer(Complex::new(0.0, omega)).size_squared()
            })
            .sum();
        let around = (Complex::ONE + self.held(z)).size();
        around / (alias.sqrt() * (z - Complex::ONE).size())
    }

    /// P_ZOH(z) K: the chain's sampled response with the delay in it. The transition is lower
    /// triangular, so (zI − Φ)x = Γ₀z^{−d} + Γ₁z^{−d−1} is solved from the top.
    fn held(&self, z: Complex) -> Complex {
        let late = (0..self.whole).fold(Complex::ONE, |product, _| product / z);
        let later = late / z;
        let size = self.new.len();
        let mut state = vec![Complex::ZERO; size];
        for row in 0..size {
            let real = |x: f64| Complex::new(x, 0.0);
            let mut sum = late * real(self.new[row]) + later * real(self.old[row]);
            for (column, known) in state.iter().enumerate().take(row) {
                sum = sum + *known * real(self.transition[row][column]);
            }
            state[row] = sum / (z - real(self.transition[row][row]));
        }
        self.chain
            .gains
            .iter()
            .zip(state.iter().rev())
            .fold(Complex::ZERO, |sum, (gain, x)| {
                sum + *x * Complex::new(*gain, 0.0)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_of_periods_are_their_own_bound() {
        for n in 1..6 {
            assert!((periods_for(f64::from(n)) - f64::from(n)).abs() < 1e-12);
        }
        // Below one period Ñ² = g.
        assert!((periods_for(0.5) - 0.25).abs() < 1e-15);
    }
}
