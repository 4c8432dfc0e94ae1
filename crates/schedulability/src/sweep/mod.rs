//! The share of schedulable random task sets, over their utilization, under several policies and several
//! kernels' overheads. Pure: the executor, whatever its threads or machines, is unknown here and doesn't
//! affect the result.
//!
//! All curves of a point judge the same sets, each from the first until it is known well enough: a curve at
//! zero costs no further sets, and those are the most expensive.

mod elementary;
mod fixed_sum;
mod generate;
mod judge;
mod partition;
mod profile;
mod random;

pub use fixed_sum::FixedSum;
pub use generate::{Distribution, Generator, RandomTask};
pub use judge::Judge;
pub use profile::Profile;
pub use random::Random;

use crate::method::Method;
use wakepath_statistics::wilson_interval;

/// Range of the sweep.
#[derive(Debug, Clone)]
pub struct Plan {
    /// CPUs of the machine; at least 1.
    pub cpus: u16,
    /// Of all random numbers.
    pub seed: u64,
    /// The policies.
    pub methods: Vec<Method>,
    /// The overheads.
    pub profiles: Vec<Profile>,
    /// How utilization is spread over tasks.
    pub distributions: Vec<Distribution>,
    /// Utilizations of all CPUs together, in thousandths: 1000 uses all of them.
    pub utilizations: Vec<u32>,
    /// The shortest and the longest period, in nanoseconds.
    pub periods_ns: (u64, u64),
    /// When a point is known well enough.
    pub stop: Stop,
}

/// When a point is known well enough. The rule is asked after each block of sets and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// Half the width that a curve's interval may have, as a share from 0 to 1.
    pub half_width: f64,
    /// Sets after which it ends in any case.
    pub most: u64,
}

/// Sets between two looks at the intervals.
pub const BLOCK: u64 = 500;

/// 95 % of a normal distribution is within this number of standard deviations.
const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// One point: a distribution and a utilization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// Which of the plan's distributions.
    pub distribution: usize,
    /// In thousandths of all CPUs.
    pub utilization: u32,
}

/// One curve: a policy with a kernel's overheads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Curve {
    /// Which of the plan's policies.
    pub method: usize,
    /// Which of the plan's overheads.
    pub profile: usize,
}

/// How many sets of a point held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Sets made.
    pub sets: u64,
    /// Sets judged, for each of the plan's curves: the first of those made.
    pub judged: Vec<u64>,
    /// Sets that held, for each of the plan's curves.
    pub held: Vec<u64>,
}

impl Tally {
    /// The Wilson interval of a curve's share at 95 %, from 0 to 1.
    pub fn interval(&self, curve: usize) -> (f64, f64) {
        wilson_interval(self.held[curve], self.judged[curve], TWO_SIDED_95)
    }

    /// Adds a block.
    pub fn add(&mut self, block: &Self) {
        self.sets += block.sets;
        for (known, more) in [
            (&mut self.judged, &block.judged),
            (&mut self.held, &block.held),
        ] {
            known.resize(known.len().max(more.len()), 0);
            for (known, more) in known.iter_mut().zip(more) {
                *known += more;
            }
        }
    }
}

impl Plan {
    /// All points, by distribution and then utilization.
    pub fn points(&self) -> Vec<Point> {
        let of = |distribution| {
            let at = move |utilization: &u32| Point {
                distribution,
                utilization: *utilization,
            };
            self.utilizations.iter().map(at)
        };
        (0..self.distributions.len()).flat_map(of).collect()
    }

    /// All curves of a point, by overheads and then policy.
    pub fn curves(&self) -> Vec<Curve> {
        let of = |profile| (0..self.methods.len()).map(move |method| Curve { method, profile });
        (0..self.profiles.len()).flat_map(of).collect()
    }

    /// The most tasks that a set of this plan has.
    pub fn most_tasks(&self) -> usize {
        let points = self.points();
        let of = |point: &Point| self.distributions[point.distribution].tasks_for(self.sum(point));
        points.iter().map(of).max().unwrap_or(0)
    }

    fn sum(&self, point: &Point) -> f64 {
        f64::from(self.cpus) * f64::from(point.utilization) / 1000.0
    }

    /// Generator of a point's sets.
    pub fn generator(&self, point: &Point) -> Generator {
        let (shortest_ns, longest_ns) = self.periods_ns;
        let distribution = &self.distributions[point.distribution];
        Generator::new(distribution, self.sum(point), shortest_ns, longest_ns)
    }

    /// The next block of a point, for those of its curves that are not known yet: sets depend only on their
    /// numbers, not on the executor. `number` is the point's place among all points of the plan.
    pub fn block(
        &self,
        work: &mut Work,
        number: usize,
        generator: &Generator,
        known: &Tally,
    ) -> Tally {
        let curves = self.curves();
        let open = |curve: &usize| !self.is_curve_known(known, *curve);
        let open: Vec<usize> = (0..curves.len()).filter(open).collect();
        let sets = BLOCK.min(self.stop.most.saturating_sub(known.sets));
        let mut tally = Tally {
            sets,
            judged: vec![0; curves.len()],
            held: vec![0; curves.len()],
        };
        for curve in &open {
            tally.judged[*curve] = sets;
        }
        for index in known.sets..known.sets + sets {
            let mut random = Random::new(self.seed, number as u64, index);
            generator.draw(&mut random, &mut work.values, &mut work.set);
            for place in &open {
                let curve = &curves[*place];
                let (method, profile) = (self.methods[curve.method], &self.profiles[curve.profile]);
                let holds = work.judge.holds(&work.set, method, self.cpus, profile);
                tally.held[*place] += u64::from(holds);
            }
        }
        tally
    }

    fn is_curve_known(&self, tally: &Tally, curve: usize) -> bool {
        let judged = tally.judged.get(curve).copied().unwrap_or(0);
        judged > 0 && {
            let (low, high) = tally.interval(curve);
            high - low <= 2.0 * self.stop.half_width
        }
    }

    /// Whether a point needs no more sets.
    pub fn is_known(&self, tally: &Tally) -> bool {
        let known = |curve| self.is_curve_known(tally, curve);
        tally.sets >= self.stop.most || (0..self.curves().len()).all(known)
    }
}

/// Memory to work in; one for each thread.
#[derive(Debug, Default)]
pub struct Work {
    values: Vec<f64>,
    set: Vec<RandomTask>,
    judge: Judge,
}
