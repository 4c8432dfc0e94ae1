//! The rows of the short answer: for each policy the worst of its phases, idle and under load.

use super::why::why;
use super::{Class, Figures, Row, RowVerdict};
use crate::label::policy as label;
use crate::text::quantile;
use wakepath_assess::{Assessment, more_may_be_late};
use wakepath_statistics::Quantile;
use wakepath_timeline::one_line;
use wakepath_verdict::{Caution, Judgement, Outcome, Reason, fraction, gravest, upper_fraction};

/// Whether wakepath made no load, in phases named idle.
pub(crate) fn is_idle(assessment: &Assessment) -> bool {
    let mut conditions = assessment.conditions.iter();
    assessment.loads.is_empty() && conditions.all(|of| of.name.phase == "idle")
}

/// Classes and rows, in the order in which the policies were measured.
pub(crate) fn rows(assessment: &Assessment) -> (Vec<Class>, Vec<Row>) {
    let is_loaded = |phase: &str| assessment.loads.iter().any(|load| load.phase == phase);
    let conditions = &assessment.conditions;
    let any = |loaded| {
        let mut phases = conditions.iter().map(|of| is_loaded(&of.name.phase));
        phases.any(|is| is == loaded)
    };
    let classes = match (any(false), any(true)) {
        (true, true) => vec![Class::Idle, Class::UnderLoad],
        (false, true) => vec![Class::UnderLoad],
        (true, false) if is_idle(assessment) => vec![Class::Idle],
        _ => vec![Class::All],
    };
    let holds = |class: Class, of: &Judgement| match class {
        Class::Idle => !is_loaded(&of.name.phase),
        Class::UnderLoad => is_loaded(&of.name.phase),
        Class::All => true,
    };
    let mut rows: Vec<Row> = Vec::new();
    for first in conditions {
        let name = label(&first.name);
        if rows.iter().any(|row| row.label == name) {
            continue;
        }
        let own: Vec<&Judgement> = conditions
            .iter()
            .filter(|of| label(&of.name) == name)
            .collect();
        let figures = classes.iter().map(|&class| {
            let inside = own.iter().filter(|of| holds(class, of));
            inside.map(|of| figures(assessment, of)).reduce(worse)
        });
        let outcome = verdict(assessment, first, &own);
        let not_real_time = |caution: &Caution| matches!(caution, Caution::NotRealTime { .. });
        rows.push(Row {
            figures: figures.collect(),
            verdict: RowVerdict::Judged {
                outcome,
                is_real_time: !own.iter().any(|of| of.cautions.iter().any(not_real_time)),
            },
            why: why(assessment, &name, Some(outcome)),
            label: name,
        });
    }
    for missing in &assessment.not_measured {
        if !rows
            .iter()
            .any(|row| row.label == one_line(&missing.condition))
        {
            let label = one_line(&missing.condition);
            rows.push(Row {
                why: why(assessment, &label, None),
                label,
                figures: vec![None; classes.len()],
                verdict: RowVerdict::NotMeasured,
            });
        }
    }
    (classes, rows)
}

/// A policy's verdict over all phases; a task's where tasks are judged one by one.
fn verdict(assessment: &Assessment, first: &Judgement, own: &[&Judgement]) -> Outcome {
    let policies = &assessment.overall.policies;
    let of_policy = policies.iter().find(|of| of.policy == first.name.policy);
    match (of_policy, &first.name.task) {
        (Some(of), None) => of.outcome,
        _ => gravest(own).unwrap_or(Outcome::Passed),
    }
}

impl Figures {
    /// Share of due times missed as tables show it, with the bound if none was and there is room.
    pub(crate) fn missed_text(&self, with_bound: bool) -> Option<String> {
        let bound = self.missed_at_most.filter(|_| with_bound);
        self.missed.map(|missed| match (self.is_least, bound) {
            (true, _) => format!("≥ {}", fraction(missed)),
            (false, Some(bound)) if missed <= 0.0 => {
                format!("0 (≤ {})", upper_fraction(bound, 1.0))
            }
            (false, None) if missed <= 0.0 => "0".to_owned(),
            (false, _) => fraction(missed),
        })
    }
}

fn figures(assessment: &Assessment, of: &Judgement) -> Figures {
    let latency = of.cycles.latency_as_scheduled.as_ref();
    let at = |wanted| {
        let (value, is_maximum) = quantile(latency?, wanted);
        value.filter(|_| !is_maximum)
    };
    Figures {
        missed: (of.cycles.misses.filter(|misses| misses.due > 0)).map(|misses| misses.fraction()),
        missed_at_most: of.reasons.iter().find_map(at_most_missed),
        is_least: more_may_be_late(assessment, of),
        median_ns: latency.and_then(|found| quantile(found, Quantile::P50).0),
        p999_ns: at(Quantile::P999),
        max_ns: latency.map(|found| found.max),
    }
}

/// The bound on the share missed, if none was.
fn at_most_missed(reason: &Reason) -> Option<f64> {
    match reason {
        Reason::MissFractionWithin {
            missed: 0, at_most, ..
        }
        | Reason::MissFractionUndecided {
            missed: 0, at_most, ..
        }
        | Reason::NoMissesObserved { at_most, .. }
        | Reason::EvidenceMissing { at_most, .. } => Some(*at_most),
        _ => None,
    }
}

/// The worse of each figure. A percentile is left out if one sample is too small for it: the
/// other's would pass for that of both.
fn worse(one: Figures, other: Figures) -> Figures {
    Figures {
        missed: match (one.missed, other.missed) {
            (Some(one), Some(other)) => Some(one.max(other)),
            (one, other) => one.or(other),
        },
        // Of several phases without a miss, the one that shows least.
        missed_at_most: one
            .missed_at_most
            .zip(other.missed_at_most)
            .map(|(one, other)| one.max(other)),
        is_least: one.is_least || other.is_least,
        median_ns: one.median_ns.zip(other.median_ns).map(|(a, b)| a.max(b)),
        p999_ns: one.p999_ns.zip(other.p999_ns).map(|(a, b)| a.max(b)),
        max_ns: one.max_ns.max(other.max_ns),
    }
}
