//! The tails above every threshold that can be fitted, and the lowest above which one tail fits.

use super::said::{Examined, Question, Tail};
use super::{LEAST_CLUSTERS, LEVEL};
use crate::exceedances::{Exceedances, Highest, counts_to_try, forward_stop};
use crate::gate::{Gate, GateName};
use crate::goodness::distances;
use crate::level::Level;
use crate::likelihood::{Excesses, Fit};
use crate::moments::LMoments;
use crate::resample::Resampling;

/// Draws of each threshold that is tried.
const DRAWS_OF_A_TRIAL: u32 = 199;

/// A threshold that was tried.
pub(super) struct Tried {
    pub(super) above: Exceedances,
    pub(super) excesses: Excesses,
    pub(super) fit: Fit,
}

/// All thresholds that can be fitted, from the lowest.
pub(super) struct Tails {
    pub(super) tried: Vec<Tried>,
    cycles: u64,
}

impl Tails {
    pub(super) fn of(highest: &Highest, most: usize, resolution: Option<f64>) -> Self {
        let mut tried: Vec<Tried> = Vec::new();
        for count in counts_to_try(most, LEAST_CLUSTERS) {
            let Some(above) = highest.above_rank(count) else {
                continue;
            };
            let above = match resolution {
                Some(step) => {
                    let least = (above.threshold - above.resolution.unwrap_or(0.0) / 2.0) as i64;
                    highest.above(least, Some(step)).unwrap_or(above)
                }
                None => above,
            };
            let excesses = above.excesses();
            let known = |other: &Tried| other.above.threshold >= above.threshold;
            if above.clusters.len() < LEAST_CLUSTERS || tried.iter().any(known) {
                continue;
            }
            if let Some(fit) = excesses.fit() {
                tried.push(Tried {
                    above,
                    excesses,
                    fit,
                });
            }
        }
        Self {
            tried,
            cycles: highest.length(),
        }
    }

    pub(super) fn told(&self) -> Vec<Tail> {
        self.tried.iter().map(Tried::told).collect()
    }

    pub(super) fn level(&self, place: usize, exceed: f64) -> Level<'_> {
        let tried = &self.tried[place];
        Level {
            excesses: &tried.excesses,
            fit: tried.fit,
            cycles: self.cycles,
            exceed,
        }
    }
}

impl Tried {
    fn told(&self) -> Tail {
        let mut sorted = self.above.values();
        sorted.sort_by(f64::total_cmp);
        Tail {
            threshold: self.above.threshold,
            exceedances: self.above.count,
            clusters: sorted.len() as u64,
            extremal_index: self.above.index,
            mean_excess: self.above.mean_excess(),
            pareto: self.fit.pareto,
            by_moments: LMoments::of(&sorted).map(|moments| moments.pareto()),
            anderson_darling: (distances(&sorted, &self.fit.pareto).anderson_darling, None),
        }
    }
}

/// The lowest threshold above which the tail fits.
pub(super) fn threshold(
    tails: &Tails,
    question: &Question,
    examined: &mut Examined,
) -> Option<usize> {
    let mut p_values = Vec::new();
    for (place, tried) in tails.tried.iter().enumerate() {
        let resampling = Resampling {
            draws: DRAWS_OF_A_TRIAL,
            seed: question.seed.wrapping_add(1 + place as u64),
            resolution: tried.above.resolution,
        };
        let resampled = resampling.of(&tails.level(place, question.exceed), false);
        let mut sorted = tried.above.values();
        sorted.sort_by(f64::total_cmp);
        let seen = distances(&sorted, &tried.fit.pareto);
        let (a2, _) = resampled.probabilities(seen);
        examined.tails[place].anderson_darling = (seen.anderson_darling, Some(a2));
        p_values.push(a2);
    }
    let chosen = forward_stop(&p_values, LEVEL);
    examined.gates.push(match chosen {
        Some(place) => Gate::passed(
            GateName::Threshold,
            format!(
                "number {} of {} fits (ForwardStop on A²): {} values in {} clusters exceed it",
                place + 1,
                p_values.len(),
                tails.tried[place].above.count,
                tails.tried[place].above.clusters.len()
            ),
        ),
        None => Gate::failed(
            GateName::Threshold,
            format!(
                "above none of {} thresholds does one tail fit (ForwardStop on A²)",
                p_values.len()
            ),
            "measure for longer, so that higher thresholds have exceedances enough",
        ),
    });
    chosen
}
