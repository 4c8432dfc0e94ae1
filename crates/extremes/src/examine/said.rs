//! The question put to a series and the answer. How the answer is found is in the neighbouring files.

use crate::gate::{Gate, GateName};
use crate::steadiness::Test;
use wakepath_statistics::miss_bound_without_misses;

/// The question put to a series.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Question {
    /// Probability with which any one cycle may exceed the level; between 0 and 1. Of n cycles, n times as
    /// many exceed it on average, whether they come alone or in clusters.
    pub exceed: f64,
    /// One-sided confidence of bounds.
    pub confidence: f64,
}

/// Statement about the largest value that needs no assumption about the tail.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Observed {
    /// Number of values.
    pub count: u64,
    /// The largest of them.
    pub largest: i64,
    /// 1 over the mean size of clusters of high values.
    pub extremal_index: f64,
    /// Values that count as independent, `extremal_index` · `count`.
    pub effective: f64,
    /// Upper bound on the probability that any one cycle exceeds the largest: 1 − α^{1/effective}. `None` where
    /// drift, too few clusters or the way of measuring leave it unknown.
    pub exceeded_at_most: Option<f64>,
    /// Confidence of that bound.
    pub confidence: f64,
}

impl Observed {
    /// Statement for `count` values that are worth `extremal_index` · `count` independent ones.
    pub fn new(count: u64, largest: i64, extremal_index: f64, confidence: f64) -> Self {
        let effective = extremal_index * count as f64;
        Self {
            count,
            largest,
            extremal_index,
            effective,
            exceeded_at_most: Some(miss_bound_without_misses(effective, confidence)),
            confidence,
        }
    }

    /// Without the probability, if one of these gates takes its ground away. A level out of reach does not, and
    /// values without an order have the assumption as their caution.
    pub(super) fn held_by(mut self, gates: &[Gate]) -> Self {
        let bears = |gate: &Gate| match gate.name {
            GateName::Provenance | GateName::Count | GateName::Stationarity => !gate.passed,
            GateName::Order | GateName::Reach => false,
        };
        if gates.iter().any(bears) {
            self.exceeded_at_most = None;
        }
        self
    }
}

/// A bound for a probability smaller than the largest value alone proves.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Extended {
    /// The bound, in nanoseconds: median + `times` · (largest − median).
    pub bound: f64,
    /// Median of the series, in nanoseconds.
    pub median: i64,
    /// How many times smaller the probability asked for is than the proved one.
    pub times: f64,
}

/// The answer for the level asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "kebab-case"))]
pub enum Answer {
    /// The run is long enough: the largest value observed is the bound.
    Observed,
    /// The run is up to ten times too short: the bound is further out by the same factor.
    Extended(Extended),
    /// No bound: a gate failed.
    Refused,
}

/// A series with the answer and its grounds.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Examined {
    /// Statement about the largest value.
    pub observed: Observed,
    /// The gates that were reached, in order.
    pub gates: Vec<Gate>,
    /// Findings that bear on the answer without deciding it.
    pub cautions: Vec<String>,
    /// Every test of dependence and drift.
    pub tests: Vec<Test>,
    /// The answer.
    pub answer: Answer,
}

impl Examined {
    /// The gates that failed.
    pub fn failed(&self) -> impl Iterator<Item = &Gate> {
        self.gates.iter().filter(|gate| !gate.passed)
    }
}
