//! A comparison in sentences: the evidence for the finding, why a metric shows nothing, how it was
//! compared.

use super::figures::p_value;
use wakepath_assess::{Comparison, ConditionComparison, Finding, MetricComparison};
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::{counted, fraction};

/// Limits of one run per side.
pub(crate) const ONE_RUN: &str =
    "one run per side can't distinguish a change from chance: measure several per side";

/// Why a metric of a condition shows nothing, with that metric's finding.
pub(crate) fn reasons(comparison: &Comparison) -> Vec<(Finding, String)> {
    let mut lines = Vec::new();
    for condition in &comparison.conditions {
        // A condition is invalid in all its metrics for one reason.
        let mut told: Vec<&str> = Vec::new();
        for metric in &condition.metrics {
            let Some(why) = metric.why.as_deref() else {
                continue;
            };
            let name = &condition.name;
            let line = match metric.finding {
                Finding::Invalid if told.contains(&why) => continue,
                Finding::Invalid => format!("{name}: invalid: {why}"),
                _ => format!("{name}, {}: {why}", metric.metric.word()),
            };
            lines.push((metric.finding, line));
            told.push(why);
        }
    }
    lines
}

/// Every metric of every condition.
fn all(comparison: &Comparison) -> impl Iterator<Item = (&ConditionComparison, &MetricComparison)> {
    let conditions = comparison.conditions.iter();
    conditions.flat_map(|one| one.metrics.iter().map(move |metric| (one, metric)))
}

/// The evidence for the finding: how many metrics show what, which changed by how much, and the differences
/// that this number of runs can detect.
pub(crate) fn conclusions(comparison: &Comparison) -> Vec<String> {
    let mut lines = vec![counts(comparison)];
    let told = [Finding::Regressed, Finding::Improved];
    let changed = all(comparison).filter(|(_, metric)| told.contains(&metric.finding));
    lines.extend(changed.map(|(condition, metric)| sentence(condition, metric)));
    lines.extend(what_runs_can_tell(comparison));
    lines
}

/// How many metrics show what.
fn counts(comparison: &Comparison) -> String {
    let count = |finding| {
        let metrics = all(comparison);
        metrics
            .filter(|(_, metric)| metric.finding == finding)
            .count()
    };
    let parts: Vec<String> = [
        Finding::Regressed,
        Finding::Improved,
        Finding::Equivalent,
        Finding::Inconclusive,
        Finding::Invalid,
    ]
    .into_iter()
    .filter(|&finding| count(finding) > 0)
    .map(|finding| format!("{} {finding}", count(finding)))
    .collect();
    let of = counted(all(comparison).count() as u64, "metric", "metrics");
    format!("of {of}: {}", parts.join(", "))
}

/// How it was compared.
pub(crate) fn method(comparison: &Comparison) -> [String; 2] {
    let test = if comparison.interleaved {
        "pairs measured in turn, Wilcoxon's exact signed-rank test"
    } else {
        "exact Mann–Whitney test"
    };
    [
        format!(
            "margin: {}; maxima over equal counts of due times; more is worse in every metric",
            comparison.margin
        ),
        format!(
            "{test} over runs, Hodges–Lehmann shift, Benjamini–Hochberg over all metrics; \
             two one-sided tests for equivalence; significance level {} %",
            comparison.alpha * 100.0
        ),
    ]
}

fn what_runs_can_tell(comparison: &Comparison) -> Vec<String> {
    let (base, against) = (comparison.base.len(), comparison.against.len());
    let mut lines = Vec::new();
    if base == 1 || against == 1 {
        lines.push(ONE_RUN.to_owned());
    }
    if let Some(needed) = comparison.runs_needed {
        lines.push(format!(
            "{} against {against}: {needed} runs per side would show a change of a single metric; \
             compare fewer metrics (--metric) or conditions, and fewer runs will do",
            counted(base as u64, "run", "runs")
        ));
    }
    lines
}

fn sentence(condition: &ConditionComparison, metric: &MetricComparison) -> String {
    let by = |value: f64| {
        if metric.metric.is_time() {
            three_digits(value.round() as i64)
        } else {
            fraction(value)
        }
    };
    let shift = metric.shift.map_or(0.0, |shift| shift.estimate);
    let word = if shift > 0.0 { "worse" } else { "better" };
    let interval = metric
        .shift
        .and_then(|shift| Some((shift.lower?, shift.upper?)));
    let interval = interval.map_or(String::new(), |(lower, upper)| {
        let (low, high) = if shift > 0.0 {
            (lower, upper)
        } else {
            (-upper, -lower)
        };
        let sign = if low < 0.0 { "-" } else { "" };
        format!(" (90 %: {sign}{} to {})", by(low.abs()), by(high))
    });
    let p = metric
        .adjusted
        .map_or(1.0, |p| if shift > 0.0 { p.worse } else { p.better });
    format!(
        "{}: {} {word} by {}{interval}, p = {}",
        condition.name,
        metric.metric.word(),
        by(shift.abs()),
        p_value(p)
    )
}
