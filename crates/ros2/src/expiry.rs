//! How long after the times that were asked for timers expired.

use std::collections::BTreeMap;

/// Times above this are on clocks that count from 1970, smaller ones on those that count from a machine's start.
const SINCE_1970_NS: u64 = 1 << 59;

/// Timers that were programmed.
#[derive(Debug, Default)]
pub(crate) struct Expiries {
    /// By the timer's address.
    asked: BTreeMap<u64, u64>,
    /// By how much the clocks from 1970 are ahead, at least: no timer expires before its time.
    ahead_ns: u64,
}

impl Expiries {
    /// A timer is to expire at this time of its clock.
    pub(crate) fn asked(&mut self, timer: u64, expires_ns: u64) {
        self.asked.insert(timer, expires_ns);
    }

    /// A timer expires: how late; `None` if it was programmed before the recording.
    pub(crate) fn late(&mut self, timer: u64, at_ns: u64) -> Option<u64> {
        let expires_ns = self.asked.remove(&timer)?;
        if expires_ns < SINCE_1970_NS {
            return Some(at_ns.saturating_sub(expires_ns));
        }
        self.ahead_ns = self.ahead_ns.max(expires_ns.saturating_sub(at_ns));
        Some((at_ns + self.ahead_ns).saturating_sub(expires_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timers_of_clocks_that_are_set_are_late_by_what_the_best_of_them_shows() {
        let mut expiries = Expiries::default();
        let since_1970 = 1_800_000_000_000_000_000;
        let late = [(1_000, 1_050), (2_000, 2_010), (3_000, 3_500)].map(|(asked_ns, at_ns)| {
            expiries.asked(7, since_1970 + asked_ns);
            expiries.late(7, at_ns)
        });
        assert_eq!(late, [Some(0), Some(0), Some(490)]);
        expiries.asked(8, 4_000);
        assert_eq!(expiries.late(8, 4_070), Some(70));
        assert_eq!(expiries.late(8, 4_080), None);
    }
}
