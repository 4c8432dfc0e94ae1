//! Pareto tails fitted above several thresholds, and the level that each gives if rarer values continue it.

use super::LEAST_CLUSTERS;
use super::said::Question;
use crate::exceedances::{Exceedances, Highest, counts_to_try};
use crate::level::Level;
use crate::limit_laws::normal_quantile;
use crate::pareto::Pareto;

/// Most exceedances that a tail is fitted to.
const MOST_EXCEEDANCES: usize = 1000;

/// The tail above one threshold, fitted: an estimate that holds if rarer values continue it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Tail {
    /// The threshold, in nanoseconds.
    pub threshold: f64,
    /// Values above it.
    pub exceedances: u64,
    /// Clusters of them, each counted once.
    pub clusters: u64,
    /// The extremal index there.
    pub extremal_index: f64,
    /// Mean excess in nanoseconds.
    pub mean_excess: f64,
    /// The fit by maximum likelihood, scale in nanoseconds.
    pub pareto: Pareto,
    /// Estimate of the level asked for, in nanoseconds.
    pub level: f64,
    /// One-sided upper end of its profile-likelihood interval; `None` if no level is too high.
    pub level_at_most: Option<f64>,
}

/// Tails above every threshold with clusters enough to be fitted, from the lowest. No bound follows from them.
pub fn tails(series: &[i64], question: &Question) -> Vec<Tail> {
    let most = (series.len() / 10).min(MOST_EXCEEDANCES);
    let highest = Highest::new(series, most + 1);
    let mut found: Vec<Tail> = Vec::new();
    for count in counts_to_try(most, LEAST_CLUSTERS) {
        let Some(above) = highest.above_rank(count) else {
            continue;
        };
        let known = |other: &Tail| other.threshold >= above.threshold;
        if above.clusters.len() < LEAST_CLUSTERS || found.iter().any(known) {
            continue;
        }
        found.extend(tail(&above, highest.length(), question));
    }
    found
}

fn tail(above: &Exceedances, cycles: u64, question: &Question) -> Option<Tail> {
    let excesses = above.excesses();
    let fit = excesses.fit()?;
    let level = Level {
        excesses: &excesses,
        fit,
        cycles,
        // Excesses count once for each cluster, and a cluster has 1/θ cycles.
        exceed: question.exceed * above.index,
    };
    let root = normal_quantile(1.0 - question.confidence);
    Some(Tail {
        threshold: above.threshold,
        exceedances: above.count,
        clusters: above.clusters.len() as u64,
        extremal_index: above.index,
        mean_excess: above.mean_excess(),
        pareto: fit.pareto,
        level: above.threshold + level.estimate(),
        level_at_most: level.upper_bound(root).map(|bound| above.threshold + bound),
    })
}
