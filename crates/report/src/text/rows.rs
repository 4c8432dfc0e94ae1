//! The rows of the table, for the terminal and for the page alike.

use crate::table::Table;
use wakepath_assess::Assessment;
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_verdict::{Caution, CycleSummary, Judgement};

/// The columns of the table, in groups with a title.
pub(crate) const COLUMNS: &[(&str, &[&str])] = &[
    ("due times", &["scheduled", "executed", "skipped"]),
    (
        "wake-up latency, µs",
        &["min", "median", "mean", "p99", "p99.9", "max"],
    ),
    ("execution, µs", &["median", "max"]),
    ("response, µs", &["median", "max"]),
    ("misses", &["count", "in a row"]),
    ("outage, ms", &["longest"]),
    ("", &["verdict"]),
];
/// Places of columns that an imported run may know nothing of.
pub(crate) const SCHEDULED: usize = 0;
pub(crate) const SKIPPED: usize = 2;
pub(crate) const MISSES: usize = 13;
pub(crate) const IN_A_ROW: usize = 14;

pub(super) fn table(assessment: &Assessment) -> Table {
    let mut table = Table::new(COLUMNS);
    for phase in phases(assessment) {
        table.row(phase, Vec::new());
        for judgement in assessment
            .conditions
            .iter()
            .filter(|c| c.name.phase == phase)
        {
            table.row(
                format!("  {}", row_label(judgement)),
                row(assessment, judgement),
            );
            if judgement.cycles.skipped > 0 {
                table.row("    as executed", executed_row(&judgement.cycles));
            }
        }
        for missing in assessment.not_measured.iter().filter(|m| m.phase == phase) {
            let cells = vec![String::new(); 15].into_iter();
            let cells = cells.chain(["not measured".into()]).collect();
            table.row(format!("  {}", missing.condition), cells);
        }
    }
    table
}

/// The phases in the order in which they were measured.
pub(crate) fn phases(assessment: &Assessment) -> Vec<&str> {
    let judged = assessment
        .conditions
        .iter()
        .map(|judged| judged.name.phase.as_str());
    let missing = assessment
        .not_measured
        .iter()
        .map(|missing| missing.phase.as_str());
    let mut phases: Vec<&str> = Vec::new();
    for phase in judged.chain(missing) {
        if !phases.contains(&phase) {
            phases.push(phase);
        }
    }
    phases
}

/// What an imported run's tool does not record stands as not known, never as 0.
pub(crate) fn row(assessment: &Assessment, judgement: &Judgement) -> Vec<String> {
    let mut cells = all_cells(judgement);
    if let Some(imported) = &assessment.imported {
        super::imported::unknown_cells(&mut cells, imported);
    }
    cells
}

pub(crate) fn row_label(judgement: &Judgement) -> String {
    let policy = judgement.name.policy.map(|policy| policy.to_string());
    let parts: Vec<String> = policy
        .into_iter()
        .chain(judgement.name.task.clone())
        .collect();
    let label = match parts.is_empty() {
        true => "task set".into(),
        false => parts.join(", "),
    };
    let cautions = &judgement.cautions;
    match cautions
        .iter()
        .any(|one| matches!(one, Caution::NotRealTime { .. }))
    {
        true => format!("{label} (not real-time)"),
        false => label,
    }
}

fn all_cells(judgement: &Judgement) -> Vec<String> {
    let cycles = &judgement.cycles;
    let mut cells = vec![
        cycles.scheduled.to_string(),
        cycles.executed.to_string(),
        cycles.skipped.to_string(),
    ];
    cells.extend(latency_cells(cycles.latency_as_scheduled.as_ref()));
    for distribution in [&cycles.execution, &cycles.response] {
        cells.push(
            distribution
                .as_ref()
                .map_or(String::new(), |d| micros(quantile(d, Quantile::P50).0)),
        );
        cells.push(
            distribution
                .as_ref()
                .map_or(String::new(), |d| micros(d.max)),
        );
    }
    cells.push(cycles.misses.missed.to_string());
    cells.push(cycles.misses.longest_run.to_string());
    cells.push(cycles.longest_outage.map_or(String::new(), |outage| {
        format!("{:.2}", outage.length_ns as f64 / 1e6)
    }));
    cells.push(judgement.outcome.to_string());
    cells
}

pub(crate) fn executed_row(cycles: &CycleSummary) -> Vec<String> {
    let mut cells = vec![String::new(); 3];
    cells.extend(latency_cells(cycles.latency_as_executed.as_ref()));
    cells
}

/// min, median, mean, p99, p99.9, max. A quantile that the sample is too small for is left out
/// rather than shown as the maximum that it would be.
fn latency_cells(distribution: Option<&DistributionSummary>) -> Vec<String> {
    let Some(distribution) = distribution else {
        return vec![String::new(); 6];
    };
    let at = |wanted| match quantile(distribution, wanted) {
        (_, true) => "–".to_owned(),
        (value, false) => micros(value),
    };
    vec![
        micros(distribution.min),
        micros(quantile(distribution, Quantile::P50).0),
        format!("{:.1}", distribution.mean / 1e3),
        at(Quantile::P99),
        at(Quantile::P999),
        micros(distribution.max),
    ]
}

/// A quantile's value, and whether it is merely the maximum.
fn quantile(distribution: &DistributionSummary, wanted: Quantile) -> (i64, bool) {
    let found = distribution
        .quantiles
        .iter()
        .find(|quantile| quantile.parts_per_million == wanted.parts_per_million());
    found.map_or((distribution.max, true), |found| {
        (found.value, found.is_maximum)
    })
}

fn micros(ns: i64) -> String {
    format!("{:.1}", ns as f64 / 1e3)
}
