//! The count that distinguishes good kernels from bad ones, over seeds.
//!
//! The one given, in the given condition or in the one in which it grew most from the good end to
//! the bad one. Each run is one observation: a growth counts if an exact rank test over the seeds
//! gives chance at most 5 %. A kernel is bad if more than half of its seeds are nearer to the
//! median of the bad end. Pure.

use super::search::Became;
use crate::baseline::ConditionCounts;
use wakepath_statistics::rank_sum_test;

/// Fewest seeds: with fewer, no growth can be distinguished from chance.
pub const FEWEST_SEEDS: usize = 3;
/// Largest probability of a growth by chance.
pub const BY_CHANCE: f64 = 0.05;
/// The rule in words.
pub const RULE: &str = "rule: a kernel is bad if more than half of its seeds are nearer to the median of the bad end; \
                        both ends, and both sides of the turn, must differ by an exact rank test over the seeds \
                        (p ≤ 5 %)";

/// A count that is watched, with its values by seed. In virtual nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedCount {
    /// Condition with phase, as tables call it.
    pub condition: String,
    /// Name of the count, such as `latency_of_wake_ups_max_ns`.
    pub count: String,
    /// Values at the good end.
    pub good: Vec<i64>,
    /// Values at the bad end.
    pub bad: Vec<i64>,
}

impl WatchedCount {
    /// The condition, or only the given one, whose `count` grew by the largest share; none if it
    /// grew nowhere by more than chance. Each kernel's conditions are given once for each seed.
    pub fn grown_most(
        good: &[&[ConditionCounts]],
        bad: &[&[ConditionCounts]],
        count: &str,
        condition: Option<&str>,
    ) -> Option<Self> {
        let known = good.first()?.iter().map(|one| one.condition.as_str());
        let asked = known.filter(|known| condition.is_none_or(|asked| asked == *known));
        let grown = asked.filter_map(|name| {
            let found = Self {
                condition: name.to_owned(),
                count: count.to_owned(),
                good: values(good, name, count)?,
                bad: values(bad, name, count)?,
            };
            (chance(&found.good, &found.bad) <= BY_CHANCE).then_some(found)
        });
        let share = |one: &Self| median(&one.bad) as f64 / median(&one.good).max(1) as f64;
        grown.max_by(|one, other| share(one).total_cmp(&share(other)))
    }

    /// Its values on a kernel, one for each seed; none if a seed lacks it.
    pub fn values(&self, seeds: &[&[ConditionCounts]]) -> Option<Vec<i64>> {
        values(seeds, &self.condition, &self.count)
    }

    /// Side of a kernel's values, by their majority.
    pub fn became(&self, values: &[i64]) -> Became {
        let (good, bad) = (median(&self.good), median(&self.bad));
        let is_bad = |value: &&i64| **value - good > bad - **value;
        let nearer_to_bad = values.iter().filter(is_bad).count();
        match (2 * nearer_to_bad).cmp(&values.len()) {
            std::cmp::Ordering::Greater => Became::Bad,
            std::cmp::Ordering::Less => Became::Good,
            std::cmp::Ordering::Equal => Became::Skipped,
        }
    }
}

/// Probability of a growth like this or more by chance.
pub fn chance(good: &[i64], bad: &[i64]) -> f64 {
    let of = |values: &[i64]| values.iter().map(|ns| *ns as f64).collect::<Vec<_>>();
    rank_sum_test(&of(good), &of(bad)).map_or(1.0, |test| test.p_higher)
}

/// The upper median; 0 of none.
pub fn median(values: &[i64]) -> i64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

fn values(seeds: &[&[ConditionCounts]], condition: &str, count: &str) -> Option<Vec<i64>> {
    let of = |conditions: &&[ConditionCounts]| {
        let mine = conditions.iter().find(|one| one.condition == condition)?;
        mine.counts.get(count).copied()
    };
    seeds.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: &str = "latency_of_wake_ups_max_ns";

    fn seeds(idle: [i64; 3], stress: [i64; 3]) -> Vec<Vec<ConditionCounts>> {
        let of = |(idle, stress)| {
            [("FIFO 80, idle", idle), ("FIFO 80, stress", stress)]
                .map(|(condition, max)| ConditionCounts {
                    condition: condition.into(),
                    counts: [(COUNT.to_owned(), max)].into(),
                    median_path: Vec::new(),
                    worst_path: Vec::new(),
                })
                .into()
        };
        idle.into_iter().zip(stress).map(of).collect()
    }

    fn grown(
        good: &[Vec<ConditionCounts>],
        bad: &[Vec<ConditionCounts>],
        condition: Option<&str>,
    ) -> Option<WatchedCount> {
        let [good, bad] = [good, bad].map(|of| of.iter().map(Vec::as_slice).collect::<Vec<_>>());
        WatchedCount::grown_most(&good, &bad, COUNT, condition)
    }

    #[test]
    fn the_condition_that_grew_by_most_is_watched_and_the_majority_of_seeds_decides() {
        let good = seeds([4_000, 3_900, 4_100], [9_000, 9_500, 8_000]);
        let bad = seeds([8_000, 7_900, 8_200], [14_000, 13_000, 15_000]);
        let found = grown(&good, &bad, None).unwrap();
        assert_eq!(found.condition, "FIFO 80, idle");
        // The medians are 4000 and 8000.
        assert_eq!(found.became(&[6_000, 6_000, 9_000]), Became::Good);
        assert_eq!(found.became(&[6_001, 6_001, 4_000]), Became::Bad);
        assert_eq!(found.became(&[6_001, 5_000]), Became::Skipped);
        let stress = grown(&good, &bad, Some("FIFO 80, stress")).unwrap();
        assert_eq!(stress.bad, [14_000, 13_000, 15_000]);
        assert_eq!(grown(&good, &bad, Some("RR 50, idle")), None);
    }

    #[test]
    fn what_one_seed_shows_and_another_does_not_is_no_growth() {
        let good = seeds([4_000, 3_900, 4_100], [9_000, 9_500, 8_000]);
        // The first seed alone doubled; over all seeds p is 4 in 20 at least.
        let luck = seeds([8_000, 3_950, 4_050], [18_000, 8_500, 9_200]);
        assert_eq!(grown(&good, &luck, None), None);
        assert_eq!(grown(&good, &good, None), None);
        // With two seeds no difference is enough.
        let large = seeds([80_000; 3], [90_000; 3]);
        assert_eq!(grown(&good[..2], &large[..2], None), None);
        assert!((chance(&[1, 2, 3], &[4, 5, 6]) - BY_CHANCE).abs() < 1e-12);
    }
}
