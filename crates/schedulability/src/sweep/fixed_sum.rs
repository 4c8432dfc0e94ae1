//! Utilizations with a given sum, each within the same bounds, all such vectors equally likely:
//! RandFixedSum. The order within a vector carries no meaning: it is not shuffled.
//!
//! Stafford, "Random vectors with fixed sum" (2006), as used by Emberson, Stafford and Davis,
//! "Techniques for the synthesis of multiprocessor tasksets" (WATERS 2010).

use super::elementary::{binary_logarithm, power_of_two};
use super::random::Random;

/// The table for one number of values, one sum and one pair of bounds.
#[derive(Debug, Clone)]
pub struct FixedSum {
    count: usize,
    low: f64,
    width: f64,
    /// The sum on the unit scale, between `whole` and `whole + 1`.
    sum: f64,
    whole: usize,
    /// Probability of each step, `count − 1` rows of `count`.
    steps: Vec<f64>,
}

impl FixedSum {
    /// `count` values (at least 1) from `low` to `high` whose sum is `sum`; a sum that can't be is
    /// moved to the nearest that can.
    pub fn new(count: usize, sum: f64, low: f64, high: f64) -> Self {
        let count = count.max(1);
        let width = (high - low).max(f64::MIN_POSITIVE);
        let sum = ((sum - count as f64 * low) / width).clamp(0.0, count as f64);
        let whole = (sum.floor() as usize).min(count - 1);
        let mut table = Self {
            count,
            low,
            width,
            sum,
            whole,
            steps: vec![0.0; count.saturating_sub(1) * count],
        };
        table.fill();
        table
    }

    fn fill(&mut self) {
        let (count, sum) = (self.count, self.sum);
        // Distances of the sum from the whole numbers below it and above it.
        let below: Vec<f64> = (0..count)
            .map(|i| sum - (self.whole as f64 - i as f64))
            .collect();
        let above: Vec<f64> = (0..count)
            .map(|i| (self.whole + count - i) as f64 - sum)
            .collect();
        // Volumes of the simplices, scaled so that they never vanish.
        let mut volumes = vec![0.0; count + 1];
        volumes[1] = f64::MAX / 4.0;
        for row in 2..=count {
            let mut next = vec![0.0; count + 1];
            for column in 1..=row {
                let stays = volumes[column] * below[column - 1] / row as f64;
                let steps = volumes[column - 1] * above[count - row + column - 1] / row as f64;
                next[column] = stays + steps;
                let total = stays + steps + f64::MIN_POSITIVE;
                let probability = if above[count - row + column - 1] > below[column - 1] {
                    steps / total
                } else {
                    1.0 - stays / total
                };
                self.steps[(row - 2) * count + column - 1] = probability;
            }
            volumes = next;
        }
    }

    /// The next vector, in `values`.
    pub fn draw(&self, random: &mut Random, values: &mut Vec<f64>) {
        values.clear();
        let mut left = self.sum;
        let mut column = self.whole + 1;
        let (mut base, mut share) = (0.0, 1.0);
        for row in (1..self.count).rev() {
            let steps = self.steps[(row - 1) * self.count + column - 1];
            let step = if random.unit() <= steps && column > 1 {
                1.0
            } else {
                0.0
            };
            let scale = power_of_two(binary_logarithm(random.unit()) / row as f64);
            base += (1.0 - scale) * share * left / (row + 1) as f64;
            share *= scale;
            values.push(self.low + self.width * (base + share * step).clamp(0.0, 1.0));
            left -= step;
            column -= step as usize;
        }
        values.push(self.low + self.width * (base + share * left).clamp(0.0, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(table: &FixedSum, sets: u64) -> Vec<Vec<f64>> {
        let draw = |index| {
            let mut values = Vec::new();
            table.draw(&mut Random::new(1, 2, index), &mut values);
            values
        };
        (0..sets).map(draw).collect()
    }

    #[test]
    fn the_sum_and_the_bounds_are_kept() {
        for (count, sum, low, high) in [
            (1, 0.3, 0.0, 1.0),
            (2, 1.9, 0.0, 1.0),
            (12, 3.1, 0.1, 0.4),
            (60, 3.4, 0.001, 0.1),
            (60, 5.99, 0.001, 0.1),
            (150, 7.0, 0.001, 0.1),
        ] {
            for values in drawn(&FixedSum::new(count, sum, low, high), 200) {
                assert_eq!(values.len(), count);
                assert!(
                    (values.iter().sum::<f64>() - sum).abs() < 1e-9,
                    "{count} {sum}"
                );
                assert!(
                    values.iter().all(|value| (low..=high).contains(value)),
                    "{values:?}"
                );
            }
        }
    }

    #[test]
    fn three_values_are_spread_as_those_that_rejection_finds() {
        // Two free coordinates, uniform over the part of the square where the third fits.
        for sum in [0.7, 1.5, 2.2] {
            let mut random = Random::new(3, 0, 0);
            let mut rejected = Vec::new();
            while rejected.len() < 60_000 {
                let (a, b) = (random.unit(), random.unit());
                if (0.0..=1.0).contains(&(sum - a - b)) {
                    rejected.extend([a, b, sum - a - b]);
                }
            }
            let mut found: Vec<f64> = drawn(&FixedSum::new(3, sum, 0.0, 1.0), 20_000).concat();
            rejected.truncate(60_000);
            rejected.sort_unstable_by(f64::total_cmp);
            found.sort_unstable_by(f64::total_cmp);
            let share = |values: &[f64], at: f64| {
                values.partition_point(|value| *value <= at) as f64 / values.len() as f64
            };
            let apart = (0..100)
                .map(|at| f64::from(at) / 100.0)
                .map(|at| (share(&found, at) - share(&rejected, at)).abs())
                .fold(0.0, f64::max);
            // Kolmogorov and Smirnov at 0.1 % for 20 000 independent values each.
            assert!(apart < 0.0195, "{sum}: {apart}");
        }
    }

    #[test]
    fn all_values_are_alike_on_average_whatever_their_place() {
        let sets = drawn(&FixedSum::new(5, 2.0, 0.0, 1.0), 40_000);
        // Squares of a value given the sum: from the density of four of them around 2 − x.
        let total: f64 = sets.iter().flatten().map(|value| value * value).sum();
        let mean = total / (sets.len() * 5) as f64;
        let density = |x: f64| {
            // Irwin and Hall with n = 4 at 2 − x.
            let at = 2.0 - x;
            let term = |k: i32, of: f64| of * (at - f64::from(k)).max(0.0).powi(3);
            (term(0, 1.0) + term(1, -4.0) + term(2, 6.0) + term(3, -4.0)) / 6.0
        };
        let step = 1e-3;
        let (mut weight, mut squares) = (0.0, 0.0);
        for part in 0..1000 {
            let x = (f64::from(part) + 0.5) * step;
            weight += density(x);
            squares += density(x) * x * x;
        }
        assert!(
            (mean - squares / weight).abs() < 2e-3,
            "{mean} {}",
            squares / weight
        );
    }
}
