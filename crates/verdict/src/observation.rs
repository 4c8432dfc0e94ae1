//! Statements about the largest values: they were observed, with the probability that the next one
//! exceeds them. Never a bound, and never part of a verdict.

use crate::CycleSummary;
use crate::wording::{confidence, count, upper_fraction};
use serde::Serialize;
use std::fmt;
use wakepath_statistics::{DistributionSummary, miss_bound_without_misses};
use wakepath_timeline::duration::three_digits;

/// The largest value of a kind, with what it is worth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Observation {
    /// Of what.
    pub of: Observed,
    /// Largest of `count` observed, in nanoseconds.
    pub largest_ns: i64,
    /// How many were observed.
    pub count: u64,
    /// Upper bound on the probability that the next one exceeds it, 1 − α^{1/count}, if they are
    /// independent and nothing changes.
    pub exceeded_at_most: f64,
    /// One-sided confidence of that bound.
    pub confidence: f64,
}

/// One observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// Wake-up latency over all due times, skipped ones with what they suffered.
    LatencyAsScheduled,
    /// Response time over the cycles that ran.
    Response,
    /// Execution time over the cycles that ran.
    Execution,
}

pub(crate) fn observations(cycles: &CycleSummary, confidence: f64) -> Vec<Observation> {
    let observation = |of, found: &Option<DistributionSummary>| {
        let DistributionSummary {
            count,
            max: largest_ns,
            ..
        } = *found.as_ref()?;
        let exceeded_at_most = miss_bound_without_misses(count as f64, confidence);
        Some(Observation {
            of,
            largest_ns,
            count,
            exceeded_at_most,
            confidence,
        })
    };
    [
        observation(Observed::LatencyAsScheduled, &cycles.latency_as_scheduled),
        observation(Observed::Response, &cycles.response),
        observation(Observed::Execution, &cycles.execution),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match self.of {
            Observed::LatencyAsScheduled => "wake-up latency as scheduled",
            Observed::Response => "response time",
            Observed::Execution => "execution time",
        };
        write!(
            f,
            "{of}: {} is the largest of {} observed; the next exceeds it with a probability of at \
             most {} ({} confidence) if they are independent",
            three_digits(self.largest_ns),
            count(self.count),
            upper_fraction(self.exceeded_at_most, 1.0),
            confidence(self.confidence),
        )
    }
}
