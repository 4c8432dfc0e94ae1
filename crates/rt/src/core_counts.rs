//! A real-time core's counters of the calling thread.
//!
//! Read from the core itself, so that the call is no switch into Linux; none for a thread that
//! isn't on a core.

use crate::{cobalt, evl};

/// Counts since the thread entered the core, or between two readings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoreCounts {
    /// Switches into Linux.
    pub mode_switches: u64,
    /// Switches of the core's scheduler to the thread.
    pub context_switches: u64,
    /// Calls of the core, the questions for these counts among them.
    pub calls: u64,
    /// Wake-ups by another CPU, counted only by EVL.
    pub remote_wake_ups: Option<u64>,
    /// Page faults on the core, counted only by Cobalt.
    pub page_faults: Option<u64>,
    /// CPU time on the core, ns.
    pub run_time_ns: u64,
}

impl CoreCounts {
    /// Counts of the calling thread, if it is on EVL or Cobalt and the core answers.
    pub fn of_this_thread() -> Option<Self> {
        if let Some(place) = evl::of_this_thread() {
            return place.counts().ok();
        }
        cobalt::of_this_thread()?.counts().ok()
    }

    /// Difference to an earlier reading. EVL's counts have 32 bits and wrap; a smaller value than
    /// before shows that they did.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let more = |now: u64, then: u64| match now.checked_sub(then) {
            Some(more) => more,
            None => now.saturating_add(1 << 32).saturating_sub(then),
        };
        let counted = |now: Option<u64>, then: Option<u64>| Some(more(now?, then?));
        Self {
            mode_switches: more(self.mode_switches, before.mode_switches),
            context_switches: more(self.context_switches, before.context_switches),
            calls: more(self.calls, before.calls),
            remote_wake_ups: counted(self.remote_wake_ups, before.remote_wake_ups),
            page_faults: counted(self.page_faults, before.page_faults),
            run_time_ns: self.run_time_ns.saturating_sub(before.run_time_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_on_no_core_has_no_counts() {
        assert_eq!(CoreCounts::of_this_thread(), None);
    }

    #[test]
    fn what_came_since_is_what_is_more_and_what_a_core_does_not_count_stays_uncounted() {
        let before = CoreCounts {
            calls: 10,
            page_faults: Some(2),
            run_time_ns: 1_000,
            ..CoreCounts::default()
        };
        let now = CoreCounts {
            calls: 17,
            page_faults: Some(2),
            run_time_ns: 5_000,
            ..before
        };
        let since = now.since(before);
        assert_eq!((since.calls, since.run_time_ns), (7, 4_000));
        assert_eq!((since.page_faults, since.remote_wake_ups), (Some(0), None));
        let round = CoreCounts { calls: 3, ..before };
        let full = CoreCounts {
            calls: u64::from(u32::MAX) - 1,
            ..before
        };
        assert_eq!(round.since(full).calls, 5);
    }
}
