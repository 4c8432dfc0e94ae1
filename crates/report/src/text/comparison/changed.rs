//! The figures of a comparison that differ most, relative to the margin.

use super::figures::{difference, shown};
use super::tables::metric_label;
use super::tone;
use crate::table::{Cell, Table, number, words};
use wakepath_assess::{Comparison, ConditionComparison, Metric, MetricComparison, median};
use wakepath_timeline::columns::cut;

/// The rows that were asked for, and how many there would be.
pub(crate) struct Changed {
    /// Base, against, difference; the finding if there is more than one run per side.
    pub(crate) table: Table,
    /// Figures that differ by more than the margin.
    pub(crate) beyond: usize,
    /// Figures of both sides.
    pub(crate) all: usize,
}

struct Row<'a> {
    condition: &'a ConditionComparison,
    metric: &'a MetricComparison,
    /// Medians of the sides.
    sides: [f64; 2],
    difference: f64,
    /// In margins.
    apart: f64,
}

impl<'a> Row<'a> {
    fn new(condition: &'a ConditionComparison, metric: &'a MetricComparison) -> Option<Self> {
        if metric.base.is_empty() || metric.against.is_empty() {
            return None;
        }
        let sides = [median(&metric.base), median(&metric.against)];
        let shift = metric.shift.map(|shift| shift.estimate);
        let difference = shift.unwrap_or(sides[1] - sides[0]);
        let margin = metric.margin.filter(|margin| *margin > 0.0);
        Some(Self {
            condition,
            metric,
            sides,
            difference,
            apart: difference.abs() / margin.unwrap_or(f64::INFINITY),
        })
    }

    fn label(&self) -> String {
        let name = match self.metric.metric {
            Metric::Maximum => format!("max of {} due times", self.condition.equal_count),
            other => metric_label(other).to_owned(),
        };
        format!("{}, {name}", self.condition.name)
    }
}

/// The largest differences first, up to a number; labels are cut to their columns.
pub(crate) fn most_changed(comparison: &Comparison, most: usize, columns: usize) -> Changed {
    let figures = comparison.conditions.iter().flat_map(|condition| {
        let metrics = condition.metrics.iter();
        metrics.filter_map(move |metric| Row::new(condition, metric))
    });
    let mut rows: Vec<Row<'_>> = figures.collect();
    rows.sort_by(|a, b| b.apart.total_cmp(&a.apart));
    let mut table = Table::new("Figure").group(
        "",
        "",
        &[number("base"), number("against"), number("difference")],
    );
    let has_findings = comparison.base.len() > 1 && comparison.against.len() > 1;
    if has_findings {
        table = table.column(words("finding"));
    }
    for row in rows.iter().take(most) {
        let shown = |value: f64| shown(row.metric.metric, value);
        let mut cells: Vec<Cell> = row.sides.map(|side| shown(side).into()).to_vec();
        cells.push(difference(row.metric.metric, row.difference).into());
        if has_findings {
            let finding = row.metric.finding;
            cells.push(Cell::Toned(finding.to_string(), tone(finding)));
        }
        table.row(cut(&row.label(), columns), cells);
    }
    Changed {
        table,
        beyond: rows.iter().filter(|row| row.apart > 1.0).count(),
        all: rows.len(),
    }
}
