//! Cache-related delays by working set, from a task set's file or measured in runs: a job's loss through a
//! preemption, and through a migration if it can be moved.

use super::Taken;
use crate::cache_delays::{CacheDelays, cache_delays, left_in_cache};
use crate::run_times::RunTimes;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wakepath_archive::Run;
use wakepath_scenario::units::format_size;
use wakepath_verdict::counted;

/// Bytes of a working set, what it loses to a preemption, and to the worse of preemption and
/// migration: all ascending, for a larger set never loses less.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DelayTable(Vec<(u64, u64, u64)>);

impl DelayTable {
    /// As a file has them: for both alike.
    pub(super) fn given(delays: &[(u64, u64)]) -> Self {
        Self(delays.iter().map(|&(bytes, ns)| (bytes, ns, ns)).collect())
    }

    /// As runs measured them, the larger of two with the same working set, and in words what to know of
    /// them.
    pub(super) fn of_runs(runs: &[Run], taken: Taken) -> (Self, String) {
        let mut found: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let (mut least, mut stayed, mut said) = (u64::MAX, false, String::new());
        let mut few = false;
        for run in runs {
            let measured = cache_delays(run);
            if let Some((touched, last)) = left_in_cache(run, &measured) {
                said += &format!(
                    "; the preempting thread touched {}, less than twice the last-level cache of {}, so \
                     that a delay can be longer",
                    format_size(touched),
                    format_size(last)
                );
            }
            for CacheDelays {
                working_set_bytes,
                preempted,
                migrated,
                ..
            } in measured
            {
                let Some((preempted_ns, enough)) = taken_of(&preempted, taken) else {
                    continue;
                };
                few |= !enough;
                least = least.min(preempted.count);
                let migrated_ns = match taken_of(&migrated, taken) {
                    Some((ns, enough)) => {
                        few |= !enough;
                        least = least.min(migrated.count);
                        ns
                    }
                    None => {
                        stayed = true;
                        0
                    }
                };
                let known = found.entry(working_set_bytes).or_default();
                known.0 = known.0.max(preempted_ns);
                known.1 = known.1.max(preempted_ns).max(migrated_ns);
            }
        }
        // A run that ended after the size 0 has measured the measurement alone.
        if found.keys().all(|bytes| *bytes == 0) {
            return (Self::default(), String::new());
        }
        let mut highest = (0, 0);
        let rising = found.into_iter().map(|(bytes, (stays, moves))| {
            highest = (highest.0.max(stays), highest.1.max(moves));
            (bytes, highest.0, highest.1)
        });
        let table = Self(rising.collect());
        let largest = table.0.last().map_or(0, |one| one.0);
        let sizes = table.0.len();
        let mut words = format!(
            "; cache delays of {} up to {}, each of {least} runs or more",
            counted(sizes as u64, "working set", "working sets"),
            format_size(largest)
        );
        if few {
            words += ", or the largest observed if there are too few for that quantile";
        }
        if stayed {
            words += "; a migration was not measured, and counts as a preemption";
        }
        (table, words + &said)
    }

    /// The largest working set of which a delay is known, in bytes.
    pub(super) fn largest_bytes(&self) -> Option<u64> {
        self.0.last().map(|one| one.0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// In proportion between two sizes and rounded up, in proportion to the size beyond the
    /// largest; a task without a working set loses as much as the largest. `None`: nothing is known.
    pub(super) fn delay(&self, working_set_bytes: u64, moves: bool) -> Option<u64> {
        let at = |place: usize| {
            let (bytes, stays, moved) = self.0[place];
            (bytes, if moves { moved } else { stays })
        };
        let (most_bytes, most_ns) = at(self.0.len().checked_sub(1)?);
        if working_set_bytes == 0 {
            return Some(most_ns);
        }
        let scaled = |ns: u64, part: u64, whole: u64| {
            let product = (u128::from(ns) * u128::from(part)).div_ceil(u128::from(whole.max(1)));
            u64::try_from(product).unwrap_or(u64::MAX)
        };
        if working_set_bytes >= most_bytes {
            return Some(scaled(most_ns, working_set_bytes, most_bytes));
        }
        let above = self
            .0
            .partition_point(|(bytes, ..)| *bytes < working_set_bytes);
        let (to_bytes, to_ns) = at(above);
        Some(match above.checked_sub(1).map(at) {
            // Below the smallest that is known, as much as that.
            None => to_ns,
            Some((from_bytes, from_ns)) => {
                let part = working_set_bytes - from_bytes;
                from_ns.saturating_add(scaled(to_ns - from_ns, part, to_bytes - from_bytes))
            }
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let rows = self.0.iter().map(|(bytes, stays, moves)| {
            json!({
                "working_set_bytes": bytes,
                "delay_ns": stays,
                "delay_moved_ns": moves,
            })
        });
        rows.collect()
    }
}

/// The requested figure, and whether there are enough values for it: with too few for a quantile, the
/// largest is used.
fn taken_of(times: &RunTimes, taken: Taken) -> Option<(u64, bool)> {
    let asked = match taken {
        Taken::Maximum => times.max_ns,
        Taken::P999 => times.p999_ns,
        Taken::P99 => times.p99_ns,
        Taken::Median => times.median_ns,
    };
    match asked {
        Some(ns) => Some((ns, true)),
        None => Some((times.max_ns?, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_lie_in_proportion_between_sizes_and_are_rounded_up() {
        let table = DelayTable(vec![(0, 10, 20), (1000, 110, 20), (3000, 110, 500)]);
        let of = |bytes| [table.delay(bytes, false), table.delay(bytes, true)].map(Option::unwrap);
        assert_eq!(of(1), [11, 20]);
        assert_eq!(of(500), [60, 20]);
        assert_eq!(of(1000), [110, 20]);
        assert_eq!(of(2000), [110, 260]);
        assert_eq!(of(6000), [220, 1000]);
        // Without a working set that is known, as much as the largest.
        assert_eq!(of(0), [110, 500]);
        assert_eq!(DelayTable::default().delay(64, true), None);
    }

    #[test]
    fn the_largest_stands_for_a_quantile_of_too_few() {
        let times = RunTimes {
            count: 40,
            median_ns: Some(5),
            max_ns: Some(9),
            ..RunTimes::default()
        };
        assert_eq!(taken_of(&times, Taken::Median), Some((5, true)));
        assert_eq!(taken_of(&times, Taken::P99), Some((9, false)));
        assert_eq!(taken_of(&RunTimes::default(), Taken::Maximum), None);
    }
}
