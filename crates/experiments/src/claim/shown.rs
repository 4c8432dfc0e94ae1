//! Exact tests over runs with different seeds, each run one observation.
//!
//! Samples of one run are no replicates of each other, and one run's largest is one draw.

use wakepath_statistics::rank_sum_test;

/// Probabilities of what was seen, or more, if a statement were wrong, and if its opposite were.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shown {
    /// Small: it holds.
    pub(super) for_it: f64,
    /// Small: its opposite holds.
    pub(super) against: f64,
}

impl Shown {
    /// Of both directions together.
    pub(super) fn two_sided(self) -> f64 {
        (2.0 * self.for_it.min(self.against)).min(1.0)
    }

    /// Whether the nearer one is that it holds.
    pub(super) fn is_for(self) -> bool {
        self.for_it < self.against
    }
}

/// Values of a condition, one for each seed, and the largest error of each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    pub(super) values: Vec<f64>,
    pub(super) off: f64,
    /// How many times longer the emulator can have made each value than the guest's own.
    pub(super) slowed: f64,
}

impl Seen {
    /// The largest that they can be, multiplied by `times`.
    fn most(&self, times: f64) -> Vec<f64> {
        let values = self.values.iter();
        values.map(|value| (value + self.off) * times).collect()
    }

    /// The least that they can be, multiplied by `times`.
    fn least(&self, times: f64) -> Vec<f64> {
        let values = self.values.iter();
        let least = values.map(|value| (value - self.off) / self.slowed * times);
        least.collect()
    }

    /// The same as if nothing were off.
    pub(super) fn exact(&self) -> Self {
        Self {
            values: self.values.clone(),
            off: 0.0,
            slowed: 1.0,
        }
    }
}

/// Whether `low`, multiplied by `times`, is still lower than `high`, within the error of both.
pub(super) fn lower(low: &Seen, high: &Seen, times: f64) -> Option<Shown> {
    let is_lower = rank_sum_test(&low.most(times), &high.least(1.0))?;
    let is_higher = rank_sum_test(&low.least(times), &high.most(1.0))?;
    Some(Shown {
        for_it: is_lower.p_higher,
        against: is_higher.p_lower,
    })
}

/// Whether neither is more than `within` times the other.
pub(super) fn alike(one: &Seen, other: &Seen, within: f64) -> Option<Shown> {
    let both = [lower(one, other, within)?, lower(other, one, within)?];
    // If one is lower even after multiplication, it is far from the other.
    Some(Shown {
        for_it: both.iter().map(|both| both.against).fold(0.0, f64::max),
        against: both.iter().map(|both| both.for_it).fold(1.0, f64::min),
    })
}

/// Whether something holds in more runs than a coin's sides would: a sign test.
pub(super) fn mostly(holds: &[bool]) -> Option<Shown> {
    let count = |wanted: bool| holds.iter().filter(|&&one| one == wanted).count();
    let tail = |at_least: usize| -> f64 {
        let ways = (at_least..=holds.len()).map(|k| choose(holds.len(), k));
        ways.sum::<f64>() / 2_f64.powi(holds.len() as i32)
    };
    (!holds.is_empty()).then(|| Shown {
        for_it: tail(count(true)),
        against: tail(count(false)),
    })
}

fn choose(of: usize, k: usize) -> f64 {
    (0..k).map(|i| (of - i) as f64 / (i + 1) as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(values: &[f64]) -> Seen {
        Seen {
            values: values.to_vec(),
            off: 0.0,
            slowed: 1.0,
        }
    }

    #[test]
    fn three_runs_against_three_are_one_arrangement_of_twenty() {
        let found = lower(&seen(&[1.0, 2.0, 3.0]), &seen(&[4.0, 5.0, 6.0]), 1.0).unwrap();
        assert!((found.for_it - 0.05).abs() < 1e-12 && found.is_for());
        assert!((found.two_sided() - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_other_way_round_is_against_it_and_an_effect_can_be_too_small() {
        let (low, high) = (seen(&[1.0, 2.0, 3.0]), seen(&[4.0, 5.0, 6.0]));
        let least = |low: &Seen, high: &Seen, times| {
            let found = lower(low, high, times).unwrap();
            (found.for_it <= 0.051, found.against <= 0.051)
        };
        assert_eq!(least(&high, &low, 1.0), (false, true));
        assert_eq!(least(&low, &seen(&[2.5, 5.0, 6.0]), 1.0), (false, false));
        // Lower, but not by a factor of two; and by far not by one of ten.
        assert_eq!(least(&low, &high, 2.0), (false, false));
        assert_eq!(least(&low, &high, 10.0), (false, true));
        assert_eq!(least(&low, &low, 1.0), (false, false));
    }

    #[test]
    fn a_turn_can_reverse_what_is_near() {
        let p = |off| {
            let [low, high] = [[1.0, 2.0, 3.0], [7.0, 8.0, 9.0]].map(|values| Seen {
                values: values.to_vec(),
                off,
                slowed: 1.0,
            });
            lower(&low, &high, 1.0).unwrap().for_it
        };
        assert!(p(1.9) <= 0.051 && p(2.1) > 0.051);
    }

    #[test]
    fn half_the_speed_can_be_the_whole_effect() {
        let shown = |high: &[f64]| {
            let [low, high] = [&[4.0, 4.1, 4.2], high].map(|values| Seen {
                slowed: 2.0,
                ..seen(values)
            });
            let found = lower(&low, &high, 1.3).unwrap();
            (found.for_it <= 0.051, found.against <= 0.051)
        };
        // Half of 10 is less than 1.3 times 4; half of 11 is more.
        assert_eq!(shown(&[10.0, 10.1, 10.2]), (false, false));
        assert_eq!(shown(&[11.0, 11.1, 11.2]), (true, false));
        // Half of 4, 1.3 times, is still more than 2.
        assert_eq!(shown(&[2.0, 2.1, 2.2]), (false, true));
    }

    #[test]
    fn being_alike_is_shown_as_well_as_being_apart() {
        let one = seen(&[10.0, 11.0, 12.0]);
        let shown = |other: &[f64]| {
            let found = alike(&one, &seen(other), 1.25).unwrap();
            (found.for_it <= 0.051, found.against <= 0.051)
        };
        assert_eq!(shown(&[10.1, 11.1, 12.1]), (true, false));
        assert_eq!(shown(&[20.0, 21.0, 22.0]), (false, true));
        assert_eq!(shown(&[5.0, 5.1, 5.2]), (false, true));
        assert_eq!(shown(&[8.0, 14.0, 15.5]), (false, false));
    }

    #[test]
    fn ten_of_ten_are_as_likely_as_ten_heads() {
        let all = mostly(&[true; 10]).unwrap();
        assert_eq!((all.for_it, all.against), (1.0 / 1024.0, 1.0));
        let most = mostly(&[true, true, true, true, false]).unwrap();
        assert_eq!(most.for_it, 6.0 / 32.0);
        assert!(mostly(&[]).is_none());
    }
}
