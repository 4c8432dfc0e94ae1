//! Ratios of paired runs: median, spread, and the conclusion given the noise between rounds.
//!
//! Pure; assumes nothing about the distribution of the noise.

/// Ratios of one figure, one for each round.
#[derive(Debug, Clone, PartialEq)]
pub struct Ratios(Vec<f64>);

/// Result for a ratio that should be 1 or less.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Even the upper end of the interval is at most 1.
    NotSlower,
    /// The interval contains 1: the rounds don't show a difference.
    WithinNoise,
    /// Even the lower end is above 1.
    Slower,
    /// Too few rounds for any interval.
    TooFew,
}

impl Standing {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotSlower => "not slower",
            Self::WithinNoise => "no difference beyond the noise",
            Self::Slower => "SLOWER",
            Self::TooFew => "too few rounds to tell",
        }
    }
}

impl Ratios {
    /// From ratios; those that aren't finite are left out.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values
            .into_iter()
            .filter(|value| value.is_finite())
            .collect();
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The middle one, or the mean of the middle two.
    pub fn median(&self) -> Option<f64> {
        let half = self.0.len() / 2;
        match (self.0.len(), self.0.len() % 2) {
            (0, _) => None,
            (_, 0) => Some(f64::midpoint(self.0[half - 1], self.0[half])),
            _ => Some(self.0[half]),
        }
    }

    /// Smallest and largest.
    pub fn spread(&self) -> Option<(f64, f64)> {
        Some((*self.0.first()?, *self.0.last()?))
    }

    /// An interval that covers the true median with at least 95 % confidence: from the k-th
    /// smallest to the k-th largest, k as large as the binomial distribution allows (the sign
    /// test turned round; Conover, Practical Nonparametric Statistics, section 3.2). It needs six
    /// rounds.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let rounds = self.0.len();
        // Each round is below the true median with probability 1/2.
        let mut below = 0.0;
        let mut term = 0.5_f64.powi(i32::try_from(rounds).ok()?);
        let mut kept = 0;
        for count in 0..rounds / 2 {
            below += term;
            if 2.0 * below > 0.05 {
                break;
            }
            kept = count + 1;
            term *= (rounds - count) as f64 / (count + 1) as f64;
        }
        (kept > 0).then(|| (self.0[kept - 1], self.0[rounds - kept]))
    }

    /// Whether the ratio is at most 1, as far as the rounds show.
    pub fn standing(&self) -> Standing {
        match self.interval() {
            None => Standing::TooFew,
            Some((_, high)) if high <= 1.0 => Standing::NotSlower,
            Some((low, _)) if low > 1.0 => Standing::Slower,
            Some(_) => Standing::WithinNoise,
        }
    }

    /// `0.97 (0.91 … 1.08)`: the median with the spread over the rounds.
    pub fn shown(&self) -> String {
        match (self.median(), self.spread()) {
            (Some(median), Some((low, high))) => format!("{median:.2} ({low:.2} … {high:.2})"),
            _ => "not measured".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_the_textbooks() {
        let of = |rounds: u32| Ratios::new((1..=rounds).map(f64::from)).interval();
        // Two-sided 95 % ranks for the median, as tabled for the sign test.
        assert_eq!(of(5), None);
        assert_eq!(of(6), Some((1.0, 6.0)));
        assert_eq!(of(8), Some((1.0, 8.0)));
        assert_eq!(of(9), Some((2.0, 8.0)));
        assert_eq!(of(10), Some((2.0, 9.0)));
        assert_eq!(of(20), Some((6.0, 15.0)));
    }

    #[test]
    fn a_standing_needs_rounds_and_an_interval_on_one_side() {
        assert_eq!(Ratios::new([0.5; 4]).standing(), Standing::TooFew);
        assert_eq!(Ratios::new([0.9; 10]).standing(), Standing::NotSlower);
        assert_eq!(Ratios::new([1.1; 10]).standing(), Standing::Slower);
        let mixed = Ratios::new([0.9, 1.1, 0.8, 1.2, 0.9, 1.1, 1.0, 1.3]);
        assert_eq!(mixed.standing(), Standing::WithinNoise);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(Ratios::new([4.0, 1.0, 2.0, 3.0]).median(), Some(2.5));
        assert_eq!(Ratios::new([f64::NAN, 1.0]).median(), Some(1.0));
        assert_eq!(Ratios::new([]).shown(), "not measured");
    }
}
