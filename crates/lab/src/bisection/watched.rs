//! The count that distinguishes good kernels from bad ones.
//!
//! The one given, in the given condition or in the one in which it grew most from the good kernel
//! to the bad one; a kernel is good or bad by its side of the middle. Pure.

use super::search::Became;
use crate::baseline::ConditionCounts;
use serde::{Deserialize, Serialize};

/// A count that is watched. In virtual nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchedCount {
    /// Condition with phase, as tables call it.
    pub condition: String,
    /// Name of the count, such as `latency_max_ns`.
    pub count: String,
    /// Values on the good and the bad kernel.
    pub good: i64,
    /// See `good`.
    pub bad: i64,
}

impl WatchedCount {
    /// The condition, or only the given one, whose `count` grew by the largest share; none if it
    /// grew nowhere.
    pub fn grown_most(
        good: &[ConditionCounts],
        bad: &[ConditionCounts],
        count: &str,
        condition: Option<&str>,
    ) -> Option<Self> {
        let grown = good.iter().filter_map(|before| {
            let after = bad
                .iter()
                .find(|after| after.condition == before.condition)?;
            let (good, bad) = (*before.counts.get(count)?, *after.counts.get(count)?);
            let is_asked = condition.is_none_or(|asked| asked == before.condition);
            (is_asked && bad > good).then(|| Self {
                condition: before.condition.clone(),
                count: count.to_owned(),
                good,
                bad,
            })
        });
        let share = |one: &Self| one.bad as f64 / one.good.max(1) as f64;
        grown.max_by(|one, other| share(one).total_cmp(&share(other)))
    }

    /// Its value in these conditions.
    pub fn value(&self, conditions: &[ConditionCounts]) -> Option<i64> {
        let mine = conditions
            .iter()
            .find(|one| one.condition == self.condition)?;
        mine.counts.get(&self.count).copied()
    }

    /// Side of a value, relative to the middle between good and bad.
    pub fn became(&self, value: i64) -> Became {
        match value - self.good > self.bad - value {
            true => Became::Bad,
            false => Became::Good,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(idle: i64, stress: i64) -> Vec<ConditionCounts> {
        [("FIFO 80, idle", idle), ("FIFO 80, stress", stress)]
            .map(|(condition, max)| ConditionCounts {
                condition: condition.into(),
                counts: [("latency_max_ns".to_owned(), max)].into(),
                median_path: Vec::new(),
                worst_path: Vec::new(),
            })
            .into()
    }

    #[test]
    fn the_condition_that_grew_by_most_is_watched_and_the_middle_parts_good_from_bad() {
        let (good, bad) = (conditions(4_000, 9_000), conditions(8_000, 14_000));
        let of = |condition| WatchedCount::grown_most(&good, &bad, "latency_max_ns", condition);
        let found = of(None).unwrap();
        assert_eq!(
            (found.condition.as_str(), found.good, found.bad),
            ("FIFO 80, idle", 4_000, 8_000)
        );
        assert_eq!(found.value(&conditions(5_000, 1)), Some(5_000));
        assert_eq!(found.became(6_000), Became::Good);
        assert_eq!(found.became(6_001), Became::Bad);
        assert_eq!(of(Some("FIFO 80, stress")).unwrap().bad, 14_000);
        assert_eq!(of(Some("RR 50, idle")), None);
        let same = WatchedCount::grown_most(&good, &good, "latency_max_ns", None);
        assert_eq!(same, None);
    }
}
