//! The kernel's tick, by its timer's callbacks: how often it interrupts whatever runs.

use foldhash::HashMap;
use wakepath_timeline::{KernelEvent, What};

/// What kernels are built with (`CONFIG_HZ`), in nanoseconds.
const PERIODS_NS: [u64; 4] = [1_000_000, 3_333_333, 4_000_000, 10_000_000];
/// An interval is a tick's within this percentage of it.
const NEAR_PERCENT: u64 = 5;
/// Intervals of one length that show it.
const LEAST: u64 = 10;

/// Intervals between ticks, by length.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ticks {
    last: HashMap<u16, u64>,
    counts: [u64; PERIODS_NS.len()],
}

impl Ticks {
    /// Takes the next event.
    pub fn event(&mut self, event: &KernelEvent) {
        let What::TimerExpiryEntry { function, .. } = &event.what else {
            return;
        };
        if !function.starts_with("tick_") {
            return;
        }
        let Some(last_ns) = self.last.insert(event.cpu, event.at_ns) else {
            return;
        };
        let interval_ns = event.at_ns.saturating_sub(last_ns);
        for (period_ns, count) in PERIODS_NS.iter().zip(&mut self.counts) {
            *count += u64::from(interval_ns.abs_diff(*period_ns) * 100 <= period_ns * NEAR_PERCENT);
        }
    }

    /// The time between two, in nanoseconds; `None` until enough were seen.
    pub fn period_ns(&self) -> Option<u64> {
        let known = PERIODS_NS.iter().zip(self.counts);
        let most = known.max_by_key(|(_, count)| *count);
        most.filter(|(_, count)| *count >= LEAST).map(|(ns, _)| *ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_is_the_most_frequent_interval_of_each_cpu() {
        let mut ticks = Ticks::default();
        let mut tick = |at_us: u64, cpu: u16| {
            ticks.event(&KernelEvent {
                at_ns: at_us * 1_000,
                cpu,
                current: 7,
                what: What::TimerExpiryEntry {
                    timer: 1,
                    function: "tick_nohz_handler".into(),
                },
            });
            ticks.period_ns()
        };
        for number in 1..10 {
            // The other CPU's ticks come a millisecond later, and stop while it is idle.
            assert_eq!(tick(number * 4_000, 0), None);
            tick(number * 24_000 + 1_000, 1);
        }
        assert_eq!(tick(43_100, 0), None, "late");
        assert_eq!(tick(44_000, 0), None);
        assert_eq!(tick(48_000, 0), None);
        assert_eq!(tick(52_050, 0), Some(4_000_000));
    }
}
