//! From an assessment to the short answer.

use super::{Answer, Row, figures, is_idle, machine, next, variants};
use crate::label::policy as label;
use crate::text::{cache_delays_lines, criterion_text, no_criterion, source, virtual_time_text};
use std::cmp::Ordering;
use wakepath_assess::{Assessment, NextStep};
use wakepath_explain::Explanation;
use wakepath_timeline::duration::three_digits;
use wakepath_timeline::one_line;
use wakepath_verdict::{
    Advice, Judgement, Margin, Observed, Outcome, PolicyOutcome, count, counted, upper_fraction,
};

impl Answer {
    /// The answer to a run, with the causes from its trace if it has one.
    pub fn new(assessment: &Assessment, explanation: Option<&Explanation>) -> Self {
        let (classes, mut rows) = if measures_caches(assessment) {
            (Vec::new(), Vec::new())
        } else {
            figures::rows(assessment)
        };
        let sentences = because(assessment);
        for row in &mut rows {
            let gives_it = |sentence: &Sentence| sentence.explains.is(row);
            row.why.sentence = sentences.iter().position(gives_it);
        }
        let (machine, more_bad) = machine::matters(assessment, explanation);
        Self {
            outcome: assessment.outcome,
            exit_code: assessment.exit_code(),
            because: sentences.into_iter().map(|one| one.text).collect(),
            criterion: match (assessment.outcome, &assessment.virtual_time) {
                (Outcome::NotJudged, _) => String::new(),
                (_, Some(_)) => format!("not judged: {}", criterion_text(assessment)),
                (_, None) => criterion_text(assessment),
            },
            classes,
            rows,
            variants: variants(assessment),
            next: next::steps(assessment, explanation, &machine),
            machine,
            more_bad,
            doctor: crate::next_step::doctor(assessment),
            limits: limits(assessment),
        }
    }
}

/// Whether all that the run measured is what caches lose: how late its threads woke up is nothing that
/// anybody asked for.
pub(crate) fn measures_caches(assessment: &Assessment) -> bool {
    assessment.outcome == Outcome::NotJudged && !assessment.cache_delays.is_empty()
}

/// A sentence of the verdict's meaning.
struct Sentence {
    text: String,
    explains: Explains,
}

/// Rows whose reason a sentence gives.
enum Explains {
    None,
    /// The row that came nearest to passing, by this phase.
    Nearest {
        row: String,
        phase: String,
    },
    /// Conditions that were not measured, all for one reason.
    NotMeasured {
        rows: Vec<String>,
    },
}

impl Explains {
    fn is(&self, row: &Row) -> bool {
        match self {
            Self::None => false,
            Self::Nearest { row: label, phase } => {
                *label == row.label && Some(phase) == row.why.phase.as_ref()
            }
            Self::NotMeasured { rows } => row.why.phase.is_none() && rows.contains(&row.label),
        }
    }
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Self {
            text,
            explains: Explains::None,
        }
    }
}

/// The meaning of the verdict, in a sentence or two.
fn because(assessment: &Assessment) -> Vec<Sentence> {
    let mut because: Vec<Sentence> = Vec::new();
    match (assessment.outcome, &assessment.virtual_time) {
        (Outcome::VirtualTime, Some(time)) => because.push(virtual_time_text(time).into()),
        (Outcome::NotJudged, _) => because.push(no_criterion(assessment).to_owned().into()),
        (Outcome::Passed, _) => match &assessment.overall.recommendation {
            Some(recommendation) => because.push(format!("use {recommendation}").into()),
            None => because.extend(tightest(assessment).map(|of| kept(of).into())),
        },
        (outcome, _) => because.extend(stands_against(assessment, outcome)),
    }
    if assessment.outcome == Outcome::Passed && is_idle(assessment) {
        let without = "measured without load: behaviour while other programs work is not known";
        because.push(without.to_owned().into());
    }
    let losses = cache_delays_lines(&assessment.cache_delays).into_iter();
    because.extend(losses.map(Sentence::from));
    let remarks = assessment.remarks.iter();
    because.extend(remarks.map(|remark| one_line(remark).into()));
    let mut missing: Vec<&str> = Vec::new();
    for of in &assessment.not_measured {
        if !missing.contains(&of.reason.as_str()) {
            missing.push(&of.reason);
            let all = assessment.not_measured.iter();
            let alike = all.filter(|other| other.reason == of.reason);
            because.push(Sentence {
                text: format!(
                    "{} was not measured: {}",
                    one_line(&of.condition),
                    one_line(&of.reason)
                ),
                explains: Explains::NotMeasured {
                    rows: alike.map(|other| one_line(&other.condition)).collect(),
                },
            });
        }
    }
    if let Some(imported) = &assessment.imported {
        let lacks: Vec<String> = imported.lacks.iter().map(ToString::to_string).collect();
        let lacks = if lacks.is_empty() {
            String::new()
        } else {
            format!("; lacks {}", lacks.join("; "))
        };
        because.push(one_line(&format!("{}{lacks}", source(imported))).into());
    }
    let quick = assessment.run.quick.iter();
    because.extend(quick.map(|terms| format!("--quick: {terms}").into()));
    because
}

/// The condition with the least room, of those with the most misses.
fn tightest(assessment: &Assessment) -> Option<&Judgement> {
    let conditions = assessment.conditions.iter();
    conditions.max_by(|a, b| Margin::by_tightness(a.margin, b.margin))
}

fn kept(of: &Judgement) -> String {
    let why = of.reasons.iter().map(|reason| format!(": {reason}")).next();
    format!("the tightest was {}{}", of.name, why.unwrap_or_default())
}

/// Of all policies with this outcome the one that came nearest to passing, by the condition that
/// decided it.
pub(crate) fn nearest(assessment: &Assessment, outcome: Outcome) -> Option<&Judgement> {
    let policies = assessment.overall.policies.iter();
    let alike = policies.filter(|of| of.outcome == outcome);
    // The one that a longer run would decide: it is what is advised.
    let longer = |step: &&NextStep| matches!(step.advice, Advice::MeasureLonger { .. });
    let advised = assessment.next_steps.iter().find(longer);
    let advised = advised.and_then(|step| step.of.first());
    let nearest = alike.min_by(|a, b| by_nearness(a, b, advised))?;
    let own = assessment.conditions.iter();
    own.filter(|own| own.name.policy == nearest.policy && own.outcome == outcome)
        .max_by(|a, b| Margin::by_misses(a.margin, b.margin))
}

/// The advised policy first, else the one that misses least, then the one with most room.
fn by_nearness(a: &PolicyOutcome, b: &PolicyOutcome, advised: Option<&String>) -> Ordering {
    let is_advised = |of: &PolicyOutcome| {
        let own = of.policy.map(|policy| policy.to_string());
        advised.is_some() && own.as_ref() == advised
    };
    let by_advice = is_advised(b).cmp(&is_advised(a));
    by_advice.then(Margin::by_tightness(a.margin, b.margin))
}

/// The policy that came nearest to passing, as a person reads it; `None` if policies are not judged.
pub fn nearest_to_passing(assessment: &Assessment) -> Option<String> {
    let nearest = nearest(assessment, assessment.outcome)?;
    Some(nearest.name.policy?.to_string())
}

/// What keeps the run from passing: of several policies, that of the one which came nearest.
fn stands_against(assessment: &Assessment, outcome: Outcome) -> Vec<Sentence> {
    let policies = &assessment.overall.policies;
    let alike: Vec<_> = policies.iter().filter(|of| of.outcome == outcome).collect();
    let of_nearest = nearest(assessment, outcome);
    let reasons = of_nearest.map(|of| {
        let against = of
            .reasons
            .iter()
            .filter(|reason| reason.bearing() == outcome);
        let reasons: Vec<String> = against.map(ToString::to_string).collect();
        let explains = Explains::Nearest {
            row: label(&of.name),
            phase: one_line(&of.name.phase),
        };
        (
            one_line(&format!("{}: {}", of.name, reasons.join("; "))),
            explains,
        )
    });
    let mut because: Vec<Sentence> = Vec::new();
    if policies.len() > 1 {
        let how = match (outcome, alike.len()) {
            (Outcome::Failed, _) => "did not meet the criterion",
            (Outcome::Invalid, _) => "can't be judged",
            (_, 1) => "remains undecided",
            _ => "remain undecided",
        };
        let sentence = if alike.len() == policies.len() {
            format!(
                "{} {how}",
                counted(alike.len() as u64, "policy", "policies")
            )
        } else {
            format!("{} of {} policies {how}", alike.len(), policies.len())
        };
        because.push(sentence.into());
        because.extend(reasons.map(|(reasons, explains)| Sentence {
            text: match outcome {
                Outcome::Invalid => reasons,
                _ => format!("nearest was {reasons}"),
            },
            explains,
        }));
    } else {
        because.extend(reasons.map(|(text, explains)| Sentence { text, explains }));
    }
    because
}

/// The first line of the output of `wakepath bound`: the largest latency of the policy to use, or of all if
/// there is none, and the bound that it proves.
fn largest(assessment: &Assessment) -> Option<String> {
    let chosen = assessment.overall.recommendation.as_ref();
    let of_chosen = |of: &&Judgement| chosen.is_none_or(|one| of.name.policy == Some(one.policy));
    let latencies = assessment
        .conditions
        .iter()
        .filter(of_chosen)
        .flat_map(|of| {
            let all = of.observations.iter();
            let latency = all.filter(|seen| seen.of == Observed::LatencyAsScheduled);
            latency.map(move |seen| (&of.name, seen))
        });
    let (name, seen) = latencies.max_by_key(|(_, seen)| seen.largest_ns)?;
    Some(one_line(&format!(
        "largest latency {} of {} cycles ({name}), the next cycle exceeds it with probability ≤ {} if cycles are \
         independent",
        three_digits(seen.largest_ns),
        count(seen.count),
        upper_fraction(seen.exceeded_at_most, 1.0)
    )))
}

/// Limits of every figure in this run: the shortest measurement of a condition bounds how rare an unseen
/// event can be.
fn limits(assessment: &Assessment) -> String {
    if measures_caches(assessment) {
        return "the largest loss is the largest observed, not a bound".to_owned();
    }
    if let Some(observed) = observed(assessment) {
        return format!("the largest value is the largest observed, not a bound; {observed}");
    }
    let measured = assessment.conditions.iter().filter(|of| {
        let cycles = &of.cycles;
        cycles.scheduled > 0 && cycles.judged_seconds > 0.0
    });
    let least = measured.min_by_key(|of| of.cycles.scheduled);
    let observed = largest(assessment)
        .unwrap_or_else(|| "a maximum is the largest observed, not a bound".to_owned());
    match least {
        None => observed,
        Some(of) => format!(
            "{observed}; can't reveal events rarer than one in {} ({})",
            three_digits((of.cycles.judged_seconds / of.cycles.threads.max(1) as f64 * 1e9) as i64),
            counted(of.cycles.scheduled, "due time", "due times"),
        ),
    }
}

/// How long a tool observed that has no due times.
pub(crate) fn observed(assessment: &Assessment) -> Option<String> {
    let imported = assessment.imported.as_ref()?;
    if imported.measured.has_due_times() {
        return None;
    }
    let all = assessment.conditions.iter().map(|of| &of.cycles);
    let seconds: f64 = all.clone().map(|of| of.judged_seconds).sum();
    let threads: u64 = all.map(|of| of.threads).sum();
    if seconds > 0.0 {
        Some(format!(
            "observed for {} on {}",
            three_digits((seconds / threads.max(1) as f64 * 1e9) as i64),
            counted(threads, "CPU", "CPUs")
        ))
    } else {
        Some("the file does not say for how long it was observed".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_timeline::Policy;

    #[test]
    fn the_policy_that_is_advised_is_the_nearest_though_another_missed_less() {
        let of = |policy, miss_fraction| PolicyOutcome {
            policy: Some(policy),
            outcome: Outcome::Undecided,
            decided_by: Vec::new(),
            advice: None,
            margin: Some(Margin {
                miss_fraction,
                head_room: 0.0,
                count: 1_000,
            }),
        };
        let (less, more) = (
            of(Policy::RoundRobin { priority: 50 }, 0.001),
            of(Policy::Fifo { priority: 50 }, 0.002),
        );
        let advised = "FIFO 50".to_owned();
        assert_eq!(by_nearness(&less, &more, None), Ordering::Less);
        assert_eq!(by_nearness(&less, &more, Some(&advised)), Ordering::Greater);
    }
}
