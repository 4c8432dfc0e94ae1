//! A sweep's result: its plan and the result of each point, whole or in part. Parts that were computed
//! elsewhere are merged into the whole, byte for byte. It judges no set itself.

mod merged;

pub use merged::NotOneSweep;

use serde::{Deserialize, Serialize};
use wakepath_schedulability::sweep::{Plan, Profile, Tally};

/// A sweep, or part of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The plan that all parts of one sweep share.
    pub plan: SweptPlan,
    /// Its points, by number.
    pub points: Vec<SweptPoint>,
}

/// The plan of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweptPlan {
    /// Of this form: 2.
    pub version: u32,
    /// Of all random numbers.
    pub seed: u64,
    /// CPUs.
    pub cpus: u16,
    /// CPUs of a cluster under C-EDF.
    pub cluster: u16,
    /// Shortest and longest period, in nanoseconds.
    pub periods_ns: (u64, u64),
    /// Half the width that an interval may have, as a share.
    pub half_width: f64,
    /// Sets of a point after which it ends in any case.
    pub most_sets: u64,
    /// The policies.
    pub policies: Vec<String>,
    /// The overheads.
    pub overheads: Vec<SweptOverheads>,
    /// The distributions of utilization.
    pub distributions: Vec<SweptDistribution>,
    /// How many points the whole sweep has.
    pub points: usize,
}

/// Overheads that were put in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweptOverheads {
    /// Their name.
    pub name: String,
    /// Their source.
    pub source: String,
    /// The unknown costs, which count as 0.
    pub unknown: Vec<String>,
}

/// How utilization is spread over tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweptDistribution {
    /// Its name.
    pub name: String,
    /// The least that a task has, as a share of a CPU.
    pub low: f64,
    /// The most.
    pub high: f64,
}

/// The result of one point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweptPoint {
    /// Its number, from 0.
    pub number: usize,
    /// The distribution.
    pub distribution: String,
    /// Utilization as a share of all CPUs.
    pub utilization: f64,
    /// Tasks of a set.
    pub tasks: usize,
    /// Sets made; a curve that was known before judged fewer.
    pub sets: u64,
    /// The result of each policy with each kernel's overheads.
    pub shares: Vec<SweptShare>,
}

/// The share of a point's sets that hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweptShare {
    /// The overheads.
    pub overheads: String,
    /// The policy.
    pub policy: String,
    /// Sets judged: the first of the point's.
    pub sets: u64,
    /// Sets that hold.
    pub held: u64,
    /// Their share, to six decimals.
    pub share: f64,
    /// Wilson's interval at 95 %: its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

fn six(share: f64) -> f64 {
    // Six decimals are read back as they were written.
    (share * 1e6).round() / 1e6
}

impl SweptPoint {
    /// From what was counted.
    pub fn new(plan: &Plan, number: usize, tally: &Tally) -> Self {
        let point = plan.points()[number];
        let distribution = &plan.distributions[point.distribution];
        let utilization = f64::from(point.utilization) / 1000.0;
        let shares = plan.curves().into_iter().enumerate().map(|(place, curve)| {
            let (low, high) = tally.interval(place);
            SweptShare {
                overheads: plan.profiles[curve.profile].name.clone(),
                policy: plan.methods[curve.method].to_string(),
                sets: tally.judged[place],
                held: tally.held[place],
                share: six(tally.held[place] as f64 / tally.judged[place].max(1) as f64),
                low: six(low),
                high: six(high),
            }
        });
        Self {
            number,
            distribution: distribution.name.clone(),
            utilization,
            tasks: distribution.tasks_for(utilization * f64::from(plan.cpus)),
            sets: tally.sets,
            shares: shares.collect(),
        }
    }
}

impl SweptPlan {
    /// The version that this program writes and reads.
    pub const VERSION: u32 = 2;
    /// More than two distributions at every tenth of a percent.
    pub const MOST_POINTS: usize = 2_000;

    /// The stored form of a plan. `sources` has a source and the unknown costs, for each of its overheads.
    pub fn new(plan: &Plan, cluster: u16, sources: Vec<(String, Vec<String>)>) -> Self {
        let named =
            |(profile, (source, unknown)): (&Profile, (String, Vec<String>))| SweptOverheads {
                name: profile.name.clone(),
                source,
                unknown,
            };
        Self {
            version: Self::VERSION,
            seed: plan.seed,
            cpus: plan.cpus,
            cluster,
            periods_ns: plan.periods_ns,
            half_width: six(plan.stop.half_width),
            most_sets: plan.stop.most,
            policies: plan.methods.iter().map(ToString::to_string).collect(),
            overheads: plan.profiles.iter().zip(sources).map(named).collect(),
            distributions: plan
                .distributions
                .iter()
                .map(|one| SweptDistribution {
                    name: one.name.clone(),
                    low: one.low,
                    high: one.high,
                })
                .collect(),
            points: plan.points().len(),
        }
    }
}

impl Sweep {
    /// Sets judged in all points.
    pub fn sets(&self) -> u64 {
        self.points.iter().map(|point| point.sets).sum()
    }

    /// A curve: its points' utilizations and shares, ascending.
    pub fn curve<'a>(
        &'a self,
        distribution: &'a str,
        overheads: &'a str,
        policy: &'a str,
    ) -> impl Iterator<Item = (f64, &'a SweptShare)> {
        self.points
            .iter()
            .filter(move |point| point.distribution == distribution)
            .filter_map(move |point| {
                let mut shares = point.shares.iter();
                let share =
                    shares.find(|one| one.overheads == overheads && one.policy == policy)?;
                Some((point.utilization, share))
            })
    }

    /// Σ U · S(U) / Σ U: one figure for a curve, in which high utilizations weigh more (Bastoni,
    /// Brandenburg and Anderson, "Cache-related preemption and migration delays: empirical
    /// approximation and impact on schedulability", OSPERT 2010).
    pub fn weighted(&self, distribution: &str, overheads: &str, policy: &str) -> Option<f64> {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (utilization, share) in self.curve(distribution, overheads, policy) {
            sum += utilization * share.share;
            weight += utilization;
        }
        (weight > 0.0).then(|| sum / weight)
    }

    /// The utilization up to which all points of a curve have at least this share.
    pub fn up_to(
        &self,
        least: f64,
        distribution: &str,
        overheads: &str,
        policy: &str,
    ) -> Option<f64> {
        self.curve(distribution, overheads, policy)
            .take_while(|(_, share)| share.share >= least)
            .map(|(utilization, _)| utilization)
            .last()
    }
}

#[cfg(test)]
mod tests;
