//! Serial correlation of a series: how much less it says than as many independent values would.

use crate::special::gamma_upper_tail;

/// The Ljung–Box test of a series for serial correlation. At millions of values every test
/// rejects, so the largest correlation is the figure to look at.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LjungBox {
    /// Number of lags taken.
    pub lags: u32,
    /// Q = n(n+2) Σ ρ_k² / (n − k).
    pub statistic: f64,
    /// Probability of at least as large a Q without correlation, from χ² with `lags` degrees.
    pub p_value: f64,
    /// The autocorrelation of largest magnitude: the size of the effect.
    pub largest_correlation: f64,
    /// The lag at which it stands.
    pub at_lag: u32,
}

/// Autocorrelations ρ_1 … ρ_lags of a series, with the usual divisor of n in all of them. `None`
/// for a series not longer than `lags`, or one that is constant.
pub fn autocorrelations(series: &[f64], lags: usize) -> Option<Vec<f64>> {
    if series.len() <= lags.max(1) {
        return None;
    }
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let centred: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let variance: f64 = centred.iter().map(|value| value * value).sum();
    if variance.is_nan() || variance <= 0.0 {
        return None;
    }
    let at = |lag: usize| {
        centred
            .iter()
            .zip(&centred[lag..])
            .map(|(a, b)| a * b)
            .sum::<f64>()
    };
    Some((1..=lags).map(|lag| at(lag) / variance).collect())
}

/// Ljung & Box (1978) over the first `lags` autocorrelations. `None` as for
/// [`autocorrelations`], or with no lags.
pub fn ljung_box(series: &[f64], lags: usize) -> Option<LjungBox> {
    let correlations = autocorrelations(series, lags)?;
    let count = series.len() as f64;
    let sum: f64 = correlations
        .iter()
        .zip(1_u32..)
        .map(|(rho, lag)| rho * rho / (count - f64::from(lag)))
        .sum();
    let statistic = count * (count + 2.0) * sum;
    let (at_lag, largest) = (1_u32..)
        .zip(&correlations)
        .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
    Some(LjungBox {
        lags: correlations.len() as u32,
        statistic,
        p_value: gamma_upper_tail(correlations.len() as f64 / 2.0, statistic / 2.0),
        largest_correlation: *largest,
        at_lag,
    })
}

/// How many independent values the mean of the series is worth: n / (1 + 2 Σ ρ_k), summed over
/// pairs of lags as long as they are positive (Geyer 1992, initial positive sequence), never more
/// than n. Takes up to 1000 lags. A constant series is worth n; an empty one 0.
pub fn effective_count_for_mean(series: &[f64]) -> f64 {
    const LAGS: usize = 1000;
    let count = series.len() as f64;
    let Some(correlations) = autocorrelations(series, LAGS.min(series.len() / 2)) else {
        return count;
    };
    // Geyer's pairs are (ρ_0 + ρ_1), (ρ_2 + ρ_3), …
    let with_zero: Vec<f64> = std::iter::once(1.0).chain(correlations).collect();
    let pairs = with_zero.chunks_exact(2).map(|pair| pair[0] + pair[1]);
    let sum: f64 = pairs.take_while(|&pair| pair > 0.0).sum();
    (count / (2.0 * sum - 1.0).max(1.0)).min(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scipy_figures::{LJUNG_BOX, NOISE, SERIES};

    #[test]
    fn ljung_box_agrees_with_scipy() {
        let series: [&[f64]; 3] = [&SERIES, &NOISE, &NOISE];
        for (values, (lags, first, statistic, p)) in series.into_iter().zip(LJUNG_BOX) {
            let found = ljung_box(values, lags as usize).unwrap();
            assert!((found.statistic - statistic).abs() < 1e-9 * statistic);
            assert!(
                (found.p_value - p).abs() < 1e-9 * p,
                "{} {p}",
                found.p_value
            );
            assert!((autocorrelations(values, 1).unwrap()[0] - first).abs() < 1e-12);
        }
        let found = ljung_box(&SERIES, 10).unwrap();
        assert_eq!(found.at_lag, 1);
        assert_eq!(
            found.largest_correlation,
            autocorrelations(&SERIES, 1).unwrap()[0]
        );
    }

    #[test]
    fn a_correlated_series_is_worth_fewer_values() {
        // Coefficient 0.5: n (1 − 0.5) / (1 + 0.5) = n / 3 in the long run.
        let worth = effective_count_for_mean(&SERIES);
        assert!((100.0..180.0).contains(&worth), "{worth}");
        let noise = effective_count_for_mean(&NOISE);
        assert!((300.0..=400.0).contains(&noise), "{noise}");
    }

    #[test]
    fn an_alternating_series_is_not_worth_more_than_its_length() {
        let series: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        assert_eq!(effective_count_for_mean(&series), 100.0);
        assert_eq!(effective_count_for_mean(&[]), 0.0);
        assert_eq!(autocorrelations(&[1.0; 50], 5), None);
    }
}
