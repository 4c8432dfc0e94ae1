//! An interval for the mean of a correlated series: batches long enough to be nearly independent
//! of each other, and Student's t over their means. A fixed number of batches, so that they get longer
//! with the series: between 10 and 30 little is gained by choosing (Schmeiser 1982). With 20, intervals
//! at 99 % hold in 98 to 99.5 % of simulated AR(1) series with φ = 0 to 0.9 from 1000 values on, and with
//! φ = 0.99 from 10 000 on. Where batches are too short, `batch_correlation` shows it: it is above 0.3 in
//! 94 % of series of 1000 values with φ = 0.99, whose intervals hold in 78 %.

use crate::student_t_quantile;

/// A mean with the half-width of its confidence interval, in the series' unit.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct MeanInterval {
    /// Mean over the values used.
    pub mean: f64,
    /// Half-width of the two-sided interval.
    pub half_width: f64,
    /// Confidence, such as 0.99.
    pub confidence: f64,
    /// Number of batches.
    pub batches: u32,
    /// Values in each batch.
    pub batch_size: u64,
    /// Correlation of neighbouring batch means. Far from 0 (more than about 0.3) the batches are
    /// too short and the interval is too narrow.
    pub batch_correlation: f64,
}

/// The mean of `series` from `batches` equal batches in order; values left over at the start are
/// left out. Half-width t_{B−1} · s / √B with s the standard deviation of the batch means.
/// `None` with fewer than two batches or fewer values than batches.
pub fn batch_mean_interval(series: &[i64], batches: u32, confidence: f64) -> Option<MeanInterval> {
    let size = series.len().checked_div(batches as usize)?;
    if batches < 2 || size == 0 {
        return None;
    }
    let used = &series[series.len() - size * batches as usize..];
    let means: Vec<f64> = used
        .chunks_exact(size)
        .map(|batch| {
            batch.iter().map(|&value| i128::from(value)).sum::<i128>() as f64 / size as f64
        })
        .collect();
    let count = f64::from(batches);
    let mean = means.iter().sum::<f64>() / count;
    let variance = means
        .iter()
        .map(|value| (value - mean).powi(2))
        .sum::<f64>()
        / (count - 1.0);
    let t = student_t_quantile(1.0 - (1.0 - confidence) / 2.0, count - 1.0);
    Some(MeanInterval {
        mean,
        half_width: t * (variance / count).sqrt(),
        confidence,
        batches,
        batch_size: size as u64,
        batch_correlation: crate::correlation::first_autocorrelation(&means).unwrap_or(0.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scipy_figures::{BATCH_MEANS, SERIES};

    #[test]
    fn the_interval_agrees_with_scipy() {
        let series: Vec<i64> = SERIES.iter().map(|&value| value as i64).collect();
        let found = batch_mean_interval(&series, 20, 0.99).unwrap();
        let [(mean, half_width)] = BATCH_MEANS;
        assert!((found.mean - mean).abs() < 1e-9 * mean);
        assert!((found.half_width - half_width).abs() < 1e-9 * half_width);
        assert_eq!(found.batch_size, 20);
    }

    #[test]
    fn intervals_hold_under_dependence_or_batches_show_that_they_are_too_short() {
        const RUNS: u32 = 300;
        let mut random = crate::SplitMix::from_state(7);
        let mut normal = || {
            let radius = (-2.0 * random.unit().ln()).sqrt();
            radius * (2.0 * std::f64::consts::PI * random.unit()).cos()
        };
        for (length, phi) in [(1000, 0.0), (1000, 0.9), (10_000, 0.99), (1000, 0.99)] {
            let (mut held, mut short) = (0, 0);
            for _ in 0..RUNS {
                let mut value = normal();
                let series: Vec<i64> = std::iter::repeat_with(|| {
                    value = phi * value + f64::sqrt(1.0 - phi * phi) * normal();
                    (value * 1e6) as i64
                })
                .take(length)
                .collect();
                let found = batch_mean_interval(&series, 20, 0.99).unwrap();
                held += u32::from(found.mean.abs() <= found.half_width);
                short += u32::from(found.batch_correlation > 0.3);
            }
            // 99 % and 1 % for batches that are not quite independent, less three standard deviations.
            assert!(
                held >= 287 || short >= 270,
                "{length} {phi}: {held} {short}"
            );
        }
    }

    #[test]
    fn too_few_values_give_no_interval() {
        assert_eq!(batch_mean_interval(&[1, 2, 3], 4, 0.99), None);
        assert_eq!(batch_mean_interval(&[1, 2, 3], 1, 0.99), None);
        assert_eq!(batch_mean_interval(&[1, 2, 3], 0, 0.99), None);
        let constant = batch_mean_interval(&[5; 100], 10, 0.99).unwrap();
        assert_eq!((constant.mean, constant.half_width), (5.0, 0.0));
    }
}
