//! Wait of a wake-up due at any time.
//!
//! A stretch in which the thread could not have run contributes one due time for each wait from its
//! length down to 1; due times outside of all stretches don't wait.

/// The waits at all instants of some time. Times in instructions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sweep {
    /// Lengths of the stretches, the longest first.
    lengths: Vec<u64>,
    /// Instants with the CPU halted, and what a wake-up waits for there.
    idle: (u64, u64),
    /// All instants.
    all: u64,
}

impl Sweep {
    /// Of stretches of these lengths in `all` instants, `idle` of them halted with a wait of `idle_wait`.
    pub fn new(mut lengths: Vec<u64>, all: u64, idle: u64, idle_wait: u64) -> Self {
        lengths.sort_unstable_by(|one, other| other.cmp(one));
        Self {
            lengths,
            idle: (idle, idle_wait),
            all,
        }
    }

    /// The longest wait.
    pub fn longest(&self) -> u64 {
        let idle = if self.idle.0 > 0 { self.idle.1 } else { 0 };
        self.lengths.first().copied().unwrap_or(0).max(idle)
    }

    /// Instants at which a wake-up waits for longer than that.
    pub fn longer_than(&self, wait: u64) -> u64 {
        let longer = self.lengths.iter().take_while(|length| **length > wait);
        let idle = if self.idle.1 > wait { self.idle.0 } else { 0 };
        longer.map(|length| length - wait).sum::<u64>() + idle
    }

    /// All instants.
    pub fn instants(&self) -> u64 {
        self.all
    }

    /// The least wait that no more than a share of the instants exceeds.
    pub fn exceeded_by(&self, share: f64) -> u64 {
        let most = (self.all as f64 * share) as u64;
        let (mut low, mut high) = (0, self.longest());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.longer_than(middle) <= most {
                true => high = middle,
                false => low = middle + 1,
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
    fn waits_are_counted_as_by_hand() {
        // Two stretches of 3 and 5 in 20 instants: waits 3 2 1 and 5 4 3 2 1, twelve without.
        let sweep = Sweep::new(vec![3, 5], 20, 0, 9);
        assert_eq!(sweep.longest(), 5);
        assert_eq!(sweep.longer_than(0), 8);
        assert_eq!(sweep.longer_than(2), 4);
        assert_eq!(sweep.longer_than(5), 0);
        // One in four is five: no more than five wait for longer than 2, eight for longer than 0, six
        // for longer than 1.
        assert_eq!(sweep.exceeded_by(0.25), 2);
        assert_eq!(sweep.exceeded_by(0.5), 0);
        assert_eq!(sweep.exceeded_by(0.0), 5);
        let idle = Sweep::new(vec![3, 5], 100, 80, 9);
        assert_eq!((idle.longest(), idle.longer_than(4)), (9, 81));
    }

    proptest! {
        /// Every instant, one by one.
        #[test]
        fn it_is_what_each_instant_by_itself_waits_for(
            parts in prop::collection::vec((0_u64..20, 1_u64..30), 0..20),
            share in 0.0_f64..1.0,
        ) {
            let mut waits = Vec::new();
            for (free, length) in &parts {
                waits.extend(std::iter::repeat_n(0, *free as usize));
                waits.extend((1..=*length).rev());
            }
            let lengths = parts.iter().map(|(_, length)| *length).collect();
            let sweep = Sweep::new(lengths, waits.len() as u64, 0, 0);
            prop_assert_eq!(sweep.longest(), waits.iter().copied().max().unwrap_or(0));
            for wait in 0..32 {
                let longer = waits.iter().filter(|one| **one > wait).count() as u64;
                prop_assert_eq!(sweep.longer_than(wait), longer);
            }
            let found = sweep.exceeded_by(share);
            let most = (waits.len() as f64 * share) as u64;
            let beyond = |wait: u64| waits.iter().filter(|one| **one > wait).count() as u64;
            prop_assert!(beyond(found) <= most);
            prop_assert!(found == 0 || beyond(found - 1) > most);
        }
    }
}
