//! The next rate to try: a bisection on a logarithmic scale between a rate that was kept and one
//! that was not. Pure: the results of rates are arguments.

/// Result of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Became {
    /// It passed.
    Kept,
    /// It failed, or too little showed that it passes: it is not counted as kept.
    NotKept,
}

/// A search under way. Rates are whole hertz.
#[derive(Debug, Clone)]
pub struct Bisection {
    lowest: u32,
    highest: u32,
    /// Share of a rate to which the answer is found.
    precision: f64,
    kept: Option<u32>,
    lost: Option<u32>,
}

impl Bisection {
    /// Between two rates, both included.
    pub fn new(lowest: u32, highest: u32, precision: f64) -> Self {
        Self {
            lowest,
            highest,
            precision,
            kept: None,
            lost: None,
        }
    }

    /// The rate to try now; `None` where the answer is found. The ends come first: what does not
    /// lie between them needs no search.
    pub fn next(&self) -> Option<u32> {
        match (self.kept, self.lost) {
            (None, None) => Some(self.lowest),
            // Not even the lowest.
            (None, Some(_)) => None,
            (Some(kept), None) if kept >= self.highest => None,
            (Some(_), None) => Some(self.highest),
            (Some(kept), Some(lost)) => {
                let apart = f64::from(lost) / f64::from(kept);
                let middle = (f64::from(kept) * f64::from(lost)).sqrt();
                let middle = rounded(middle, kept, lost);
                (apart > 1.0 + self.precision).then_some(middle).flatten()
            }
        }
    }

    /// How many rates are still to be tried, at most: the one that is next included.
    pub fn steps_left(&self) -> u32 {
        let (low, high, ends) = match (self.kept, self.lost) {
            (None, Some(_)) => return 0,
            (None, None) => (self.lowest, self.highest, 2),
            (Some(kept), None) if kept >= self.highest => return 0,
            (Some(kept), None) => (kept, self.highest, 1),
            (Some(kept), Some(lost)) => (kept, lost, 0),
        };
        let wide = (f64::from(high) / f64::from(low)).ln() / (1.0 + self.precision).ln();
        ends + wide.max(1.0).log2().ceil() as u32
    }

    /// Takes in what became of a rate.
    pub fn tell(&mut self, rate: u32, became: Became) {
        match became {
            Became::Kept => self.kept = Some(self.kept.map_or(rate, |kept| kept.max(rate))),
            Became::NotKept => self.lost = Some(self.lost.map_or(rate, |lost| lost.min(rate))),
        }
    }

    /// The highest rate that was kept.
    pub fn kept(&self) -> Option<u32> {
        self.kept
    }

    /// The lowest that was not.
    pub fn lost(&self) -> Option<u32> {
        self.lost
    }
}

/// Two significant digits if that stays between the two, otherwise whole hertz.
fn rounded(rate: f64, above: u32, below: u32) -> Option<u32> {
    let scale = 10_f64.powf((rate.log10().floor() - 1.0).max(0.0));
    let between = |rate: f64| {
        let rate = rate.round() as u32;
        (rate > above && rate < below).then_some(rate)
    };
    between((rate / scale).round() * scale).or_else(|| between(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches on a machine that keeps all rates up to `limit`.
    fn found(lowest: u32, highest: u32, limit: u32) -> (Option<u32>, Vec<u32>) {
        let mut bisection = Bisection::new(lowest, highest, 0.05);
        let (mut tried, mut at_most) = (Vec::new(), Vec::new());
        while let Some(rate) = bisection.next() {
            assert!(!tried.contains(&rate), "{rate} twice in {tried:?}");
            assert!(bisection.steps_left() > 0, "{tried:?}");
            at_most.push(bisection.steps_left() as usize + tried.len());
            tried.push(rate);
            bisection.tell(
                rate,
                if rate <= limit {
                    Became::Kept
                } else {
                    Became::NotKept
                },
            );
        }
        // Rounding to round rates may cost one more.
        assert!(
            at_most.iter().all(|most| tried.len() <= most + 1),
            "{at_most:?}"
        );
        (bisection.kept(), tried)
    }

    #[test]
    fn the_answer_is_the_highest_rate_kept_to_the_precision() {
        for limit in [100, 137, 999, 1_000, 4_321, 19_999] {
            let (kept, tried) = found(100, 20_000, limit);
            let kept = kept.unwrap();
            assert!(
                kept <= limit && f64::from(limit) < f64::from(kept) * 1.06,
                "{limit}: {tried:?}"
            );
            // log2(log(200) / log(1.05)) is 7.
            assert!(tried.len() <= 10, "{tried:?}");
        }
    }

    #[test]
    fn the_ends_answer_where_the_rate_is_beyond_them() {
        assert_eq!(found(100, 20_000, 50), (None, vec![100]));
        assert_eq!(
            found(100, 20_000, 90_000),
            (Some(20_000), vec![100, 20_000])
        );
    }

    #[test]
    fn rates_are_round_where_there_is_room() {
        assert_eq!(rounded(1_414.2, 1_000, 2_000), Some(1_400));
        assert_eq!(rounded(1_449.6, 1_448, 1_452), Some(1_450));
        assert_eq!(rounded(10.5, 10, 11), None);
    }
}
