//! Effect of a step, from pairs of measurements without and with it.
//!
//! Pure.

use serde::Serialize;
use wakepath_statistics::student_t_quantile;

/// The mean difference, with − without, and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Effect {
    /// Mean of the differences, in the figure's unit.
    pub mean: f64,
    /// Two-sided interval of the mean by Student's t over the pairs; none for one pair.
    pub interval: Option<(f64, f64)>,
}

/// Conclusion for a figure of which less is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The whole interval is below 0.
    Helps,
    /// The whole interval is above 0.
    Hurts,
    /// The interval contains 0, or there is none.
    NotShown,
}

impl Finding {
    /// As printed.
    pub fn words(self) -> &'static str {
        match self {
            Self::Helps => "helps",
            Self::Hurts => "hurts",
            Self::NotShown => "no effect shown",
        }
    }
}

impl Effect {
    /// The effect from (without, with) pairs, each measured in succession; none without pairs. Each
    /// pair is one observation, so slow drift affects both halves alike. `figures` is the number of
    /// intervals reported together: each is widened so that all of them hold with 95 %
    /// (Bonferroni).
    pub fn new(pairs: &[(f64, f64)], figures: usize) -> Option<Self> {
        if pairs.is_empty() {
            return None;
        }
        let count = pairs.len() as f64;
        let differences = pairs.iter().map(|(without, with)| with - without);
        let mean = differences.clone().sum::<f64>() / count;
        let interval = (pairs.len() > 1).then(|| {
            let squares: f64 = differences.map(|value| (value - mean).powi(2)).sum();
            let error = (squares / (count - 1.0) / count).sqrt();
            let reach =
                student_t_quantile(1.0 - 0.025 / figures.max(1) as f64, count - 1.0) * error;
            (mean - reach, mean + reach)
        });
        Some(Self { mean, interval })
    }

    /// The conclusion.
    pub fn finding(&self) -> Finding {
        match self.interval {
            Some((_, high)) if high < 0.0 => Finding::Helps,
            Some((low, _)) if low > 0.0 => Finding::Hurts,
            _ => Finding::NotShown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_that_of_a_paired_t_test() {
        // Differences −1, −2, −3: mean −2, standard deviation 1, t(0.975; 2) = 4.302653.
        let effect = Effect::new(&[(5.0, 4.0), (5.0, 3.0), (5.0, 2.0)], 1).unwrap();
        let (low, high) = effect.interval.unwrap();
        assert!((effect.mean + 2.0).abs() < 1e-12);
        assert!(
            (low - (-2.0 - 4.302_653 / 3f64.sqrt())).abs() < 1e-5,
            "{low}"
        );
        assert!(
            (high - (-2.0 + 4.302_653 / 3f64.sqrt())).abs() < 1e-5,
            "{high}"
        );
        assert_eq!(effect.finding(), Finding::NotShown);
        // Ten figures side by side: t(0.9975; 2) = 14.08905.
        let ten = Effect::new(&[(5.0, 4.0), (5.0, 3.0), (5.0, 2.0)], 10).unwrap();
        let (low, _) = ten.interval.unwrap();
        assert!(
            (low - (-2.0 - 14.089_05 / 3f64.sqrt())).abs() < 1e-4,
            "{low}"
        );
    }

    #[test]
    fn a_steady_improvement_helps_and_one_pair_shows_nothing() {
        let helps = Effect::new(&[(9.0, 4.0), (9.1, 4.0), (9.0, 4.1)], 2).unwrap();
        assert_eq!(helps.finding(), Finding::Helps);
        let hurts = Effect::new(&[(4.0, 9.0), (4.0, 9.1), (4.1, 9.0)], 2).unwrap();
        assert_eq!(hurts.finding(), Finding::Hurts);
        let one = Effect::new(&[(9.0, 1.0)], 2).unwrap();
        assert_eq!((one.interval, one.finding()), (None, Finding::NotShown));
        assert_eq!(Effect::new(&[], 1), None);
    }
}
