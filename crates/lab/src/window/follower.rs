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
mod tests {
    use super::*;

    const CLOCK: Clock = Clock {
        ns_per_instruction: 1,
        granularity_ns: 1,
    };
    const LOOP: u64 = 0x7fff_1000;

    /// Due every 100 µs from 1 ms on; latencies and executions as given.
    fn samples(cycles: &[(u64, u64)]) -> Vec<Sample> {
        let sample = |(index, &(latency, execution)): (usize, &(u64, u64))| {
            let due_ns = 1_000_000 + index as u64 * 100_000;
            Sample {
                cycle: index as u64,
                due_ns,
                wake_ns: due_ns + latency,
                end_ns: due_ns + latency + execution,
                ..Sample::default()
            }
        };
        cycles.iter().enumerate().map(sample).collect()
    }

    /// A machine that executes and sleeps, and notes the readings of the clock.
    #[derive(Default)]
    struct Machine {
        count: u64,
        halts: u64,
        count_at_halt: u64,
        marks: Vec<Mark>,
    }

    impl Machine {
        fn executes(&mut self, count: u64) -> &mut Self {
            self.count += count;
            self
        }

        fn sleeps(&mut self) -> &mut Self {
            self.halts += 1;
            self.count_at_halt = self.count;
            self
        }

        fn reads_clock(&mut self, address: u64) -> &mut Self {
            self.marks.push(Mark {
                count: self.count,
                halts: self.halts,
                count_at_halt: self.count_at_halt,
                address,
            });
            self
        }
    }

    fn followed(
        machine: &Machine,
        samples: Vec<Sample>,
        wanted: &[usize],
    ) -> (Follower, Vec<Found>) {
        let loops = vec![Loop {
            samples,
            wanted: wanted.to_vec(),
        }];
        let mut follower = Follower::new(CLOCK, loops);
        let found = machine
            .marks
            .iter()
            .flat_map(|mark| follower.push(*mark))
            .collect();
        (follower, found)
    }

    #[test]
    fn a_loop_that_sleeps_between_its_cycles_is_found_among_others_that_read_the_clock() {
        let cycles = samples(&[(3_000, 110), (3_500, 111), (4_200, 110)]);
        let mut machine = Machine::default();
        machine.executes(50_000).reads_clock(LOOP);
        for (latency, execution) in [(3_000, 110), (3_500, 111), (4_200, 110)] {
            machine.executes(700).reads_clock(0x1234);
            machine.sleeps().executes(latency).reads_clock(LOOP);
            machine.executes(execution).reads_clock(LOOP);
        }
        let (follower, found) = followed(&machine, cycles, &[1]);
        assert_eq!(follower.complete(0).len(), 1);
        let right: Vec<&Found> = found
            .iter()
            .filter(|found| found.trail == follower.complete(0)[0])
            .collect();
        assert_eq!(right.len(), 1);
        // 50 000, then a cycle of 700 + 3000 + 110, then 700 + 3500.
        assert_eq!(right[0].wake.count, 58_010);
        assert_eq!(right[0].before.unwrap().count, 53_810);
    }

    #[test]
    fn a_loop_is_recognised_after_some_cycles_and_at_its_end_from_its_beginning_on() {
        let cycles = vec![(3_000, 110); 10];
        let loops = vec![Loop {
            samples: samples(&cycles),
            wanted: (0..10).collect(),
        }];
        let mut follower = Follower::new(CLOCK, loops);
        let mut machine = Machine::default();
        let mut recognised = Vec::new();
        for _ in 0..10 {
            machine.executes(700).sleeps().executes(3_000);
            machine.reads_clock(LOOP).executes(110).reads_clock(LOOP);
        }
        for (number, mark) in machine.marks.iter().enumerate() {
            follower.push(*mark);
            let from = follower.recognised().into_iter();
            // The first of them: a trail that is a cycle off is likely a cycle later.
            recognised.extend(from.take(1).map(|from| (number, from)));
        }
        // Two readings a cycle: the window follows the eighth and the tenth.
        assert_eq!(recognised, [(15, 3_700), (19, 3_700)]);
    }

    #[test]
    fn a_cycle_more_or_an_instruction_too_many_and_the_loop_is_not_found() {
        let run = |last_execution| {
            let mut machine = Machine::default();
            for execution in [110, 111, last_execution] {
                machine.executes(700).sleeps().executes(3_000);
                machine
                    .reads_clock(LOOP)
                    .executes(execution)
                    .reads_clock(LOOP);
            }
            machine
        };
        let cycles = samples(&[(3_000, 110), (3_000, 111), (3_000, 110)]);
        assert_eq!(
            followed(&run(110), cycles.clone(), &[2])
                .0
                .complete(0)
                .len(),
            1
        );
        assert!(
            followed(&run(300), cycles.clone(), &[2])
                .0
                .complete(0)
                .is_empty()
        );
        let longer = samples(&[(3_000, 110), (3_000, 111), (3_000, 110), (3_000, 110)]);
        assert!(followed(&run(110), longer, &[2]).0.complete(0).is_empty());
    }

    #[test]
    fn a_trail_that_is_a_cycle_off_fits_worse_than_the_loops_own() {
        // One more cycle than there are samples, with equal executions: two trails fit.
        let latencies = [3_000, 3_500, 4_200, 3_100];
        let cycles = samples(&[(3_000, 110), (3_500, 110), (4_200, 110)]);
        let mut machine = Machine::default();
        for latency in latencies {
            machine.executes(700).sleeps().executes(latency);
            machine.reads_clock(LOOP).executes(110).reads_clock(LOOP);
        }
        let (follower, found) = followed(&machine, cycles, &[1]);
        let best = follower.complete(0);
        let right: Vec<u64> = found
            .iter()
            .filter(|found| best.contains(&found.trail))
            .map(|found| found.wake.count)
            .collect();
        assert_eq!(right, [700 + 3_000 + 110 + 700 + 3_500]);
    }

    #[test]
    fn a_busy_cpu_is_told_by_the_time_between_two_cycles() {
        // Never asleep: about 100 µs from the end of one cycle to the wake-up of the next.
        let cycles = samples(&[(3_000, 110), (52_000, 110), (3_000, 110)]);
        let mut machine = Machine::default();
        machine.executes(9_000_000).reads_clock(LOOP);
        machine.executes(110).reads_clock(LOOP);
        for gap in [148_890, 50_890] {
            // A reading in between that belongs to no cycle.
            machine.executes(1_000).reads_clock(LOOP);
            machine.executes(gap - 1_000).reads_clock(LOOP);
            machine.executes(110).reads_clock(LOOP);
        }
        let (follower, found) = followed(&machine, cycles, &[1]);
        assert_eq!(follower.complete(0).len(), 1);
        let right = found
            .iter()
            .find(|found| found.trail == follower.complete(0)[0]);
        assert_eq!(right.unwrap().wake.count, 9_000_000 + 110 + 148_890);
    }
}
