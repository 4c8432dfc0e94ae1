//! Stores the stretches of a run.
//!
//! Keeps all those of interrupts, the scheduler and the switch, the longest of the others, and
//! everything recent, to decompose a wake-up.

use std::collections::VecDeque;
use wakepath_schedulability::sections::{Kind, Stretch};

/// Most stretches with something off to keep for good; the shortest are dropped first.
const MOST: usize = 1 << 21;
/// Number of recent stretches to keep.
const RECENT: usize = 1 << 18;

/// Stretches of a run.
#[derive(Debug)]
pub struct Ledger {
    long: Vec<Stretch>,
    others: Vec<Stretch>,
    recent: VecDeque<Stretch>,
    /// Length of the shortest stretches that are kept for good, in instructions.
    shortest: u64,
    most: usize,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::keeping(MOST)
    }
}

impl Ledger {
    fn keeping(most: usize) -> Self {
        Self {
            long: Vec::new(),
            others: Vec::new(),
            recent: VecDeque::new(),
            shortest: 0,
            most,
        }
    }

    /// Takes a stretch that has ended.
    pub fn push(&mut self, stretch: Stretch) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(stretch);
        match stretch.kind {
            Kind::Off if stretch.length() >= self.shortest => self.long.push(stretch),
            Kind::Off => {}
            _ => self.others.push(stretch),
        }
        while self.long.len() > self.most {
            self.shortest = (self.shortest * 2).max(32);
            let shortest = self.shortest;
            self.long.retain(|stretch| stretch.length() >= shortest);
        }
    }

    /// Length above which all stretches with something off are kept, in instructions.
    pub fn shortest(&self) -> u64 {
        self.shortest
    }

    /// The stretches of a kind that began between two numbers of instructions, in their order.
    pub fn between(&self, kind: Kind, from: u64, to: u64) -> impl Iterator<Item = &Stretch> {
        let all = match kind {
            Kind::Off => &self.long,
            _ => &self.others,
        };
        all.iter()
            .filter(move |stretch| stretch.kind == kind && (from..to).contains(&stretch.from))
    }

    /// The latest stretches that reach beyond a number of instructions, in the order of their ends.
    pub fn since(&self, count: u64) -> impl Iterator<Item = &Stretch> {
        let from = self.recent.partition_point(|stretch| stretch.to <= count);
        self.recent.range(from..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_are_too_many_the_shortest_go_and_that_is_said() {
        let mut ledger = Ledger::keeping(10);
        let stretch = |kind, from, length| Stretch {
            kind,
            from,
            to: from + length,
            interrupts: 0,
            began: 0,
            ended: 0,
        };
        for number in 0..20 {
            ledger.push(stretch(Kind::Off, number * 1_000, number * 10));
        }
        ledger.push(stretch(Kind::Switch, 30_000, 5));
        assert!(ledger.shortest() > 0);
        let shortest = ledger.shortest();
        let kept: Vec<u64> = ledger
            .between(Kind::Off, 0, u64::MAX)
            .map(Stretch::length)
            .collect();
        let all: Vec<u64> = (0..20).map(|n| n * 10).filter(|n| *n >= shortest).collect();
        assert_eq!(kept, all);
        assert_eq!(ledger.between(Kind::Switch, 0, u64::MAX).count(), 1);
        assert_eq!(ledger.between(Kind::Switch, 0, 30_000).count(), 0);
        // The one that ends at 18 180, the one after it, and the switch.
        assert_eq!(ledger.since(18_170).count(), 3);
    }
}
