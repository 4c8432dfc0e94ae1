//! The loop of one axis as a sampled system with zero-order hold and a constant delay, exactly.
//!
//! Its state has the states of the chain, and the commands that have not arrived yet.

use super::Chain;

/// Motor lag and integrators: state 0 is the lagged input, state n its n-fold integral.
/// `transition[i][j]` and `input[i]` over one span of time.
pub(super) struct Span {
    pub(super) transition: Vec<Vec<f64>>,
    pub(super) input: Vec<f64>,
}

/// The chain's exact motion over `t` seconds. With e = exp(−t/τ) every entry is closed:
/// the n-fold integral of exp(−t/τ) is (−τ)ⁿ [e − Σ_{m<n} (−t/τ)^m/m!], of a constant tⁿ/n!.
pub(super) fn span(chain: &Chain, t: f64) -> Span {
    let size = chain.gains.len() + 1;
    let power = |n: usize| (1..=n).fold(1.0, |product, m| product * t / m as f64);
    // φ_n: the n-fold integral of exp(−t/τ), as its series, which cancels nothing while t ≲ τ;
    // otherwise by the closed form.
    let decay = |n: usize| -> f64 {
        let x = -t / chain.lag;
        if x.abs() < 1.0 {
            let (mut term, mut sum) = (power(n), 0.0);
            for m in 0..40 {
                sum += term;
                term *= x / (n + m + 1) as f64;
            }
            sum
        } else {
            let partial: f64 = (0..n)
                .map(|m| (1..=m).fold(1.0, |product, k| product * x / k as f64))
                .sum();
            (-chain.lag).powi(n as i32) * (x.exp() - partial)
        }
    };
    let mut transition = vec![vec![0.0; size]; size];
    let mut input = vec![0.0; size];
    for (row, entries) in transition.iter_mut().enumerate() {
        entries[0] = decay(row);
        for (column, entry) in entries.iter_mut().enumerate().take(row + 1).skip(1) {
            *entry = power(row - column);
        }
        // A constant input's response is the part of the constant that has not decayed.
        input[row] = power(row) - decay(row);
    }
    Span { transition, input }
}

/// Γ₀ and Γ₁: contributions of the new and the old command to the next state, if the new one
/// arrives `delay` into the period: the old command acts for `delay`, the new one for the rest.
pub(super) fn split_input(chain: &Chain, period: f64, delay: f64) -> (Vec<f64>, Vec<f64>) {
    let (first, rest) = (span(chain, delay), span(chain, period - delay));
    let old = (0..first.input.len())
        .map(|row| {
            rest.transition[row]
                .iter()
                .zip(&first.input)
                .map(|(a, b)| a * b)
                .sum()
        })
        .collect();
    (rest.input, old)
}

/// Whether the closed loop decays: spectral radius below 1, by repeated squaring.
pub(super) fn is_stable(chain: &Chain, period_ns: u64, delay_ns: u64) -> bool {
    // The spectral radius is lim ‖Mᵏ‖^{1/k}; 2⁴⁴ periods distinguish a radius of 1 + 1e-12 from one
    // below 1, and decay or growth is certain once the norm has left the range of doubt.
    let mut power = closed_loop(chain, period_ns, delay_ns);
    let mut log_scale = 0.0_f64;
    for _ in 0..44 {
        power = multiply(&power, &power);
        let norm = power
            .iter()
            .flatten()
            .fold(0.0_f64, |max, x| max.max(x.abs()));
        if norm == 0.0 {
            return true;
        }
        if !norm.is_finite() {
            return false;
        }
        power.iter_mut().flatten().for_each(|x| *x /= norm);
        log_scale = 2.0 * log_scale + norm.ln();
        if log_scale.abs() > 200.0 {
            break;
        }
    }
    log_scale < 0.0
}

/// x_{k+1} = Φx_k + Γ₁u_{k−d−1} + Γ₀u_{k−d} with u_k = −Kx_k and delay = d·period + rest.
fn closed_loop(chain: &Chain, period_ns: u64, delay_ns: u64) -> Vec<Vec<f64>> {
    let period = period_ns as f64 * 1e-9;
    let whole = (delay_ns / period_ns) as usize;
    let rest = (delay_ns % period_ns) as f64 * 1e-9;
    let states = chain.gains.len() + 1;
    let (new, old) = split_input(chain, period, rest);
    let mut feedback = vec![0.0; states];
    for (n, gain) in chain.gains.iter().enumerate() {
        feedback[states - 1 - n] = -gain;
    }
    let size = states + whole + 1;
    let mut matrix = vec![vec![0.0; size]; size];
    for (row, entries) in span(chain, period).transition.into_iter().enumerate() {
        matrix[row][..states].copy_from_slice(&entries);
        matrix[row][states + whole] += old[row];
        if whole == 0 {
            (0..states).for_each(|column| matrix[row][column] += new[row] * feedback[column]);
        } else {
            matrix[row][states + whole - 1] += new[row];
        }
    }
    matrix[states][..states].copy_from_slice(&feedback);
    for n in 1..=whole {
        matrix[states + n][states + n - 1] = 1.0;
    }
    matrix
}

fn multiply(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut product = vec![vec![0.0; a.len()]; a.len()];
    for (out, row) in product.iter_mut().zip(a) {
        for (factor, other) in row.iter().zip(b) {
            if *factor != 0.0 {
                out.iter_mut()
                    .zip(other)
                    .for_each(|(sum, x)| *sum += factor * x);
            }
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_spans_in_a_row_are_one_of_their_sum_for_short_and_long_lags() {
        for lag in [1e-3, 4e-3, 0.072] {
            let chain = Chain {
                lag,
                gains: vec![1.0; 4],
            };
            let (a, b, both) = (
                span(&chain, 1.5e-3),
                span(&chain, 2.5e-3),
                span(&chain, 4e-3),
            );
            let product = multiply(&b.transition, &a.transition);
            for (got, wanted) in product
                .iter()
                .flatten()
                .zip(both.transition.iter().flatten())
            {
                assert!((got - wanted).abs() < 1e-12, "{lag} {got} {wanted}");
            }
            for row in 0..5 {
                let input: f64 = b.input[row]
                    + (0..5)
                        .map(|n| b.transition[row][n] * a.input[n])
                        .sum::<f64>();
                assert!((input - both.input[row]).abs() < 1e-12);
            }
        }
    }
}
