//! The counts, the bounds and what they assume; and what no run of this kind can say.

use super::nothing;
use crate::markup::Markup;
use crate::page::Reported;
use crate::table::{Cell, Table, number, words};
use crate::text::Counts;
use wakepath_verdict::{CLUSTER_GAP, Caution};

/// Writes every condition's evidence.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let assessment = run.assessment;
    if assessment.conditions.is_empty() {
        nothing(markup, "No condition was judged.");
    } else {
        let mut table = Table::of("Condition")
            .class("evidence")
            .caption("What the evidence of each condition is worth")
            .column(number("Due times"))
            .column(number("Missed"))
            .column(number("Groups of misses"))
            .column(words("Bounds and limits"))
            .column(words("Largest observed"));
        for judgement in &assessment.conditions {
            // Without the order of the values nobody knows which came together.
            let counts = Counts::of(assessment, judgement);
            let reasons = judgement.reasons.iter().map(ToString::to_string);
            let cautions = judgement
                .cautions
                .iter()
                .filter(|caution| !matches!(caution, Caution::MachineChanged { .. }))
                .map(|caution| format!("caution: {caution}"));
            let observed = judgement.observations.iter().map(ToString::to_string);
            table.row(
                Cell::of(&judgement.name),
                vec![
                    counts.scheduled,
                    counts.missed,
                    counts.clusters,
                    Cell::Lines(reasons.chain(cautions).collect()),
                    Cell::Lines(observed.collect()),
                ],
            );
        }
        table.write_html(markup, "Evidence");
    }
    assumptions(markup, run);
}

fn assumptions(markup: &mut Markup, run: &Reported<'_>) {
    let confidence = run.assessment.criterion.confidence * 100.0;
    markup.raw("<h3>How these were computed, and what that assumes</h3><ul>");
    let lines = [
        "Quantiles are values that occurred, by nearest rank over all samples; nothing is fitted \
         or interpolated. One that the sample is too small for is not shown."
            .to_owned(),
        format!(
            "Bounds on the miss fraction are Clopper and Pearson's, one-sided, at {confidence} % \
             confidence. They assume that the run is typical of what follows it."
        ),
        format!(
            "Misses with at most {CLUSTER_GAP} met due times between them count as one event for \
             passing: misses and due times are divided by the size of the largest group. For \
             failing, each due time counts by itself."
        ),
        "The interval of an average comes from the means of 20 batches in the order of the run and \
         Student's t. It assumes that batches are long enough to be independent of each other."
            .to_owned(),
        "The first cycles of every segment are warm-up: recorded, not judged, in no figure."
            .to_owned(),
    ];
    for line in lines {
        markup.element("li", &[], line);
    }
    markup.raw("</ul><h3>What this run can't say</h3><ul>");
    let runs = "How another run would come out. Due times of one run share its boot, its memory \
                layout, its temperature: the replicate is the run, not the due time. Several runs, \
                with a restart between them, say more than one longer run.";
    let limits = [
        "That the largest value observed is a bound. A stall too rare to have happened in the run \
         is in no figure."
            .to_owned(),
        runs.to_owned(),
        "How the loop fares under loads that were not applied, or on another machine.".to_owned(),
        "Why a cycle was late, where the run was not traced.".to_owned(),
    ];
    for line in limits {
        markup.element("li", &[], line);
    }
    markup.raw("</ul>");
}
