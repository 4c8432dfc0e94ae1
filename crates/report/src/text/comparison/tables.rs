//! The tables of a comparison: differences between the sides, and each metric of each
//! condition shows with all that was tested.

use super::figures::{bound_without_misses, difference, p_value, shown};
use super::tone;
use crate::table::{Cell, Table, number, words};
use wakepath_assess::{
    Comparison, ConditionComparison, Metric, MetricComparison, RunFigures, Weight, median,
};
use wakepath_timeline::condition_label;

/// Differences between the sides.
pub(crate) fn differences_table(comparison: &Comparison) -> Table {
    // A long text, of a load or a kernel's command line, is whole on the page and as JSON.
    const MOST: usize = 44;
    let mut table = Table::new("difference")
        .class("facts")
        .caption("Between the first runs of the sides")
        .column(words("base").within(MOST))
        .column(words("against").within(MOST))
        .column(words("for comparing"));
    for difference in &comparison.differences {
        let means = match difference.weight {
            Weight::Forbids => "forbids it",
            Weight::Explains => "may explain what is found",
            Weight::Note => "worth knowing",
        };
        let cells = [difference.base.as_str(), &difference.against, means];
        table.row(difference.what.as_str(), cells.map(Cell::from).to_vec());
    }
    table
}

/// Each metric of each condition.
pub(crate) fn metrics_table(comparison: &Comparison) -> Table {
    let side = ["lowest", "median", "highest"].map(number);
    let mut table = Table::new("Metric")
        .class("measured")
        .caption(
            "Over the runs of each side; p: probability of a difference this large if the side were no \
             worse, no better, or the sides differed by the margin",
        )
        .group("base", "", &side)
        .group("against", "", &side)
        .group(
            "shift",
            "",
            &["estimate", "90 % from", "to", "margin"].map(number),
        )
        .group("p if", "", &["no worse", "no better", "apart"].map(number))
        .column(words("finding").leading());
    for condition in &comparison.conditions {
        table.heading(format!("{}, {}", label(condition), condition.name.phase));
        for metric in &condition.metrics {
            table.row(metric_label(metric.metric), cells(condition, metric));
        }
    }
    table
}

pub(crate) fn label(condition: &ConditionComparison) -> String {
    let name = &condition.name;
    condition_label(name.policy.as_ref(), name.task.as_deref())
}

/// The metric in words.
pub(super) fn metric_label(metric: Metric) -> &'static str {
    match metric {
        // Otherwise the longer run would have the larger one for that alone.
        Metric::Maximum => "max of equal counts",
        other => other.word(),
    }
}

fn cells(condition: &ConditionComparison, metric: &MetricComparison) -> Vec<Cell> {
    let shown = |value: f64| shown(metric.metric, value);
    let side = |runs: &[RunFigures], values: &[f64]| -> [Cell; 3] {
        if values.is_empty() {
            return [Cell::Unknown, Cell::Unknown, Cell::Unknown];
        }
        // Zero observed misses don't mean zero risk: the run proves only a bound.
        let shown = |value: f64| {
            if metric.metric == Metric::Misses && value == 0.0 {
                format!("≤ {}", bound_without_misses(runs))
            } else {
                shown(value)
            }
        };
        let by = |choose: fn(f64, f64) -> f64| values.iter().copied().reduce(choose).map(shown);
        [
            by(f64::min).into(),
            shown(median(values)).into(),
            by(f64::max).into(),
        ]
    };
    let mut cells = side(&condition.base, &metric.base).to_vec();
    cells.extend(side(&condition.against, &metric.against));
    let shift = metric.shift;
    let by = |value: Option<f64>| Cell::from(value.map(|value| difference(metric.metric, value)));
    let p = |p: Option<f64>| Cell::from(p.map(p_value));
    cells.extend([
        by(shift.map(|shift| shift.estimate)),
        by(shift.and_then(|shift| shift.lower)),
        by(shift.and_then(|shift| shift.upper)),
        metric
            .margin
            .map(|margin| format!("±{}", shown(margin)))
            .into(),
        p(metric.adjusted.map(|p| p.worse)),
        p(metric.adjusted.map(|p| p.better)),
        p(metric.p_equivalent),
        Cell::Toned(metric.finding.to_string(), tone(metric.finding)),
    ]);
    cells
}
