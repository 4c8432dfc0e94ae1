//! The counts and the bounds of every condition; methods and assumptions, once; and limits of any run.

use super::nothing;
use crate::markup::Markup;
use crate::page::Reported;
use crate::table::{Cell, Table, number, words};
use crate::text::{Counts, tone};
use wakepath_assess::Assessment;
use wakepath_timeline::duration::three_digits;
use wakepath_verdict::{
    CLUSTER_GAP, Caution, Judgement, Observed, Reason, confidence, fraction, upper_fraction,
};

/// Writes every condition's evidence.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    let assessment = run.assessment;
    if assessment.conditions.is_empty() {
        nothing(markup, "No condition was judged.");
    } else {
        evidence(assessment).write_html(markup, "Evidence");
        for (heading, said) in [
            ("Other reasons", of_conditions(assessment, reasons)),
            ("Cautions", of_conditions(assessment, cautions)),
        ] {
            if !said.is_empty() {
                markup.element("h3", &[], heading);
                markup.raw("<ul class=\"reasons\">");
                for line in said {
                    markup.element("li", &[], line);
                }
                markup.raw("</ul>");
            }
        }
    }
    assumptions(markup, run);
}

/// A row of figures for each condition.
fn evidence(assessment: &Assessment) -> Table {
    let mut table = Table::new("Condition")
        .class("evidence")
        .caption(
            "Evidence of each condition. The bound is on the share of misses: an upper one (≤) if it \
             passed or is undecided, a lower one (≥) if it failed.",
        )
        .column(words("verdict"))
        .column(number("due times"))
        .group(
            "misses",
            "",
            &["count", "groups", "largest group", "in a row", "bound"].map(number),
        )
        .column(number("longest outage"))
        .group("largest", "", &["latency", "response"].map(number))
        .column(number("next is later with p"));
    for judgement in &assessment.conditions {
        // Clusters are unknown without the order of the values.
        let counts = Counts::new(assessment, judgement);
        let largest = |of: Observed| {
            let mut all = judgement.observations.iter();
            all.find(|seen| seen.of == of)
        };
        let time = |of: Observed| largest(of).map(|seen| three_digits(seen.largest_ns));
        let later = largest(Observed::LatencyAsScheduled)
            .map(|seen| format!("≤ {}", upper_fraction(seen.exceeded_at_most, 1.0)));
        let outage = judgement.cycles.longest_outage.as_ref();
        table.row(
            Cell::new(&judgement.name),
            vec![
                Cell::Toned(judgement.outcome.to_string(), tone(judgement.outcome)),
                counts.scheduled,
                counts.missed,
                counts.clusters,
                counts.largest_cluster,
                counts.in_a_row,
                judgement.reasons.iter().find_map(bound).into(),
                outage
                    .map(|outage| three_digits(outage.length_ns.cast_signed()))
                    .into(),
                time(Observed::LatencyAsScheduled).into(),
                time(Observed::Response).into(),
                later.into(),
            ],
        );
    }
    table
}

/// The bound on the share of misses in a reason.
fn bound(reason: &Reason) -> Option<String> {
    match reason {
        Reason::MissFractionAbove { at_least, .. } => Some(format!("≥ {}", fraction(*at_least))),
        Reason::MissFractionUndecided { at_most, .. }
        | Reason::MissesDepend { at_most, .. }
        | Reason::EvidenceMissing { at_most, .. }
        | Reason::MissFractionWithin { at_most, .. }
        | Reason::NoMissesObserved { at_most, .. } => {
            Some(format!("≤ {}", upper_fraction(*at_most, 1.0)))
        }
        _ => None,
    }
}

/// Reasons that no column of figures holds.
fn reasons(judgement: &Judgement) -> Vec<String> {
    let in_a_column = |reason: &&Reason| {
        bound(reason).is_some()
            || matches!(
                reason,
                Reason::MissesObserved { .. }
                    | Reason::ConsecutiveMissesAbove { .. }
                    | Reason::ConsecutiveMissesWithin { .. }
                    | Reason::OutageAbove { .. }
                    | Reason::OutageWithin { .. }
                    // These have a chapter of their own.
                    | Reason::Flight { .. }
            )
    };
    let others = judgement
        .reasons
        .iter()
        .filter(|reason| !in_a_column(reason));
    others.map(ToString::to_string).collect()
}

/// Cautions, except those that columns of figures hold, and changes of the machine, which have a
/// chapter of their own.
fn cautions(judgement: &Judgement) -> Vec<String> {
    let elsewhere = |caution: &&Caution| {
        matches!(
            caution,
            Caution::MachineChanged { .. } | Caution::MissesCluster { .. }
        )
    };
    let own = judgement.cautions.iter();
    let own = own.filter(|caution| !elsewhere(caution));
    own.map(ToString::to_string).collect()
}

/// Remarks on conditions, each text once with its conditions.
fn of_conditions(assessment: &Assessment, said: fn(&Judgement) -> Vec<String>) -> Vec<String> {
    let mut texts: Vec<(String, Vec<String>)> = Vec::new();
    for judgement in &assessment.conditions {
        for text in said(judgement) {
            let name = judgement.name.to_string();
            match texts.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(name),
                None => texts.push((text, vec![name])),
            }
        }
    }
    let all = assessment.conditions.len();
    let line = |(text, names): (String, Vec<String>)| match names.len() {
        some if some == all && all > 1 => format!("All conditions: {text}"),
        _ => format!("{}: {text}", names.join("; ")),
    };
    texts.into_iter().map(line).collect()
}

fn assumptions(markup: &mut Markup, run: &Reported<'_>) {
    let confidence = confidence(run.assessment.criterion.confidence);
    markup.raw("<h3>Methods and their assumptions</h3><ul>");
    let lines = [
        "Percentiles are values that occurred, by nearest rank over all samples; nothing is fitted \
         or interpolated. One that the sample is too small for is not shown."
            .to_owned(),
        format!(
            "Bounds on the share of misses are Clopper and Pearson's, one-sided, at {confidence} \
             confidence. They assume that the run is typical of what follows it."
        ),
        format!(
            "Misses with at most {CLUSTER_GAP} met due times between them are a group. If misses, or near \
             misses, come together in blocks of time more than independent ones would, misses and due \
             times are divided by how much more, before either bound is taken."
        ),
        format!(
            "The probability that the next latency is larger than the largest observed is bounded \
             at {confidence} confidence too, if latencies are independent and nothing changes."
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
    markup.raw("</ul><h3>Limits of any run</h3><ul>");
    let runs = "Differences from run to run are not in it: all cycles of a run share its boot, its memory \
                layout, its temperature. Several runs with a restart between them show more than one \
                longer run.";
    let limits = [
        "The largest value observed is not a bound: a stall too rare to have happened in the run is in \
         no figure."
            .to_owned(),
        runs.to_owned(),
        "It shows nothing about other loads or another machine.".to_owned(),
        "Only a traced run shows why a cycle was late.".to_owned(),
    ];
    for line in limits {
        markup.element("li", &[], line);
    }
    markup.raw("</ul>");
}
