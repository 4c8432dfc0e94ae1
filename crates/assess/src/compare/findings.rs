//! Finding of each metric: regressed, improved, equivalent within the margin, inconclusive or
//! invalid. Runs are the replicates; false findings among many tests are limited.

use super::{ALPHA, CompareOrder, ConditionComparison, Metric};
use serde::Serialize;
use std::fmt;
use wakepath_scenario::Criterion;
use wakepath_statistics::{
    RankTest, Shift, adjusted_for_many, equivalence_p, equivalence_p_of_pairs, least_rank_sum_p,
    least_signed_rank_p, rank_sum_test, shift_between, shift_of_pairs, signed_rank_test,
};

/// Finding of a metric of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// Worse beyond doubt, and by more than the margin as far as known.
    Regressed,
    /// Better beyond doubt, and by more than the margin as far as known.
    Improved,
    /// Within the margin beyond doubt.
    Equivalent,
    /// Too little evidence.
    Inconclusive,
    /// A run can't be trusted.
    Invalid,
}

impl Finding {
    /// Exit code of the command.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Improved | Self::Equivalent => 0,
            Self::Invalid => 1,
            Self::Regressed => 2,
            Self::Inconclusive => 3,
        }
    }

    /// The finding on all: what regressed is found first, then what can't be trusted, then what is
    /// not known. Nothing is inconclusive.
    pub(crate) fn gravest<'a>(all: impl Iterator<Item = &'a MetricComparison> + Clone) -> Self {
        [
            Self::Regressed,
            Self::Invalid,
            Self::Inconclusive,
            Self::Improved,
            Self::Equivalent,
        ]
        .into_iter()
        .find(|finding| all.clone().any(|metric| metric.finding == *finding))
        .unwrap_or(Self::Inconclusive)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Regressed => "regressed",
            Self::Improved => "improved",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::Invalid => "invalid",
        })
    }
}

/// One metric of one condition on both sides. Values are nanoseconds, or for misses shares.
#[derive(Debug, Clone, Serialize)]
pub struct MetricComparison {
    /// Which.
    pub metric: Metric,
    /// Value of each run of the base, in the order of time; empty where a run is too short for it.
    pub base: Vec<f64>,
    /// Of each run held against it.
    pub against: Vec<f64>,
    /// What does not matter, in the metric's unit.
    pub margin: Option<f64>,
    /// By how much the second side is higher, with its 90 % interval.
    pub shift: Option<Shift>,
    /// Exact rank test: Mann–Whitney, or Wilcoxon's for pairs measured in turn.
    pub test: Option<RankTest>,
    /// Probability of what was seen if the sides differed by the margin or more.
    pub p_equivalent: Option<f64>,
    /// The probabilities adjusted for all metrics of all conditions.
    pub adjusted: Option<Adjusted>,
    /// The finding.
    pub finding: Finding,
    /// The reason, if it is not the figures.
    pub why: Option<String>,
}

/// Probabilities after Benjamini and Hochberg, over all metrics and conditions compared: that of
/// the changes shown no more than the stated share is chance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Adjusted {
    /// That the second side is no worse.
    pub worse: f64,
    /// That it is no better.
    pub better: f64,
}

/// Fills in every condition's metrics. Returns the number of runs a side that would decide one of
/// them alone, if there are fewer.
pub(crate) fn judge(
    conditions: &mut [ConditionComparison],
    order: &CompareOrder,
    criterion: &Criterion,
) -> Option<u64> {
    for condition in conditions.iter_mut() {
        condition.metrics = order
            .metrics
            .iter()
            .map(|&metric| compared(condition, metric, order, criterion))
            .collect();
    }
    let mut tested: Vec<&mut MetricComparison> = conditions
        .iter_mut()
        .flat_map(|condition| &mut condition.metrics)
        .filter(|metric| metric.test.is_some() && metric.p_equivalent.is_some())
        .collect();
    let adjust = |p: &dyn Fn(&MetricComparison) -> f64, of: &[&mut MetricComparison]| {
        adjusted_for_many(&of.iter().map(|metric| p(metric)).collect::<Vec<_>>())
    };
    let of = |test: Option<RankTest>, p: fn(RankTest) -> f64| test.map_or(1.0, p);
    let worse = adjust(&|metric| of(metric.test, |test| test.p_higher), &tested);
    let better = adjust(&|metric| of(metric.test, |test| test.p_lower), &tested);
    for (index, metric) in tested.iter_mut().enumerate() {
        let adjusted = Adjusted {
            worse: worse[index],
            better: better[index],
        };
        metric.adjusted = Some(adjusted);
        metric.finding = finding(metric, adjusted);
    }
    runs_needed(conditions, order.interleaved)
}

/// A probability that should be 1/20 may be stored as a little more.
fn small(p: f64) -> bool {
    p <= ALPHA * (1.0 + 1e-9)
}

fn finding(metric: &MetricComparison, adjusted: Adjusted) -> Finding {
    let (Some(shift), Some(margin)) = (metric.shift, metric.margin) else {
        return Finding::Inconclusive;
    };
    if small(adjusted.worse) && shift.estimate > margin {
        Finding::Regressed
    } else if small(adjusted.better) && shift.estimate < -margin {
        Finding::Improved
    } else if metric.p_equivalent.is_some_and(small) {
        // Not adjusted: the claim is that all are equivalent, and that needs each test at its own
        // level (an intersection–union test, Berger 1982).
        Finding::Equivalent
    } else {
        Finding::Inconclusive
    }
}

fn compared(
    condition: &ConditionComparison,
    metric: Metric,
    order: &CompareOrder,
    criterion: &Criterion,
) -> MetricComparison {
    let mut found = MetricComparison {
        metric,
        base: Vec::new(),
        against: Vec::new(),
        margin: None,
        shift: None,
        test: None,
        p_equivalent: None,
        adjusted: None,
        finding: Finding::Inconclusive,
        why: None,
    };
    let values = |side: &[super::RunFigures]| -> Option<Vec<f64>> {
        side.iter().map(|run| run.value(metric)).collect()
    };
    if let (Some(base), Some(against)) = (values(&condition.base), values(&condition.against)) {
        (found.base, found.against) = (base, against);
    } else {
        found.why = Some("not known in every run: too few due times, or lost by the tool".into());
    }
    let all = || condition.base.iter().chain(&condition.against);
    if let Some(bad) = all().find(|run| !run.invalid.is_empty()) {
        found.finding = Finding::Invalid;
        found.why = Some(format!("{}: {}", bad.run_id, bad.invalid.join("; ")));
        return found;
    }
    if found.base.is_empty() {
        return found;
    }
    let (base, against) = (&found.base, &found.against);
    let margin = order.margin.absolute(metric, median(base), criterion);
    let confidence = 1.0 - 2.0 * ALPHA;
    (found.shift, found.test, found.p_equivalent) = if order.interleaved {
        let pairs = base.iter().zip(against);
        let differences: Vec<f64> = pairs.map(|(base, against)| against - base).collect();
        (
            shift_of_pairs(&differences, confidence),
            signed_rank_test(&differences),
            equivalence_p_of_pairs(&differences, margin),
        )
    } else {
        (
            shift_between(base, against, confidence),
            rank_sum_test(base, against),
            equivalence_p(base, against, margin),
        )
    };
    found.margin = Some(margin);
    found
}

/// The median run's value; between two of them, the lower one: a value that occurred.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[(sorted.len() - 1) / 2]
}

/// Number of runs a side that would decide one metric alone, adjusted for all of them.
fn runs_needed(conditions: &[ConditionComparison], interleaved: bool) -> Option<u64> {
    let first = conditions.first()?;
    let have = first.base.len().min(first.against.len()) as u64;
    let tested = conditions.iter().flat_map(|condition| &condition.metrics);
    let tests = tested.filter(|metric| metric.test.is_some()).count().max(1) as f64;
    let enough = |runs: u64| {
        let least = if interleaved {
            least_signed_rank_p(runs)
        } else {
            least_rank_sum_p(runs, runs)
        };
        small(least * tests)
    };
    (1..=60)
        .find(|&runs| enough(runs))
        .filter(|&needed| needed > have)
}
