//! A sweep's result: what was swept over and what each point found, whole or in part. Parts that were
//! computed elsewhere become the whole again, byte for byte. It judges no set itself.

use serde::{Deserialize, Serialize};
use wakepath_schedulability::sweep::{Plan, Profile, Tally};

/// A sweep, or part of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// What all parts of one sweep share.
    pub plan: SweptPlan,
    /// Its points, by number.
    pub points: Vec<SweptPoint>,
}

/// What was swept over.
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
    /// What they are called.
    pub name: String,
    /// Where they come from.
    pub source: String,
    /// What of them is not known and counts as nothing.
    pub unknown: Vec<String>,
}

/// How utilization is spread over tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweptDistribution {
    /// What it is called.
    pub name: String,
    /// The least that a task has, as a share of a CPU.
    pub low: f64,
    /// The most.
    pub high: f64,
}

/// What one point found.
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
    /// What each policy found with each kernel's overheads.
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

/// Why parts are not one sweep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotOneSweep {
    /// Nothing was given.
    #[error("no part is given; give the files that --points wrote")]
    Nothing,
    /// Parts of different sweeps.
    #[error("{first} and {other} are of different sweeps; give parts with the same options")]
    Different {
        /// One of them.
        first: String,
        /// The other.
        other: String,
    },
    /// Two answers for one point.
    #[error("{0} finds something else for point {1} than a part before it; compute both anew")]
    Contradiction(String, usize),
    /// More points than a sweep can have.
    #[error(
        "{name}: says that its sweep has {points} points, and a sweep has at most {}; give what \
         `wakepath schedulability sweep --points` printed",
        SweptPlan::MOST_POINTS
    )]
    TooManyPoints {
        /// The part.
        name: String,
        /// So many.
        points: usize,
    },
    /// A point with a number that the sweep doesn't have.
    #[error(
        "{name}: has a point {number}, and its sweep has {points}, from 0; give what \
         `wakepath schedulability sweep --points` printed"
    )]
    NoSuchPoint {
        /// The part.
        name: String,
        /// The number.
        number: usize,
        /// Points of the sweep.
        points: usize,
    },
    /// Points that no part has.
    #[error("points {0} are in no part; compute them with --points")]
    Missing(String),
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

    /// What is told of a plan. `sources` has a source and what is not known, for each of its
    /// overheads.
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
    /// One sweep of its parts, which have names for messages. A point may be in several parts if all
    /// found the same: where a worker died, its points are computed again.
    ///
    /// # Errors
    /// [`NotOneSweep`].
    pub fn merged(parts: Vec<(String, Self)>) -> Result<Self, NotOneSweep> {
        let mut parts = parts.into_iter();
        let (first, mut whole) = parts.next().ok_or(NotOneSweep::Nothing)?;
        let count = whole.plan.points;
        if count > SweptPlan::MOST_POINTS {
            return Err(NotOneSweep::TooManyPoints {
                name: first,
                points: count,
            });
        }
        let mut found: Vec<Option<SweptPoint>> = vec![None; count];
        let own = std::mem::take(&mut whole.points);
        let mut all = vec![(first.clone(), own)];
        for (other, part) in parts {
            if part.plan != whole.plan {
                return Err(NotOneSweep::Different { first, other });
            }
            all.push((other, part.points));
        }
        for (name, points) in all {
            for point in points {
                let number = point.number;
                match found.get_mut(number) {
                    Some(place @ None) => *place = Some(point),
                    Some(Some(known)) if *known == point => {}
                    Some(_) => return Err(NotOneSweep::Contradiction(name, number)),
                    None => {
                        return Err(NotOneSweep::NoSuchPoint {
                            name,
                            number,
                            points: count,
                        });
                    }
                }
            }
        }
        let missing: Vec<String> = found
            .iter()
            .enumerate()
            .filter(|(_, point)| point.is_none())
            .map(|(number, _)| number.to_string())
            .collect();
        if !missing.is_empty() {
            return Err(NotOneSweep::Missing(missing.join(", ")));
        }
        whole.points = found.into_iter().flatten().collect();
        Ok(whole)
    }

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
mod tests {
    use super::*;

    fn part(numbers: &[usize], held: u64) -> Sweep {
        let share = |policy: &str, held| SweptShare {
            overheads: "ideal".into(),
            policy: policy.into(),
            sets: 10,
            held,
            share: six(held as f64 / 10.0),
            low: 0.0,
            high: 1.0,
        };
        let point = |&number: &usize| SweptPoint {
            number,
            distribution: "light".into(),
            utilization: (number + 1) as f64 / 4.0,
            tasks: 3,
            sets: 10,
            shares: vec![share("P-EDF", held)],
        };
        Sweep {
            plan: SweptPlan {
                version: SweptPlan::VERSION,
                seed: 1,
                cpus: 2,
                cluster: 2,
                periods_ns: (1, 2),
                half_width: 0.01,
                most_sets: 10,
                policies: vec!["P-EDF".into()],
                overheads: Vec::new(),
                distributions: Vec::new(),
                points: 4,
            },
            points: numbers.iter().map(point).collect(),
        }
    }

    fn merged(parts: &[Sweep]) -> Result<Sweep, NotOneSweep> {
        let named = parts.iter().enumerate();
        Sweep::merged(
            named
                .map(|(place, part)| (format!("part {place}"), part.clone()))
                .collect(),
        )
    }

    #[test]
    fn parts_in_any_order_and_twice_are_the_whole() {
        let whole = merged(&[part(&[2, 3], 5), part(&[0, 1], 5), part(&[1, 2], 5)]);
        assert_eq!(whole, Ok(part(&[0, 1, 2, 3], 5)));
        assert_eq!(whole.map(|whole| whole.sets()), Ok(40));
    }

    #[test]
    fn parts_that_are_no_whole_are_refused_with_what_is_wrong() {
        assert_eq!(merged(&[]), Err(NotOneSweep::Nothing));
        let missing = merged(&[part(&[0, 2], 5)]);
        assert_eq!(missing, Err(NotOneSweep::Missing("1, 3".into())));
        let apart = merged(&[part(&[0, 1, 2, 3], 5), part(&[2], 6)]);
        assert_eq!(apart, Err(NotOneSweep::Contradiction("part 1".into(), 2)));
        let beyond = merged(&[part(&[0, 1, 2, 3, 7], 5)]);
        assert_eq!(
            beyond,
            Err(NotOneSweep::NoSuchPoint {
                name: "part 0".into(),
                number: 7,
                points: 4
            })
        );
        let mut other = part(&[0], 5);
        other.plan.seed = 2;
        assert!(matches!(
            merged(&[part(&[1], 5), other]),
            Err(NotOneSweep::Different { .. })
        ));
    }

    #[test]
    fn a_number_of_points_is_refused_before_there_is_room_for_them() {
        let mut vast = part(&[0], 5);
        vast.plan.points = usize::MAX;
        let refused = merged(&[vast]).unwrap_err().to_string();
        assert!(
            refused.starts_with("part 0: says that its sweep has 18446744073709551615 points")
                && refused.contains("at most 2000"),
            "{refused}"
        );
    }

    #[test]
    fn one_figure_weighs_high_utilizations_more() {
        let mut whole = part(&[0, 1, 2, 3], 10);
        whole.points[3].shares[0].share = 0.0;
        // (0.25 + 0.5 + 0.75) / 2.5.
        assert_eq!(whole.weighted("light", "ideal", "P-EDF"), Some(0.6));
        assert_eq!(whole.up_to(0.99, "light", "ideal", "P-EDF"), Some(0.75));
        assert_eq!(whole.weighted("light", "ideal", "G-EDF"), None);
    }
}
