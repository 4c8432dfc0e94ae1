//! Keeps the blocks of cycles that might be wanted ones, while the readings of the clock are
//! followed.

use super::line::{Listener, Since};
use crate::sections::Transition;
use crate::window::{Counted, Follower, Found, Mark};
use std::sync::Arc;

/// Blocks of a cycle that might be a wanted one.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Which.
    pub found: Found,
    /// The blocks; shared if several cycles end with one reading.
    pub blocks: Arc<Counted>,
}

/// Follows the readings, and requests the blocks from the instruction that `since` returns.
pub struct Cycles<F> {
    /// Which readings are whose.
    pub follower: Follower,
    /// Blocks kept so far.
    pub kept: Vec<Kept>,
    since: F,
    found: Vec<Found>,
}

impl<F: Fn(&Found) -> u64> Cycles<F> {
    /// Those that this follower finds.
    pub fn new(follower: Follower, since: F) -> Self {
        Self {
            follower,
            kept: Vec::new(),
            since,
            found: Vec::new(),
        }
    }
}

impl<F: Fn(&Found) -> u64> Listener for Cycles<F> {
    fn marked(&mut self, mark: Mark) -> Option<Since> {
        self.found = self.follower.push(mark);
        let from = self.found.iter().map(&self.since).min()?;
        let until = u64::MAX;
        Some(Since { from, until })
    }

    fn changed(&mut self, _: &[Transition]) -> Option<Since> {
        None
    }

    fn executed(&mut self, blocks: Counted) -> Option<Since> {
        let blocks = Arc::new(blocks);
        let found = self.found.drain(..);
        self.kept.extend(found.map(|found| Kept {
            found,
            blocks: Arc::clone(&blocks),
        }));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{Clock, Loop};
    use wakepath_timeline::Sample;

    #[test]
    fn the_blocks_behind_a_wanted_cycle_are_wanted_and_kept() {
        let sample = Sample {
            due_ns: 1_000,
            wake_ns: 1_500,
            end_ns: 1_600,
            ..Sample::default()
        };
        let clock = Clock {
            ns_per_instruction: 1,
            granularity_ns: 1,
        };
        let of = Loop {
            samples: vec![sample],
            wanted: vec![0],
        };
        let follower = Follower::new(clock, vec![of]);
        let mut cycles = Cycles::new(follower, |found: &Found| found.wake.count - 500);
        let mark = |count| Mark {
            count,
            halts: 1,
            count_at_halt: 2_000,
            address: 0x7000,
        };
        assert_eq!(cycles.marked(mark(2_500)), None);
        let wanted = cycles.marked(mark(2_600)).unwrap();
        assert_eq!((wanted.from, wanted.until), (2_000, u64::MAX));
        let blocks = Counted {
            before: 1_990,
            blocks: Vec::new(),
        };
        assert_eq!(cycles.executed(blocks), None);
        assert_eq!(cycles.kept.len(), 1);
        assert_eq!(cycles.kept[0].found.wake.count, 2_500);
    }
}
