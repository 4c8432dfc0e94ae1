//! Random task sets: utilizations by RandFixedSum within a distribution's bounds, periods
//! log-uniform, deadlines at the end of the period. In order of decreasing utilization, the order in
//! which they are placed.

use super::elementary::{binary_logarithm, power_of_two};
use super::fixed_sum::FixedSum;
use super::random::Random;

/// From where to where the utilization of a single task lies.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    /// Its name.
    pub name: String,
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl Distribution {
    /// Light tasks: 0.1 % to 10 % of a CPU each (Brandenburg 2011).
    pub fn light() -> Self {
        Self::new("light", 0.001, 0.1)
    }

    /// Medium tasks: 10 % to 40 % each (Brandenburg 2011).
    pub fn medium() -> Self {
        Self::new("medium", 0.1, 0.4)
    }

    fn new(name: &str, low: f64, high: f64) -> Self {
        let name = name.into();
        Self { name, low, high }
    }

    /// How many tasks have the given sum when each has the mean of the distribution, but no fewer
    /// than can reach it and no more than keep to the least.
    pub fn tasks_for(&self, sum: f64) -> usize {
        let mean = f64::midpoint(self.low, self.high);
        let least = (sum / self.high - 1e-9).ceil().max(1.0);
        let most = (sum / self.low + 1e-9).floor().max(1.0);
        (sum / mean).round().max(least).min(most.max(least)) as usize
    }
}

/// A task of a random set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomTask {
    /// The most CPU time of a job, in nanoseconds.
    pub execution_ns: u64,
    /// The shortest time between jobs and the time to the deadline, in nanoseconds.
    pub period_ns: u64,
}

/// Makes the sets of one point of a sweep.
#[derive(Debug, Clone)]
pub struct Generator {
    utilizations: FixedSum,
    shortest_ns: f64,
    /// log₂ of the longest period over the shortest.
    octaves: f64,
}

impl Generator {
    /// Sets whose utilizations add up to `sum`, with periods from `shortest_ns` to `longest_ns`.
    pub fn new(distribution: &Distribution, sum: f64, shortest_ns: u64, longest_ns: u64) -> Self {
        let count = distribution.tasks_for(sum);
        let (shortest, longest) = (shortest_ns.max(1) as f64, longest_ns.max(1) as f64);
        Self {
            utilizations: FixedSum::new(count, sum, distribution.low, distribution.high),
            shortest_ns: shortest,
            octaves: binary_logarithm((longest / shortest).max(1.0)),
        }
    }

    /// The next set of a stream. `values` is memory to work in.
    pub fn draw(&self, random: &mut Random, values: &mut Vec<f64>, set: &mut Vec<RandomTask>) {
        self.utilizations.draw(random, values);
        // Periods are drawn alike for all, so which task gets which is the same before and after.
        values.sort_unstable_by(|a, b| b.total_cmp(a));
        set.clear();
        for utilization in &*values {
            let period_ns = self.shortest_ns * power_of_two(random.unit() * self.octaves);
            set.push(RandomTask {
                execution_ns: ((utilization * period_ns) as u64).max(1),
                period_ns: (period_ns as u64).max(1),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_the_utilization_that_was_asked_for_and_periods_from_all_octaves() {
        let generator = Generator::new(&Distribution::medium(), 3.0, 1_000_000, 16_000_000);
        let (mut values, mut set) = (Vec::new(), Vec::new());
        let mut octaves = [0_u32; 4];
        for index in 0..2000 {
            generator.draw(&mut Random::new(1, 1, index), &mut values, &mut set);
            let sum: f64 = set
                .iter()
                .map(|task| task.execution_ns as f64 / task.period_ns as f64)
                .sum();
            assert!((sum - 3.0).abs() < 1e-4, "{sum}");
            for task in &set {
                octaves[(task.period_ns / 1_000_000).ilog2() as usize] += 1;
            }
        }
        // 24 000 periods, a quarter in each octave: five standard deviations are 335.
        assert!(
            octaves.iter().all(|count| count.abs_diff(6000) < 335),
            "{octaves:?}"
        );
    }

    #[test]
    fn the_number_of_tasks_can_reach_the_sum() {
        let (light, medium) = (Distribution::light(), Distribution::medium());
        assert_eq!(light.tasks_for(0.1), 2);
        assert_eq!(medium.tasks_for(4.0), 16);
        assert_eq!(medium.tasks_for(0.15), 1);
        assert_eq!(medium.tasks_for(0.05), 1);
    }
}
