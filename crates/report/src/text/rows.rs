//! The conditions of a run as a table, for the terminal, the page and Markdown alike: each figure
//! that a tool does not record is unknown, never 0.

use super::tone;
use crate::table::{Cell, Table, number, words};
use wakepath_assess::{Assessment, more_may_be_late};
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_timeline::Measured;
use wakepath_timeline::condition_label;
use wakepath_verdict::{Caution, Judgement, Misses, fraction};

/// Every figure of every condition, phase by phase.
pub(crate) fn conditions_table(assessment: &Assessment) -> Table {
    let mut table = Table::new("Policy")
        .class("measured")
        .caption(
            "Due times, latencies and misses of each condition. Latency is as scheduled: over all \
             due times, skipped ones with what they suffered. – means the sample is too \
             small for that percentile.",
        )
        .group(
            "due times",
            "",
            &[number("scheduled"), number("executed"), number("skipped")],
        )
        .group(
            measured(assessment).title(),
            "",
            &["min", "median", "mean", "p99", "p99.9", "max"].map(number),
        )
        .group("execution", "", &["median", "max"].map(number))
        .group("response", "", &["median", "max"].map(number))
        .group("misses", "", &["count", "in a row"].map(number))
        .group("outage", "", &[number("longest")])
        .column(words("verdict").leading());
    let mut not_measured = vec![Cell::Blank; table.width() - 1];
    not_measured.push("not measured".into());
    for phase in phases(assessment) {
        table.heading(phase);
        for judgement in assessment
            .conditions
            .iter()
            .filter(|c| c.name.phase == phase)
        {
            table.row(label(judgement), cells(assessment, judgement));
            if judgement.cycles.skipped > Some(0) {
                let mut executed = vec![Cell::Blank; 3];
                executed.extend(latency(judgement.cycles.latency_as_executed.as_ref()));
                table.aside("as executed", executed);
            }
        }
        for missing in assessment.not_measured.iter().filter(|m| m.phase == phase) {
            table.row(missing.condition.clone(), not_measured.clone());
        }
    }
    table
}

/// Kind of the values: a run of wakepath measures latencies.
pub(crate) fn measured(assessment: &Assessment) -> Measured {
    let imported = assessment.imported.as_ref();
    imported.map_or(Measured::Latency, |imported| imported.measured)
}

/// The few figures that fit into the description of a change.
pub(crate) fn short_table(assessment: &Assessment) -> Table {
    let mut table = Table::new("policy")
        .column(number("due times"))
        .column(number("skipped"))
        .column(number("missed"))
        .column(number("median"))
        .column(number("p99.9"))
        .column(number("max"))
        .column(words("verdict"));
    for phase in phases(assessment) {
        table.heading(phase);
        for judgement in assessment
            .conditions
            .iter()
            .filter(|c| c.name.phase == phase)
        {
            let Counts {
                scheduled,
                skipped,
                missed,
                ..
            } = Counts::new(assessment, judgement);
            let missed = match (missed, judgement.cycles.misses) {
                (Cell::Text(count), Some(misses)) if misses.missed > 0 => {
                    Cell::Text(format!("{count} ({})", fraction(misses.fraction())))
                }
                (count, _) => count,
            };
            let found = judgement.cycles.latency_as_scheduled.as_ref();
            let at = |wanted| Cell::from(found.and_then(|found| told(found, wanted)));
            table.row(
                condition_label(
                    judgement.name.policy.as_ref(),
                    judgement.name.task.as_deref(),
                ),
                vec![
                    scheduled,
                    skipped,
                    missed,
                    at(Quantile::P50),
                    at(Quantile::P999),
                    found.map(|found| Cell::time(found.max)).into(),
                    Cell::new(judgement.outcome),
                ],
            );
        }
        for missing in assessment.not_measured.iter().filter(|m| m.phase == phase) {
            table.instead(missing.condition.clone(), "not measured");
        }
    }
    table
}

/// The phases in the order in which they were measured.
fn phases(assessment: &Assessment) -> Vec<&str> {
    let judged = assessment
        .conditions
        .iter()
        .map(|one| one.name.phase.as_str());
    let missing = assessment.not_measured.iter().map(|one| one.phase.as_str());
    let mut phases: Vec<&str> = Vec::new();
    for phase in judged.chain(missing) {
        if !phases.contains(&phase) {
            phases.push(phase);
        }
    }
    phases
}

/// A condition's name in its phase.
fn label(judgement: &Judgement) -> String {
    let name = &judgement.name;
    let label = condition_label(name.policy.as_ref(), name.task.as_deref());
    let not_real_time = |caution: &Caution| matches!(caution, Caution::NotRealTime { .. });
    if judgement.cautions.iter().any(not_real_time) {
        format!("{label} (not real-time)")
    } else {
        label
    }
}

/// Counts of a condition, as far as known.
pub(crate) struct Counts {
    pub(crate) scheduled: Cell,
    pub(crate) skipped: Cell,
    pub(crate) missed: Cell,
    pub(crate) in_a_row: Cell,
    /// Groups of misses close to each other.
    pub(crate) clusters: Cell,
    /// Misses in the largest of them.
    pub(crate) largest_cluster: Cell,
}

impl Counts {
    pub(crate) fn new(assessment: &Assessment, judgement: &Judgement) -> Self {
        let cycles = &judgement.cycles;
        let if_known = |count: Option<u64>| count.map_or(Cell::Unknown, Cell::new);
        let of_misses =
            |figure: fn(Misses) -> Option<u64>| if_known(cycles.misses.and_then(figure));
        Self {
            scheduled: if_known(cycles.skipped.map(|_| cycles.scheduled)),
            skipped: match (cycles.skipped, cycles.unseen) {
                // Of those it is not known whether they ran at once, late.
                (Some(skipped), 1..) => Cell::Text(format!("≤ {}", skipped + cycles.unseen)),
                (skipped, _) => if_known(skipped),
            },
            missed: match (cycles.missed(), more_may_be_late(assessment, judgement)) {
                // Late for certain; of the values beyond the histogram more may be.
                (Some(missed), true) => Cell::Text(format!("≥ {missed}")),
                (missed, _) => if_known(missed),
            },
            in_a_row: of_misses(|misses| misses.longest_run),
            clusters: of_misses(|misses| misses.clusters),
            largest_cluster: of_misses(|misses| misses.largest_cluster),
        }
    }
}

fn cells(assessment: &Assessment, judgement: &Judgement) -> Vec<Cell> {
    let cycles = &judgement.cycles;
    let Counts {
        scheduled,
        skipped,
        missed,
        in_a_row,
        ..
    } = Counts::new(assessment, judgement);
    let mut cells = vec![scheduled, Cell::new(cycles.executed), skipped];
    cells.extend(latency(cycles.latency_as_scheduled.as_ref()));
    for distribution in [&cycles.execution, &cycles.response] {
        let of = |figure: fn(&DistributionSummary) -> Option<i64>| match distribution {
            Some(found) => figure(found).map(Cell::time).into(),
            None => Cell::Blank,
        };
        cells.push(of(|found| quantile(found, Quantile::P50).0));
        cells.push(of(|found| Some(found.max)));
    }
    cells.extend([missed, in_a_row]);
    cells.push(match cycles.longest_outage {
        Some(outage) => Cell::length(outage.length_ns),
        None => Cell::Blank,
    });
    cells.push(Cell::Toned(
        judgement.outcome.to_string(),
        tone(judgement.outcome),
    ));
    cells
}

/// min, median, mean, p99, p99.9, max. A quantile that the sample is too small for is left out
/// rather than shown as the maximum that it would be.
fn latency(distribution: Option<&DistributionSummary>) -> Vec<Cell> {
    let Some(distribution) = distribution else {
        return vec![Cell::Blank; 6];
    };
    vec![
        Cell::time(distribution.min),
        quantile(distribution, Quantile::P50)
            .0
            .map(Cell::time)
            .into(),
        Cell::mean_time(distribution.mean),
        told(distribution, Quantile::P99).into(),
        told(distribution, Quantile::P999).into(),
        Cell::time(distribution.max),
    ]
}

/// A quantile that the sample is large enough for.
fn told(distribution: &DistributionSummary, wanted: Quantile) -> Option<Cell> {
    let (value, is_maximum) = quantile(distribution, wanted);
    value.filter(|_| !is_maximum).map(Cell::time)
}

/// A quantile's value, if it is known, and whether it is merely the maximum.
pub(crate) fn quantile(
    distribution: &DistributionSummary,
    wanted: Quantile,
) -> (Option<i64>, bool) {
    let found = distribution.quantile(wanted);
    found.map_or((None, true), |found| (found.value, found.is_maximum))
}
