//! Finds the loop's readings of the clock among all of a guest's.
//!
//! User code reads the clock by an instruction of its own, and the emulator counts instructions. So
//! the number of instructions between the two readings of a cycle equals the sample's nanoseconds,
//! as it does between two cycles unless the CPU slept. A trail of readings that fits every sample
//! of a segment is the loop's; the guest needs no marker.

use super::readings::{Clock, Fit, Mark};
use std::collections::{HashMap, HashSet};
use wakepath_timeline::Sample;

/// A thread of a segment, whose cycles are looked for.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Its samples in the order of execution, all of them.
    pub samples: Vec<Sample>,
    /// Indices of those whose windows are wanted, in rising order.
    pub wanted: Vec<usize>,
}

/// A cycle that might be a wanted one: its window has to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Its trail of readings; valid if the trail is complete in the end.
    pub trail: u64,
    /// Which loop, by its place in the list given.
    pub of: usize,
    /// Which of its samples.
    pub sample: usize,
    /// The cycle's first reading of the clock.
    pub wake: Mark,
    /// The last one of the cycle before.
    pub before: Option<Mark>,
}

/// Largest difference between instructions and clock if the CPU was woken, because a timer is a
/// little late.
const WOKEN_EARLIER: u64 = 64;

impl Found {
    /// The instruction at which the cycle was due, given its latency, and whether the CPU slept
    /// until then: if it has halted since, or at about that time, it was halted when the cycle was
    /// due.
    pub fn due(&self, latency: u64) -> (u64, bool) {
        let back = self.wake.count.saturating_sub(latency);
        if self.wake.count_at_halt + WOKEN_EARLIER >= back {
            (self.wake.count_at_halt, true)
        } else {
            (back, false)
        }
    }
}

/// A trail of readings that might be a loop's.
#[derive(Debug, Clone, Copy)]
struct Trail {
    number: u64,
    of: usize,
    /// Instructions executed at its first reading.
    from: u64,
    /// The sample that comes next, or is about to end.
    sample: usize,
    /// The cycle under way.
    wake: Option<Mark>,
    /// The end of the cycle before.
    end: Option<Mark>,
    /// Wake-ups at which instructions and clock agreed to the step of the timer.
    exact: u32,
}

/// A trail that fits every sample.
#[derive(Debug, Clone, Copy)]
struct Complete {
    number: u64,
    of: usize,
    exact: u32,
}

/// Follows every trail that might be a loop's.
#[derive(Debug)]
pub struct Follower {
    clock: Clock,
    loops: Vec<Loop>,
    trails: HashMap<u64, Vec<Trail>>,
    next_number: u64,
    complete: Vec<Complete>,
    /// Addresses with a trail that is likely a loop's.
    likely: HashSet<u64>,
    recognised: Vec<u64>,
}

/// Cycles after which a trail is likely a loop's.
const LIKELY: usize = 8;
/// Most trails to follow for one process. More come only from a loop that reads the clock
/// continuously, which isn't ours.
const AT_MOST: usize = 4_096;
impl Follower {
    /// For these loops, each in a separate process.
    pub fn new(clock: Clock, loops: Vec<Loop>) -> Self {
        Self {
            clock,
            loops,
            trails: HashMap::new(),
            next_number: 0,
            complete: Vec::new(),
            likely: HashSet::new(),
            recognised: Vec::new(),
        }
    }

    /// Takes the next reading; returns the possibly wanted cycles that end with it.
    pub fn push(&mut self, mark: Mark) -> Vec<Found> {
        let mut found = Vec::new();
        let mut trails = self.trails.remove(&mark.address).unwrap_or_default();
        trails.retain_mut(|trail| self.advance(trail, mark, &mut found));
        let likely = trails.iter().find(|trail| trail.sample >= LIKELY);
        if let Some(likely) = likely
            && self.likely.insert(mark.address)
        {
            self.recognised.push(likely.from);
        }
        for of in 0..self.loops.len() {
            let is_wanted = !self.loops[of].wanted.is_empty();
            let fits = is_wanted && {
                let samples = &self.loops[of].samples;
                matches!(self.clock.wakes(samples, 0, None, mark), Fit::Yes)
            };
            if fits && trails.len() < AT_MOST {
                let trail = Trail {
                    number: self.next_number,
                    of,
                    from: mark.count,
                    sample: 0,
                    wake: Some(mark),
                    end: None,
                    exact: 0,
                };
                trails.push(trail);
                self.next_number += 1;
            }
        }
        if !trails.is_empty() {
            self.trails.insert(mark.address, trails);
        }
        found
    }

    /// Starts of the trails, in instructions, that have become probable or fitted all samples of a
    /// loop since the last call. Their loop isn't known that early: loops with the same rate look
    /// alike for many cycles.
    pub fn recognised(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.recognised)
    }

    /// The trails that fit every sample of this loop, reduced to those with the best fit. Several
    /// are one trail with several starts, or indistinguishable.
    pub fn complete(&self, of: usize) -> Vec<u64> {
        let mine = || self.complete.iter().filter(|trail| trail.of == of);
        let best = mine().map(|trail| trail.exact).max();
        let best = mine().filter(|trail| Some(trail.exact) == best);
        best.map(|trail| trail.number).collect()
    }

    /// Whether the trail continues.
    fn advance(&mut self, trail: &mut Trail, mark: Mark, found: &mut Vec<Found>) -> bool {
        let Some(wake) = trail.wake else {
            return match self.clock.wakes(
                &self.loops[trail.of].samples,
                trail.sample,
                trail.end,
                mark,
            ) {
                Fit::Yes => {
                    trail.exact += u32::from(self.clock.agrees(
                        &self.loops[trail.of].samples,
                        trail.sample,
                        trail.end,
                        mark,
                    ));
                    trail.wake = Some(mark);
                    true
                }
                Fit::Earlier => true,
                Fit::No => false,
            };
        };
        let sample = &self.loops[trail.of].samples[trail.sample];
        let execution = sample.end_ns.saturating_sub(sample.wake_ns);
        match self.clock.lasts(wake, mark, execution) {
            Fit::Earlier => return true,
            Fit::No => return false,
            Fit::Yes => {}
        }
        if self.loops[trail.of]
            .wanted
            .binary_search(&trail.sample)
            .is_ok()
        {
            found.push(Found {
                trail: trail.number,
                of: trail.of,
                sample: trail.sample,
                wake,
                before: trail.end,
            });
        }
        trail.sample += 1;
        (trail.wake, trail.end) = (None, Some(mark));
        if trail.sample == self.loops[trail.of].samples.len() {
            self.complete.push(Complete {
                number: trail.number,
                of: trail.of,
                exact: trail.exact,
            });
            self.recognised.push(trail.from);
            // The next process can read the clock at the same address.
            self.likely.remove(&mark.address);
            return false;
        }
        true
    }
}

#[cfg(test)]
mod tests;
