//! Collects a run's transitions and readings of the clock.
//!
//! Stretches go into the ledger, wake-ups are decomposed as they come, and the instructions of the
//! longest stretches are kept.

use super::told::longest_by_function;
use crate::again::line::{Listener, Since};
use crate::sections::{Course, Kind, Ledger, Roles, Stretch, Transition, WakeUp};
use crate::window::{Counted, Follower, Found, Mark, Symbols, Within, within};
use std::collections::HashMap;

/// Instructions to examine before a stretch, to find its callers.
const BEFORE: u64 = 100_000;
/// Number of longest stretches of each kind to examine, one per code location.
const LOOKED_INTO: usize = 8;
/// The kinds that are examined.
const EXAMINED: [Kind; 2] = [Kind::Off, Kind::Interrupt];

/// Receives the transitions of a repeated run.
pub struct Heard<'a> {
    /// Which readings are whose.
    pub follower: Follower,
    /// The stretches.
    pub ledger: Ledger,
    /// Composition of the wake-up for each loop, sample and trail, if it was one.
    pub wake_ups: HashMap<(usize, usize, u64), (Found, Option<WakeUp>)>,
    /// Contents of the longest stretches, by first instruction and end: a section and the interrupt
    /// that it consists of begin with the same.
    within: HashMap<(u64, u64), Within>,
    course: Course,
    symbols: &'a Symbols,
    /// For each loop the latencies of its samples in instructions.
    latencies: &'a [Vec<u64>],
    told: Vec<Stretch>,
    /// For each kind the start and length of the longest stretches examined since a loop was recognised.
    longest: Option<[Vec<(u64, u64)>; EXAMINED.len()]>,
    wanted: Vec<Stretch>,
}

impl<'a> Heard<'a> {
    /// Nothing yet.
    pub fn new(
        follower: Follower,
        course: Course,
        symbols: &'a Symbols,
        latencies: &'a [Vec<u64>],
    ) -> Self {
        Self {
            follower,
            course,
            symbols,
            latencies,
            ledger: Ledger::default(),
            wake_ups: HashMap::new(),
            within: HashMap::new(),
            told: Vec::new(),
            longest: None,
            wanted: Vec::new(),
        }
    }

    /// Contents of a stretch, if it was examined.
    pub fn within(&self, stretch: &Stretch) -> Option<Within> {
        self.within.get(&key(stretch)).cloned()
    }

    fn wake_up(&self, found: &Found) -> Option<WakeUp> {
        let instructions = self.latencies[found.of][found.sample];
        let (due, idle) = found.due(instructions);
        let stretches = self.ledger.since(due);
        WakeUp::new(stretches, due, found.wake.count, instructions, idle)
    }

    /// Whether a stretch is among the longest since a loop was recognised, and longer than any that began there.
    fn is_looked_into(&mut self, stretch: &Stretch) -> bool {
        let kind = EXAMINED.iter().position(|kind| *kind == stretch.kind);
        let (Some(longest), Some(kind)) = (&mut self.longest, kind) else {
            return false;
        };
        let longest = &mut longest[kind];
        let known = longest
            .iter()
            .position(|(began, _)| *began == stretch.began);
        let shortest = || longest.iter().enumerate().min_by_key(|(_, (_, net))| *net);
        let is_full = longest.len() == LOOKED_INTO;
        let place = known.or_else(|| shortest().map(|(at, _)| at).filter(|_| is_full));
        match place {
            None => longest.push((stretch.began, stretch.net())),
            Some(at) if longest[at].1 < stretch.net() => {
                longest[at] = (stretch.began, stretch.net());
            }
            Some(_) => return false,
        }
        true
    }

    /// Requests the longest stretches of the past and from now on those that are longer. A loop is
    /// recognised after a few cycles, and again at its end; the plugin still has the blocks before
    /// that unless there were too many.
    fn look_back(&mut self, now: u64) {
        for from in self.follower.recognised() {
            for kind in EXAMINED {
                let stretches = self.ledger.between(kind, from, now);
                let longest = longest_by_function(stretches, self.symbols);
                let unknown = longest
                    .into_iter()
                    .take(LOOKED_INTO)
                    .filter_map(|(_, variable)| variable.longest)
                    .filter(|stretch| !self.within.contains_key(&key(stretch)));
                self.wanted.extend(unknown);
            }
            self.longest = Some(Default::default());
        }
    }

    fn next_wanted(&self) -> Option<Since> {
        let stretch = self.wanted.last()?;
        Some(Since {
            from: stretch.from.saturating_sub(BEFORE),
            until: stretch.to,
        })
    }
}

fn key(stretch: &Stretch) -> (u64, u64) {
    (stretch.from, stretch.to)
}

impl Listener for Heard<'_> {
    fn marked(&mut self, mark: Mark) -> Option<Since> {
        for found in self.follower.push(mark) {
            let wake_up = self.wake_up(&found);
            let key = (found.of, found.sample, found.trail);
            self.wake_ups.insert(key, (found, wake_up));
        }
        self.look_back(mark.count);
        self.next_wanted()
    }

    fn changed(&mut self, transitions: &[Transition]) -> Option<Since> {
        let roles = Roles(self.symbols);
        for transition in transitions {
            let role = |address| roles.at(address);
            self.course.push(*transition, role, &mut self.told);
        }
        for stretch in std::mem::take(&mut self.told) {
            self.ledger.push(stretch);
            if self.is_looked_into(&stretch) {
                self.wanted.push(stretch);
            }
        }
        self.next_wanted()
    }

    fn executed(&mut self, blocks: Counted) -> Option<Since> {
        // The plugin has discarded blocks from too long ago.
        let wanted = self.wanted.pop();
        if let Some(stretch) = wanted.filter(|stretch| blocks.before <= stretch.from) {
            let found = within(&blocks, stretch.from, stretch.to, self.symbols);
            self.within.insert(key(&stretch), found);
        }
        self.next_wanted()
    }
}
