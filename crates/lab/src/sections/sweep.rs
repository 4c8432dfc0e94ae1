//! Latency of a wake-up due at any time.
//!
//! A stretch in which the thread could not have run delays a wake-up due in it by what is left of the
//! stretch, and the path after it follows. Each stretch has its own path: its latencies are that path
//! plus each number from the stretch's length down to 1. A wake-up due outside of all stretches takes an
//! undisturbed path.

/// Latencies at all instants of some time. Times in instructions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sweep {
    /// Length of each stretch, and the path of a wake-up after it.
    stretches: Vec<(u64, u64)>,
    /// Instants with the CPU halted, and the latency of a wake-up due then.
    idle: (u64, u64),
    /// The path of a wake-up that nothing delays.
    path: u64,
    /// All instants.
    all: u64,
}

impl Sweep {
    /// `stretches` are lengths with the path that follows each. Of `all` instants, `idle.0` are halted,
    /// with a latency of `idle.1`; the rest take `path`.
    pub fn new(stretches: Vec<(u64, u64)>, all: u64, idle: (u64, u64), path: u64) -> Self {
        Self {
            stretches,
            idle,
            path,
            all,
        }
    }

    /// The longest latency.
    pub fn longest(&self) -> u64 {
        let idle = if self.idle.0 > 0 { self.idle.1 } else { 0 };
        let stretches = self.stretches.iter().map(|(length, path)| length + path);
        stretches.fold(self.path.max(idle), u64::max)
    }

    /// How much later than an undisturbed wake-up one can be at most, by its wait or by its own path.
    pub fn longest_delay(&self) -> u64 {
        self.longest() - self.path
    }

    /// Number of instants at which a wake-up is later than that.
    pub fn later_than(&self, latency: u64) -> u64 {
        let later =
            |(length, path): &(u64, u64)| (length + path).saturating_sub(latency).min(*length);
        let idle = if self.idle.1 > latency {
            self.idle.0
        } else {
            0
        };
        let free = if self.path > latency { self.free() } else { 0 };
        self.stretches.iter().map(later).sum::<u64>() + idle + free
    }

    /// Number of instants within stretches.
    pub fn waiting(&self) -> u64 {
        self.stretches.iter().map(|(length, _)| length).sum()
    }

    fn free(&self) -> u64 {
        self.all.saturating_sub(self.waiting() + self.idle.0)
    }

    /// All instants.
    pub fn instants(&self) -> u64 {
        self.all
    }

    /// The least latency that no more than a share of the instants exceeds.
    pub fn exceeded_by(&self, share: f64) -> u64 {
        let most = (self.all as f64 * share) as u64;
        let (mut low, mut high) = (0, self.longest());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.later_than(middle) <= most {
                high = middle
            } else {
                low = middle + 1
            }
        }
        low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn latencies_are_counted_as_by_hand() {
        // Stretches of 3 and 5 in 20 instants: 13 12 11 and 25 24 23 22 21; twelve instants take 10.
        let sweep = Sweep::new(vec![(3, 10), (5, 20)], 20, (0, 9), 10);
        assert_eq!((sweep.longest(), sweep.longest_delay()), (25, 15));
        assert_eq!(sweep.waiting(), 8);
        assert_eq!(sweep.later_than(9), 20);
        assert_eq!(sweep.later_than(10), 8);
        assert_eq!(sweep.later_than(12), 6);
        assert_eq!(sweep.later_than(22), 3);
        assert_eq!(sweep.later_than(25), 0);
        // One in four of 20 is five instants: all in the stretch of 5.
        assert_eq!(sweep.exceeded_by(0.25), 13);
        assert_eq!(sweep.exceeded_by(0.5), 10);
        assert_eq!(sweep.exceeded_by(0.0), 25);
        let idle = Sweep::new(vec![(3, 1), (5, 1)], 100, (80, 9), 1);
        assert_eq!((idle.longest(), idle.later_than(5)), (9, 81));
    }

    proptest! {
        /// Every instant, one by one.
        #[test]
        fn each_instant_counts_once(
            parts in prop::collection::vec((0_u64..20, 1_u64..30, 1_u64..30), 0..20),
            undisturbed in 0_u64..20,
            share in 0.0_f64..1.0,
        ) {
            let mut latencies = Vec::new();
            for (free, length, path) in &parts {
                latencies.extend(std::iter::repeat_n(undisturbed, *free as usize));
                latencies.extend((1..=*length).rev().map(|wait| wait + path));
            }
            let stretches = parts.iter().map(|(_, length, path)| (*length, *path)).collect();
            let sweep = Sweep::new(stretches, latencies.len() as u64, (0, 0), undisturbed);
            let most = latencies.iter().copied().max().unwrap_or(undisturbed);
            prop_assert_eq!(sweep.longest(), most.max(undisturbed));
            for latency in 0..64 {
                let later = latencies.iter().filter(|one| **one > latency).count() as u64;
                prop_assert_eq!(sweep.later_than(latency), later);
            }
            let found = sweep.exceeded_by(share);
            let most = (latencies.len() as f64 * share) as u64;
            let beyond = |latency: u64| latencies.iter().filter(|one| **one > latency).count() as u64;
            prop_assert!(beyond(found) <= most);
            prop_assert!(found == 0 || beyond(found - 1) > most);
        }
    }
}
