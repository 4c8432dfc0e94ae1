//! Exact tests over runs with different seeds, each run one observation.
//!
//! Samples of one run are no replicates of each other, and one run's largest is one draw.

use super::Agreement;
use wakepath_statistics::{least_rank_sum_p, rank_sum_test};

/// Error probability, for each of the two directions.
pub(super) const BY_CHANCE: f64 = 0.05;

/// Result of two statements that exclude each other, with the probability that decided, or came
/// nearest to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shown {
    pub(super) agreement: Agreement,
    pub(super) p: f64,
    /// Whether this number of runs is too small to show it either way.
    pub(super) too_few: bool,
}

/// Values of a condition, one for each seed, and the largest error of each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    pub(super) values: Vec<f64>,
    pub(super) off: f64,
}

impl Seen {
    fn moved(&self, by: f64, times: f64) -> Vec<f64> {
        let moved = self.values.iter().map(|value| (value + by) * times);
        moved.collect()
    }
}

/// Whether `low`, multiplied by `times`, is still lower than `high`, within the error of both.
pub(super) fn lower(low: &Seen, high: &Seen, times: f64) -> Option<Shown> {
    let (is_lower, is_higher) = probabilities(low, high, times)?;
    Some(shown(is_lower, is_higher, least(low, high)))
}

/// Whether neither is more than `within` times the other.
pub(super) fn alike(one: &Seen, other: &Seen, within: f64) -> Option<Shown> {
    let both = [
        probabilities(one, other, within)?,
        probabilities(other, one, within)?,
    ];
    // If one is lower even after multiplication, it is far from the other.
    let far = both.iter().map(|both| both.0).fold(1.0, f64::min);
    let near = both.iter().map(|both| both.1).fold(0.0, f64::max);
    Some(shown(near, far, least(one, other)))
}

/// Probabilities of the observation or a more extreme one if `low`, multiplied by `times`, were not
/// lower, and if it were not higher.
fn probabilities(low: &Seen, high: &Seen, times: f64) -> Option<(f64, f64)> {
    let is_lower = rank_sum_test(&low.moved(low.off, times), &high.moved(-high.off, 1.0))?;
    let is_higher = rank_sum_test(&low.moved(-low.off, times), &high.moved(high.off, 1.0))?;
    Some((is_lower.p_higher, is_higher.p_lower))
}

/// Whether something holds in more runs than a coin's sides would: a sign test.
pub(super) fn mostly(holds: &[bool]) -> Option<Shown> {
    let count = |wanted: bool| holds.iter().filter(|&&one| one == wanted).count();
    let tail = |at_least: usize| -> f64 {
        let ways = (at_least..=holds.len()).map(|k| choose(holds.len(), k));
        ways.sum::<f64>() / 2_f64.powi(holds.len() as i32)
    };
    let least = 0.5_f64.powi(holds.len() as i32);
    (!holds.is_empty()).then(|| shown(tail(count(true)), tail(count(false)), least))
}

fn choose(of: usize, k: usize) -> f64 {
    (0..k).map(|i| (of - i) as f64 / (i + 1) as f64).product()
}

fn least(one: &Seen, other: &Seen) -> f64 {
    least_rank_sum_p(one.values.len() as u64, other.values.len() as u64)
}

fn shown(for_it: f64, against: f64, least: f64) -> Shown {
    let agreement = match (for_it <= BY_CHANCE, against <= BY_CHANCE) {
        (true, _) => Agreement::Agrees,
        (false, true) => Agreement::Contradicts,
        (false, false) => Agreement::Undecided,
    };
    Shown {
        agreement,
        p: for_it.min(against),
        too_few: least > BY_CHANCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(values: &[f64]) -> Seen {
        let values = values.to_vec();
        Seen { values, off: 0.0 }
    }

    #[test]
    fn three_runs_against_three_decide_and_two_against_two_can_not() {
        // One arrangement of 20, and of 6.
        let decided = lower(&seen(&[1.0, 2.0, 3.0]), &seen(&[4.0, 5.0, 6.0]), 1.0).unwrap();
        assert_eq!(decided.agreement, Agreement::Agrees);
        assert!((decided.p - 0.05).abs() < 1e-12 && !decided.too_few);
        let few = lower(&seen(&[1.0, 2.0]), &seen(&[4.0, 5.0]), 1.0).unwrap();
        assert_eq!(few.agreement, Agreement::Undecided);
        assert!((few.p - 1.0 / 6.0).abs() < 1e-12 && few.too_few);
    }

    #[test]
    fn the_other_way_round_contradicts_and_what_overlaps_is_undecided() {
        let (low, high) = (seen(&[1.0, 2.0, 3.0]), seen(&[4.0, 5.0, 6.0]));
        let said = |low: &Seen, high: &Seen, times| lower(low, high, times).unwrap().agreement;
        assert_eq!(said(&high, &low, 1.0), Agreement::Contradicts);
        assert_eq!(
            said(&low, &seen(&[2.5, 5.0, 6.0]), 1.0),
            Agreement::Undecided
        );
        // Lower, but not by a factor of two; and by far not by one of ten.
        assert_eq!(said(&low, &high, 2.0), Agreement::Undecided);
        assert_eq!(said(&low, &high, 10.0), Agreement::Contradicts);
        assert_eq!(said(&low, &low, 1.0), Agreement::Undecided);
    }

    #[test]
    fn what_a_turn_could_reverse_is_undecided() {
        let (low, high) = (seen(&[1.0, 2.0, 3.0]), seen(&[7.0, 8.0, 9.0]));
        let off = |by: f64| {
            [&low, &high].map(|one| Seen {
                off: by,
                ..one.clone()
            })
        };
        let [near, far] = off(1.9);
        assert_eq!(
            lower(&near, &far, 1.0).unwrap().agreement,
            Agreement::Agrees
        );
        let [near, far] = off(2.1);
        assert_eq!(
            lower(&near, &far, 1.0).unwrap().agreement,
            Agreement::Undecided
        );
    }

    #[test]
    fn being_alike_is_shown_as_well_as_being_apart() {
        let one = seen(&[10.0, 11.0, 12.0]);
        let said = |other: &[f64]| alike(&one, &seen(other), 1.25).unwrap().agreement;
        assert_eq!(said(&[10.1, 11.1, 12.1]), Agreement::Agrees);
        assert_eq!(said(&[20.0, 21.0, 22.0]), Agreement::Contradicts);
        assert_eq!(said(&[5.0, 5.1, 5.2]), Agreement::Contradicts);
        assert_eq!(said(&[8.0, 14.0, 15.5]), Agreement::Undecided);
    }

    #[test]
    fn five_of_five_are_more_than_a_coin_gives_and_four_are_not() {
        let said = |holds: &[bool]| mostly(holds).unwrap();
        let all = said(&[true; 5]);
        assert_eq!((all.agreement, all.p), (Agreement::Agrees, 1.0 / 32.0));
        let most = said(&[true, true, true, true, false]);
        assert_eq!((most.agreement, most.p), (Agreement::Undecided, 6.0 / 32.0));
        assert_eq!(said(&[false; 6]).agreement, Agreement::Contradicts);
        assert!(said(&[true; 4]).too_few && mostly(&[]).is_none());
    }
}
