//! Serial correlation of a series: whether neighbouring values are related.

/// The autocorrelation ρ_1 of a series, with the usual divisor of n. `None` for fewer than two
/// values, or a series that is constant.
pub(crate) fn first_autocorrelation(series: &[f64]) -> Option<f64> {
    if series.len() < 2 {
        return None;
    }
    let mean = series.iter().sum::<f64>() / series.len() as f64;
    let variance: f64 = series.iter().map(|value| (value - mean).powi(2)).sum();
    if variance.is_nan() || variance <= 0.0 {
        return None;
    }
    let neighbours = series.windows(2);
    let together: f64 = neighbours
        .map(|two| (two[0] - mean) * (two[1] - mean))
        .sum();
    Some(together / variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scipy_figures::{FIRST_CORRELATIONS, NOISE, SERIES};

    #[test]
    fn it_agrees_with_numpy() {
        for (values, expected) in [&SERIES, &NOISE].into_iter().zip(FIRST_CORRELATIONS) {
            let found = first_autocorrelation(values).unwrap();
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn a_constant_series_has_none() {
        assert_eq!(first_autocorrelation(&[1.0; 50]), None);
        assert_eq!(first_autocorrelation(&[1.0]), None);
    }
}
