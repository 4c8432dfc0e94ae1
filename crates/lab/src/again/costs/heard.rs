//! Receives the cost at each reading of the clock, and asks for it at each cycle's due time.

use crate::again::error::NoBlocks;
use crate::again::line::{Listener, Since};
use crate::cost::Spent;
use crate::sections::Transition;
use crate::window::{Counted, Follower, Found, Mark};
use std::collections::{HashMap, VecDeque};

/// Readings to remember: a cycle ends few readings after its first.
const REMEMBERED: usize = 1 << 16;

/// Cost of a cycle that might be a wanted one: its first instruction, execution and latency.
type Cost = (u64, Spent, u64);

/// Receives the costs of a repeated run.
pub struct Heard<'a> {
    follower: Follower,
    /// For each loop the latencies of its samples in instructions.
    latencies: &'a [Vec<u64>],
    spent: Spent,
    /// The latest readings, and the cost at each.
    readings: VecDeque<(u64, Spent)>,
    /// Cycles that ended with the last reading.
    ended: Vec<Found>,
    costs: HashMap<(usize, usize, u64), Cost>,
}

impl<'a> Heard<'a> {
    /// Nothing yet.
    pub fn new(follower: Follower, latencies: &'a [Vec<u64>]) -> Self {
        Self {
            follower,
            latencies,
            spent: Spent::default(),
            readings: VecDeque::new(),
            ended: Vec::new(),
            costs: HashMap::new(),
        }
    }

    /// Execution and latency of a loop's cycle.
    pub fn times(&self, number: usize, sample: usize) -> Result<(Spent, u64), NoBlocks> {
        let complete = self.follower.complete(number);
        if complete.is_empty() {
            return Err(NoBlocks::NoTrail);
        }
        let mut found = complete
            .iter()
            .filter_map(|trail| self.costs.get(&(number, sample, *trail)));
        let (wake, execution, latency) = *found.next().ok_or(NoBlocks::NotKept)?;
        // Trails can start differently and join; here they must agree.
        if found.all(|other| other.0 == wake) {
            Ok((execution, latency))
        } else {
            Err(NoBlocks::Several)
        }
    }

    fn until(&self, count: u64) -> Option<Spent> {
        let at = self
            .readings
            .binary_search_by_key(&count, |(count, _)| *count);
        at.ok().map(|at| self.readings[at].1)
    }
}

impl Listener for Heard<'_> {
    fn spent(&mut self, spent: Spent) {
        self.spent = spent;
    }

    fn marked(&mut self, mark: Mark) -> Option<Since> {
        if self.readings.len() == REMEMBERED {
            self.readings.pop_front();
        }
        self.readings.push_back((mark.count, self.spent));
        self.ended = self.follower.push(mark);
        None
    }

    fn cost_wanted(&mut self) -> Option<u64> {
        let found = self.ended.last()?;
        Some(found.due(self.latencies[found.of][found.sample]).0)
    }

    fn cost(&mut self, until_due: u64) {
        let found = self.ended.pop();
        let Some((found, wake)) =
            found.and_then(|found| Some((found, self.until(found.wake.count)?)))
        else {
            return;
        };
        let cost = (
            found.wake.count,
            self.spent.since(&wake),
            wake.total().saturating_sub(until_due),
        );
        let key = (found.of, found.sample, found.trail);
        self.costs.insert(key, cost);
    }

    fn changed(&mut self, _: &[Transition]) -> Option<Since> {
        None
    }

    fn executed(&mut self, _: Counted) -> Option<Since> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{Clock, Loop};
    use wakepath_timeline::Sample;

    #[test]
    fn a_cycle_costs_what_was_spent_between_its_readings_and_its_latency_what_was_since_it_was_due()
    {
        let sample = |number: u64| Sample {
            cycle: number,
            due_ns: 1_000_000 * (number + 1),
            wake_ns: 1_000_000 * (number + 1) + 3_000,
            end_ns: 1_000_000 * (number + 1) + 3_110,
            ..Sample::default()
        };
        let clock = Clock {
            ns_per_instruction: 1,
            granularity_ns: 1,
        };
        let samples = vec![sample(0), sample(1)];
        let wanted = vec![0, 1];
        let follower = Follower::new(clock, vec![Loop { samples, wanted }]);
        let latencies = vec![vec![3_000, 3_000]];
        let mut heard = Heard::new(follower, &latencies);
        let mut count = 0;
        let mut due = Vec::new();
        for cycle in 0..2 {
            count += 500;
            let count_at_halt = count;
            for executed in [3_000, 110] {
                count += executed;
                heard.spent(Spent {
                    instructions: count,
                    data: if executed == 110 { 40 } else { 0 } + cycle * 40,
                    ..Spent::default()
                });
                let halts = cycle + 1;
                heard.marked(Mark {
                    count,
                    halts,
                    count_at_halt,
                    address: 0x7000,
                });
                while let Some(at) = heard.cost_wanted() {
                    due.push(at);
                    heard.cost(at - 7);
                }
            }
        }
        // Other trails can fit one of the cycles too, and their costs are requested as well.
        assert!(
            [500, 500 + 3_110 + 500].iter().all(|at| due.contains(at)),
            "{due:?}"
        );
        for (index, data) in [40, 40].into_iter().enumerate() {
            let (execution, latency) = heard.times(0, index).unwrap();
            assert_eq!((execution.instructions, execution.data), (110, data));
            // All that the second one's readings show more than the first's is data.
            assert_eq!(latency, 3_000 + 7 + index as u64 * 40);
        }
        assert_eq!(heard.times(1, 0), Err(NoBlocks::NoTrail));
    }
}
