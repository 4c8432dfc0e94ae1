//! The latest cycles of a condition, for a table. A stall is one entry, however many due times it
//! swallowed.

use serde::Serialize;

/// So many are kept for each condition.
const KEPT: usize = 10;

/// A cycle that was among the latest, or due times skipped together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct WorstCycle {
    /// Index of the due time within the condition.
    pub index: u64,
    /// Wake-up latency in nanoseconds; for skipped due times what the first of them suffered.
    pub latency_ns: i64,
    /// Response time; `None` for skipped due times.
    pub response_ns: Option<i64>,
    /// Due times skipped together; 0 for a cycle that ran.
    pub skipped: u64,
    /// Whether the due time had passed before the loop came round to wait for it.
    pub after_overrun: bool,
    /// CPU on which it woke.
    pub cpu: Option<u16>,
}

impl WorstCycle {
    /// Time from the due time until the loop was done with it, as far as that is known.
    pub fn lateness_ns(&self) -> i64 {
        self.response_ns.unwrap_or(self.latency_ns)
    }
}

/// Keeps the latest few of many.
#[derive(Debug, Default)]
pub(super) struct Worst {
    kept: Vec<WorstCycle>,
    /// A cycle must exceed this to be kept.
    least: i64,
}

impl Worst {
    pub(super) fn offer(&mut self, cycle: WorstCycle) {
        if self.kept.len() >= 2 * KEPT {
            self.settle();
        }
        if self.kept.len() < KEPT || cycle.lateness_ns() > self.least {
            self.kept.push(cycle);
        }
    }

    pub(super) fn latest(mut self) -> Vec<WorstCycle> {
        self.settle();
        self.kept
    }

    fn settle(&mut self) {
        // Stable, so that of equally late ones the earlier comes first.
        self.kept
            .sort_by_cached_key(|cycle| std::cmp::Reverse(cycle.lateness_ns()));
        self.kept.truncate(KEPT);
        self.least = if self.kept.len() < KEPT {
            i64::MIN
        } else {
            self.kept[KEPT - 1].lateness_ns()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_latest_of_many_are_kept_latest_first() {
        let mut worst = Worst::default();
        for index in 0..1_000_u64 {
            let latency_ns = (index * 7_919 % 1_000) as i64;
            worst.offer(WorstCycle {
                index,
                latency_ns,
                response_ns: Some(latency_ns),
                skipped: 0,
                after_overrun: false,
                cpu: None,
            });
        }
        let found: Vec<i64> = worst
            .latest()
            .iter()
            .map(|cycle| cycle.latency_ns)
            .collect();
        assert_eq!(found, (990..1_000).rev().collect::<Vec<_>>());
    }
}
