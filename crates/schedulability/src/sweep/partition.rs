//! Placement of tasks on CPUs or clusters: in order of decreasing utilization, each where the most room is
//! left. Each placement repeats the whole test (worst-fit decreasing).
//!
//! A test that holds for a set holds for each part of it, so the placements are made first and each queue
//! is tested once, full. Only if one fails, the first failing placement is located and redone step by step
//! from there: the outcome is the same as from testing each.

use super::generate::RandomTask;

/// Memory to work in.
#[derive(Debug, Default)]
pub struct Partition {
    /// The tasks of each queue, in the order of placement.
    queues: Vec<Vec<usize>>,
    filled: Vec<f64>,
    /// Queues by room.
    order: Vec<usize>,
}

impl Partition {
    /// Whether all of `set` find a place in queues with room for `rooms` CPUs each, when `holds` says
    /// which tasks can share one.
    pub fn found(
        &mut self,
        set: &[RandomTask],
        rooms: &[u16],
        mut holds: impl FnMut(&[usize], u16) -> bool,
    ) -> bool {
        self.start(rooms.len());
        for task in 0..set.len() {
            self.order_by_room(rooms);
            self.put(set, task, self.order[0]);
        }
        let failing = (0..rooms.len()).filter(|queue| !holds(&self.queues[*queue], rooms[*queue]));
        let failing: Vec<usize> = failing.collect();
        if failing.is_empty() {
            return true;
        }
        let first = failing
            .iter()
            .filter_map(|queue| first_failing(&self.queues[*queue], rooms[*queue], &mut holds))
            .min();
        let Some(first) = first else {
            return false;
        };
        for queue in 0..rooms.len() {
            self.queues[queue].retain(|task| *task < first);
            let there = self.queues[queue].iter();
            self.filled[queue] = there.map(|task| utilization(&set[*task])).sum();
        }
        for (task, random_task) in set.iter().enumerate().skip(first) {
            self.order_by_room(rooms);
            let mut placed = false;
            for place in 0..rooms.len() {
                let queue = self.order[place];
                self.queues[queue].push(task);
                if holds(&self.queues[queue], rooms[queue]) {
                    self.filled[queue] += utilization(random_task);
                    placed = true;
                    break;
                }
                self.queues[queue].pop();
            }
            if !placed {
                return false;
            }
        }
        true
    }

    fn start(&mut self, queues: usize) {
        self.queues.resize_with(queues, Vec::new);
        self.queues.iter_mut().for_each(Vec::clear);
        self.filled.clear();
        self.filled.resize(queues, 0.0);
    }

    /// Emptiest first for their size; of equal ones the first.
    fn order_by_room(&mut self, rooms: &[u16]) {
        let filled = &self.filled;
        let share = |queue: usize| filled[queue] / f64::from(rooms[queue]);
        self.order.clear();
        self.order.extend(0..rooms.len());
        self.order.sort_by(|a, b| share(*a).total_cmp(&share(*b)));
    }

    fn put(&mut self, set: &[RandomTask], task: usize, queue: usize) {
        self.queues[queue].push(task);
        self.filled[queue] += utilization(&set[task]);
    }
}

fn utilization(task: &RandomTask) -> f64 {
    task.execution_ns as f64 / task.period_ns as f64
}

/// The task whose placement is the first that fails in a queue that fails as a whole.
fn first_failing(
    queue: &[usize],
    room: u16,
    holds: &mut impl FnMut(&[usize], u16) -> bool,
) -> Option<usize> {
    let (mut held, mut failed) = (0, queue.len());
    while failed - held > 1 {
        let middle = held + (failed - held) / 2;
        if holds(&queue[..middle], room) {
            held = middle
        } else {
            failed = middle
        }
    }
    queue.get(failed - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::super::generate::{Distribution, Generator};
    use super::super::random::Random;
    use super::*;

    /// Each placement tested as it is made.
    fn step_by_step(set: &[RandomTask], queues: usize, holds: impl Fn(&[usize]) -> bool) -> bool {
        let mut there: Vec<Vec<usize>> = vec![Vec::new(); queues];
        (0..set.len()).all(|task| {
            let filled = |queue: &Vec<usize>| {
                queue
                    .iter()
                    .map(|task| utilization(&set[*task]))
                    .sum::<f64>()
            };
            let mut order: Vec<usize> = (0..queues).collect();
            order.sort_by(|a, b| filled(&there[*a]).total_cmp(&filled(&there[*b])));
            order.into_iter().any(|queue| {
                there[queue].push(task);
                let fits = holds(&there[queue]);
                if !fits {
                    there[queue].pop();
                }
                fits
            })
        })
    }

    #[test]
    fn testing_late_finds_what_testing_each_placement_finds() {
        let generator = Generator::new(&Distribution::medium(), 3.4, 1_000_000, 100_000_000);
        let (mut values, mut set, mut partition) = (Vec::new(), Vec::new(), Partition::default());
        let mut found = [0_u32; 2];
        for index in 0..3000 {
            generator.draw(&mut Random::new(5, 0, index), &mut values, &mut set);
            let sum = |queue: &[usize]| {
                queue
                    .iter()
                    .map(|task| utilization(&set[*task]))
                    .sum::<f64>()
            };
            let limit = 0.86 + 0.1 * Random::new(6, 0, index).unit();
            let late = partition.found(&set, &[1; 4], |queue, _| sum(queue) <= limit);
            let each = step_by_step(&set, 4, |queue| sum(queue) <= limit);
            assert_eq!(late, each, "{set:?}");
            found[usize::from(late)] += 1;
        }
        assert!(found.iter().all(|count| *count > 300), "{found:?}");
    }
}
