//! Due times of a periodic loop: t0 + k·period, never moved. Pure arithmetic; it reads no clock.

/// The due times of one loop thread. Cycle `k` is due at `start_ns + k · period_ns`, whatever
/// happened to the cycles before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DueTimes {
    /// Due time of cycle 0, in nanoseconds on `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// Period in nanoseconds; never 0.
    pub period_ns: u64,
}

impl DueTimes {
    /// Due time of `cycle` in nanoseconds; saturates at the end of time (year 2554).
    #[inline]
    pub fn due_ns(&self, cycle: u64) -> u64 {
        self.start_ns
            .saturating_add(cycle.saturating_mul(self.period_ns))
    }

    /// The first cycle that is due strictly after `now_ns`, with which a loop that skips missed due
    /// times continues.
    #[inline]
    pub fn first_due_after(&self, now_ns: u64) -> u64 {
        match now_ns.checked_sub(self.start_ns) {
            None => 0,
            Some(elapsed) => elapsed / self.period_ns + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cycle_is_due_a_whole_number_of_periods_after_the_start() {
        let due = DueTimes {
            start_ns: 1_000,
            period_ns: 4_000_000,
        };
        assert_eq!(due.due_ns(0), 1_000);
        assert_eq!(due.due_ns(250), 1_000_001_000);
    }

    #[test]
    fn an_instant_that_is_itself_due_has_already_been_used() {
        let due = DueTimes {
            start_ns: 100,
            period_ns: 10,
        };
        assert_eq!(due.first_due_after(99), 0);
        assert_eq!(due.first_due_after(100), 1);
        assert_eq!(due.first_due_after(109), 1);
        assert_eq!(due.first_due_after(110), 2);
    }

    proptest! {
        #[test]
        fn the_next_due_time_is_the_earliest_one_in_the_future(
            start in 0..u64::MAX / 4, period in 1..10_000_000_000_u64, now in 0..u64::MAX / 4,
        ) {
            let due = DueTimes { start_ns: start, period_ns: period };
            let next = due.first_due_after(now);
            prop_assert!(due.due_ns(next) > now);
            prop_assert!(next == 0 || due.due_ns(next - 1) <= now);
        }
    }
}
