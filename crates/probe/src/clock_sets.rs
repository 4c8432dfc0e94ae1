//! Whether the clock that counts from 1970 was set: how far it is ahead of `CLOCK_MONOTONIC`, looked at each time that
//! events are read.

use rustix::time::{ClockId, clock_gettime};
use wakepath_rt::clock;
use wakepath_timeline::What;

/// A smaller change may be that of a clock that runs faster or slower for a while, in nanoseconds.
const LEAST_NS: i64 = 2_000_000;
/// So may one of less than this share of the time since the last look, one in so many: chrony corrects by up to a twelfth.
const LEAST_SHARE: i64 = 10;

/// The last look. In nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ClockSets {
    before: Option<Look>,
}

#[derive(Debug, Clone, Copy)]
struct Look {
    at_ns: i64,
    ahead_ns: i64,
}

impl ClockSets {
    /// Looks at the clocks: when, in nanoseconds on `CLOCK_MONOTONIC`, and what happened since the last look, if the clock
    /// was set.
    pub fn look(&mut self) -> Option<(u64, What)> {
        let now_ns = clock::monotonic_ns();
        let wall = clock_gettime(ClockId::Realtime);
        // Off the CPU in between, it can't be compared.
        if clock::monotonic_ns() - now_ns > LEAST_NS.unsigned_abs() / 4 {
            return None;
        }
        let at_ns = now_ns.cast_signed();
        let by_ns = self.seen(Look {
            at_ns,
            ahead_ns: wall.tv_sec * 1_000_000_000 + wall.tv_nsec as i64 - at_ns,
        })?;
        Some((now_ns, What::ClockSet { by_ns }))
    }

    fn seen(&mut self, look: Look) -> Option<i64> {
        let before = self.before.replace(look)?;
        let by_ns = look.ahead_ns - before.ahead_ns;
        let may_be_slewed = (look.at_ns - before.at_ns) / LEAST_SHARE;
        (by_ns.abs() > LEAST_NS.max(may_be_slewed)).then_some(by_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    fn seen(looks_ms: &[(i64, i64)]) -> Vec<i64> {
        let mut sets = ClockSets::default();
        let looks = looks_ms.iter().map(|(at, ahead)| Look {
            at_ns: at * MS,
            ahead_ns: ahead * MS,
        });
        looks.filter_map(|look| sets.seen(look)).collect()
    }

    #[test]
    fn a_clock_that_is_set_is_seen_and_one_that_runs_faster_for_a_while_is_not() {
        let set = [(0, 900_000), (50, 900_000), (100, 899_850), (150, 899_850)];
        assert_eq!(seen(&set), [-150 * MS]);
        let slewed = [(0, 900_000), (50, 900_004), (100, 900_008)];
        assert!(seen(&slewed).is_empty());
        assert!(seen(&[(0, 0), (2_000, 150)]).is_empty());
        assert_eq!(seen(&[(0, 0), (2_000, 250)]), [250 * MS]);
        assert!(ClockSets::default().look().is_none());
    }
}
