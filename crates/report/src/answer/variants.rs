//! Programs that a run tried in turns, side by side: the few figures needed to choose one. Each condition
//! has all of its figures in the table of conditions.

use crate::table::{Cell, Table, number, words};
use crate::text::{fate_of, quantile};
use serde::{Deserialize, Serialize};
use wakepath_assess::Assessment;
use wakepath_statistics::Quantile;
use wakepath_timeline::condition_label;
use wakepath_verdict::Judgement;

/// A program under a policy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantRow {
    /// The policy.
    pub policy: String,
    /// The phase that has the program.
    pub program: String,
    /// Its figures; `None` if nothing was measured.
    pub figures: Option<VariantFigures>,
}

/// Its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantFigures {
    /// Median wake-up latency as scheduled, ns.
    pub median_ns: Option<i64>,
    /// Its 99th percentile, ns; `None` where a sample is too small for it.
    pub p99_ns: Option<i64>,
    /// The largest, ns.
    pub max_ns: Option<i64>,
    /// Due times.
    pub scheduled: u64,
    /// Those missed; `None` without a criterion.
    pub missed: Option<u64>,
    /// Those at which no cycle ran; `None` if nothing shows them.
    pub skipped: Option<u64>,
    /// Fate of the vehicle that was flown with it.
    pub flight: Option<String>,
    /// The verdict on it.
    pub verdict: String,
}

/// The variants policy by policy, in the scenario's order; none if only one program was measured.
pub(crate) fn variants(assessment: &Assessment) -> Vec<VariantRow> {
    let label =
        |one: &Judgement| condition_label(one.name.policy.as_ref(), one.name.task.as_deref());
    let mut policies: Vec<String> = Vec::new();
    for condition in &assessment.conditions {
        if !policies.contains(&label(condition)) {
            policies.push(label(condition));
        }
    }
    let mut rows = Vec::new();
    for policy in policies {
        for variant in &assessment.variants {
            let is_it = |one: &&Judgement| one.name.phase == variant.phase && label(one) == policy;
            let found = assessment.conditions.iter().find(is_it);
            rows.push(VariantRow {
                policy: policy.clone(),
                program: variant.phase.clone(),
                figures: found.map(|condition| figures(assessment, condition)),
            });
        }
    }
    rows
}

fn figures(assessment: &Assessment, condition: &Judgement) -> VariantFigures {
    let cycles = &condition.cycles;
    let latency = cycles.latency_as_scheduled.as_ref();
    let at = |wanted| {
        let (value, is_maximum) = quantile(latency?, wanted);
        value.filter(|_| !is_maximum)
    };
    let flights = assessment.flights.as_ref();
    let flown = flights.and_then(|of| of.conditions.iter().find(|one| one.name == condition.name));
    VariantFigures {
        median_ns: at(Quantile::P50),
        p99_ns: at(Quantile::P99),
        max_ns: latency.map(|found| found.max),
        scheduled: cycles.scheduled,
        missed: cycles.missed(),
        skipped: cycles.skipped,
        flight: flown.and_then(fate_of),
        verdict: condition.outcome.to_string(),
    }
}

/// The variants below each other, policy by policy.
pub(crate) fn table(rows: &[VariantRow]) -> Table {
    let mut table = Table::new("")
        .group("latency", "", &["median", "p99", "max"].map(number))
        .group(
            "due times",
            "",
            &[number("all"), number("missed"), number("skipped")],
        )
        .column(words("flight"))
        .column(words("verdict").leading());
    let time = |ns: Option<i64>| Cell::from(ns.map(Cell::time));
    let mut under = "";
    for row in rows {
        if row.policy != under {
            under = &row.policy;
            table.heading(under);
        }
        let Some(figures) = &row.figures else {
            table.instead(row.program.clone(), "not measured");
            continue;
        };
        table.row(
            row.program.clone(),
            vec![
                time(figures.median_ns),
                time(figures.p99_ns),
                time(figures.max_ns),
                Cell::new(figures.scheduled),
                figures.missed.map(Cell::new).into(),
                figures.skipped.map(Cell::new).into(),
                figures.flight.clone().into(),
                figures.verdict.as_str().into(),
            ],
        );
    }
    table
}
