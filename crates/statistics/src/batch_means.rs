//! An interval for the mean of a correlated series: batches long enough to be nearly independent
//! of each other, and Student's t over their means. A fixed number of batches, so that they get longer
//! with the series: between 10 and 30 little is gained by choosing (Schmeiser 1982), and where the
//! batches are still too short, `batch_correlation` shows it.

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
    fn too_few_values_give_no_interval() {
        assert_eq!(batch_mean_interval(&[1, 2, 3], 4, 0.99), None);
        assert_eq!(batch_mean_interval(&[1, 2, 3], 1, 0.99), None);
        assert_eq!(batch_mean_interval(&[1, 2, 3], 0, 0.99), None);
        let constant = batch_mean_interval(&[5; 100], 10, 0.99).unwrap();
        assert_eq!((constant.mean, constant.half_width), (5.0, 0.0));
    }
}
