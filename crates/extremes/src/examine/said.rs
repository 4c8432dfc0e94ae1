//! What is asked of a series and what may be said of it. How it is found is beside it.

use crate::gate::Gate;
use crate::pareto::Pareto;
use crate::steadiness::Test;
use wakepath_statistics::miss_bound_without_misses;

/// What is asked of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Question {
    /// Probability, for each cycle, of exceeding the level wanted; between 0 and 1.
    pub exceed: f64,
    /// One-sided confidence of bounds.
    pub confidence: f64,
    /// Where resamples are drawn from.
    pub seed: u64,
    /// How many resamples decide the goodness of fit and calibrate the bound.
    pub draws: u32,
}

/// What is true of the largest value without any theory of extremes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Observed {
    /// Values.
    pub count: u64,
    /// The largest of them.
    pub largest: i64,
    /// 1 over the mean size of clusters of high values.
    pub extremal_index: f64,
    /// Values that count as independent, `extremal_index` · `count`.
    pub effective: f64,
    /// Upper bound on the probability that the next value exceeds the largest: 1 − α^{1/effective}.
    pub exceeded_at_most: f64,
    /// Confidence of that bound.
    pub confidence: f64,
}

impl Observed {
    /// Of so many values that count as `effective` independent ones.
    pub fn new(count: u64, largest: i64, extremal_index: f64, confidence: f64) -> Self {
        let effective = extremal_index * count as f64;
        Self {
            count,
            largest,
            extremal_index,
            effective,
            exceeded_at_most: miss_bound_without_misses(effective, confidence),
            confidence,
        }
    }
}

/// The tail above one threshold.
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
    /// The fit by L-moments; `None` where they give none.
    pub by_moments: Option<Pareto>,
    /// Anderson and Darling's A² and its probability by resampling, where that was reached.
    pub anderson_darling: (f64, Option<f64>),
}

/// The level that is exceeded with the probability asked for, with its bound.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Estimate {
    /// The tail that it was estimated from.
    pub tail: Tail,
    /// The level, in nanoseconds.
    pub level: f64,
    /// Its one-sided upper bound, never below the largest value observed, in nanoseconds.
    pub bound: f64,
    /// The lowest and highest of the bounds over all thresholds from the one chosen up.
    pub over_thresholds: (f64, f64),
    /// The bound by largest values of blocks, in nanoseconds.
    pub by_blocks: f64,
    /// One-sided bounds of the shape.
    pub shape: (f64, f64),
    /// The signed root that the bound was made with: −1.645 at 95 % were it normal.
    pub root: f64,
}

/// What is said of the level asked for.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
pub enum Answer {
    /// The run is long enough for the largest value observed to be the bound: no theory is needed.
    Observed,
    /// The estimate, every gate passed.
    Estimated(Box<Estimate>),
    /// No estimate: a gate failed.
    Refused,
}

/// A series with all that may be said of its largest value.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Examined {
    /// What holds without theory.
    pub observed: Observed,
    /// The gates that were reached, in order.
    pub gates: Vec<Gate>,
    /// What bears on the answer without deciding it.
    pub cautions: Vec<String>,
    /// Every test of dependence and drift.
    pub tests: Vec<Test>,
    /// The thresholds tried, from the lowest.
    pub tails: Vec<Tail>,
    /// The tail's class by its coefficient of variation: √n (CV − 1), its probability under an
    /// exponential tail, |CV − 1|.
    pub class: Option<(f64, f64, f64)>,
    /// What is said of the level.
    pub answer: Answer,
}

impl Examined {
    /// The gates that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Gate> {
        self.gates.iter().filter(|gate| !gate.passed)
    }
}
