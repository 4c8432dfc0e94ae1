//! Due times in a row without a sample, and the latency that each suffered.

use crate::Gaps;

/// Due times in a row without a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// Number of the first.
    pub first_cycle: u64,
    /// How many.
    pub count: u64,
    /// When the first was due, in nanoseconds.
    pub due_ns: u64,
    /// Period in nanoseconds.
    pub period_ns: u64,
    /// Wake-up of the next cycle that ran; if none ran, the end of the window.
    pub until_ns: u64,
}

impl Gap {
    /// The latency that each suffered, in nanoseconds: the first one waited longest.
    pub fn suffered_ns(self) -> impl Iterator<Item = i64> {
        let waited = move |number: u64| {
            let due_ns = self
                .due_ns
                .saturating_add(number.saturating_mul(self.period_ns));
            self.until_ns.wrapping_sub(due_ns).cast_signed()
        };
        (0..self.count).map(waited)
    }

    /// The latency that the first suffered, in nanoseconds.
    pub fn longest_ns(self) -> i64 {
        self.until_ns.wrapping_sub(self.due_ns).cast_signed()
    }

    /// The first ones of it of which nobody knows what became.
    pub(crate) fn unseen(self, gaps: Gaps, ended_before_ns: Option<u64>) -> u64 {
        match (gaps, ended_before_ns) {
            (Gaps::Skipped, _) => 0,
            (Gaps::Unseen, _) | (_, None) => self.count,
            (Gaps::UnseenWhileRunning | Gaps::RanAfterwards, Some(ended_ns)) => {
                let ran_ns = ended_ns.saturating_sub(self.due_ns);
                ran_ns.div_ceil(self.period_ns.max(1)).min(self.count)
            }
        }
    }

    /// The first ones of it, and the rest.
    pub(crate) fn split(self, count: u64) -> (Self, Self) {
        let first = Self { count, ..self };
        let second = Self {
            first_cycle: self.first_cycle + count,
            count: self.count - count,
            due_ns: self
                .due_ns
                .saturating_add(count.saturating_mul(self.period_ns)),
            ..self
        };
        (first, second)
    }
}
