//! Computes the sections of each of a run's conditions from its transitions.

use super::heard::Heard;
use crate::again::error::{AgainError, NoBlocks};
use crate::again::wanted::{Wanted, was_woken};
use crate::comparison::condition_of;
use crate::sections::{Figures, Kind, Span, Stretch, Variable};
use crate::window::{Found, Symbols, Within};
use std::collections::HashMap;
use wakepath_assess::Assessment;
use wakepath_report::CostModel;

type Result<T> = std::result::Result<T, AgainError>;

/// Number of longest sections to report for each condition, one per code location.
const TOLD: usize = 8;

/// The sections of a run.
#[derive(Debug, Clone)]
pub struct RunSections {
    /// When its kernel lets a woken thread take the CPU.
    pub preemption: &'static str,
    /// Virtual nanoseconds that pass with each instruction.
    pub ns_per_instruction: u64,
    /// What virtual time counts for each instruction, in words.
    pub cost_model: String,
    /// Each condition under a real-time policy.
    pub conditions: Vec<ConditionSections>,
    /// Conditions that no sections bound.
    pub left_out: Vec<String>,
}

/// The sections of a condition.
#[derive(Debug, Clone)]
pub struct ConditionSections {
    /// Its name, and the phase's.
    pub condition: String,
    /// Phase.
    pub phase: String,
    /// Their evaluation.
    pub figures: Figures,
    /// The longest with preemption or interrupts off, one per function.
    pub longest: Vec<SectionFound>,
    /// Its interrupts, longest first.
    pub interrupts: Vec<InterruptFound>,
    /// Its latency over all due times; no section bounds that of a skipped one.
    pub as_scheduled: Option<AsScheduled>,
    /// Shorter sections were discarded and are in no figure.
    pub shortest: u64,
}

/// Interrupts by one entry point.
#[derive(Debug, Clone)]
pub struct InterruptFound {
    /// The entry point.
    pub entry: String,
    /// Their number, and the longest.
    pub variable: Variable,
    /// Shortest interval between two.
    pub apart: Option<u64>,
    /// Contents of the longest one, if examined.
    pub within: Option<Within>,
}

/// Latency over all due times, skipped ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsScheduled {
    /// Due times without a cycle.
    pub skipped: u64,
    /// The largest, in virtual nanoseconds.
    pub largest_ns: u64,
}

/// Sections that begin in one function.
#[derive(Debug, Clone)]
pub struct SectionFound {
    /// The function that the longest begins in, and that it ends in.
    pub began: String,
    /// See `began`.
    pub ended: String,
    /// Their number, and the longest.
    pub variable: Variable,
    /// Contents of the longest one, if examined.
    pub within: Option<Within>,
}

pub(super) fn told(
    assessment: &Assessment,
    wanted: &Wanted,
    heard: &Heard<'_>,
    symbols: &Symbols,
    preemption: &'static str,
    ns_per_instruction: u64,
) -> Result<RunSections> {
    let mut spans: Vec<((String, String), Vec<Span>)> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    for (number, (of, thread)) in wanted.loops.iter().zip(&wanted.threads).enumerate() {
        let name = (thread.condition.clone(), thread.phase.clone());
        if of.wanted.is_empty() {
            let label = format!("{}, {}", name.0, name.1);
            if !left_out.contains(&label) {
                left_out.push(label);
            }
            continue;
        }
        let span = span(wanted, heard, number, ns_per_instruction).map_err(|why| {
            let cycle = of.samples.first().map_or(0, |sample| sample.cycle);
            AgainError::Blocks {
                segment: thread.segment,
                cycle,
                why,
            }
        })?;
        match spans.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.push(span),
            None => spans.push((name, vec![span])),
        }
    }
    // A traced pass of a condition that has its sections already.
    let is_told = |label: &String| {
        let mut all = spans.iter();
        all.any(|((condition, phase), _)| *label == format!("{condition}, {phase}"))
    };
    left_out.retain(|label| !is_told(label));
    let conditions = spans
        .into_iter()
        .map(|((condition, phase), spans)| ConditionSections {
            figures: Figures::new(&heard.ledger, &spans),
            longest: longest(heard, &spans, symbols),
            interrupts: interrupts(heard, &spans, symbols),
            shortest: heard.ledger.shortest(),
            as_scheduled: as_scheduled(assessment, &condition, &phase),
            condition,
            phase,
        });
    Ok(RunSections {
        preemption,
        ns_per_instruction,
        cost_model: assessment
            .virtual_time
            .as_ref()
            .map_or_else(String::new, |time| CostModel::from(time).to_string()),
        conditions: conditions.collect(),
        left_out,
    })
}

/// Latency as scheduled of a condition, if the run's assessment has it.
fn as_scheduled(assessment: &Assessment, condition: &str, phase: &str) -> Option<AsScheduled> {
    let mut all = assessment.conditions.iter();
    let judged = all.find(|judged| {
        let (its_phase, its_condition) = condition_of(judged);
        its_phase == phase && its_condition == condition
    })?;
    let largest = judged.cycles.latency_as_scheduled.as_ref()?.max;
    Some(AsScheduled {
        skipped: judged.cycles.skipped?,
        largest_ns: u64::try_from(largest).unwrap_or(0),
    })
}

/// The part of the run in which a loop cycled.
fn span(
    wanted: &Wanted,
    heard: &Heard<'_>,
    number: usize,
    ns_per_instruction: u64,
) -> std::result::Result<Span, NoBlocks> {
    let of = &wanted.loops[number];
    let complete = heard.follower.complete(number);
    if complete.is_empty() {
        return Err(NoBlocks::NoTrail);
    }
    let found = |sample: usize| {
        let found: Vec<&(Found, Option<_>)> = complete
            .iter()
            .filter_map(|trail| heard.wake_ups.get(&(number, sample, *trail)))
            .collect();
        let first = found.first().copied().ok_or(NoBlocks::NotKept)?;
        // Trails can start differently and join; here they must agree.
        if found.iter().all(|other| other.0.wake == first.0.wake) {
            Ok(first)
        } else {
            Err(NoBlocks::Several)
        }
    };
    let last = of.samples.len() - 1;
    let (first_sample, last_sample) = (&of.samples[0], &of.samples[last]);
    let execution = last_sample.end_ns.saturating_sub(last_sample.wake_ns);
    let passed_ns = last_sample.end_ns.saturating_sub(first_sample.wake_ns);
    let mut span = Span {
        from: found(0)?.0.wake.count,
        to: found(last)?.0.wake.count + execution / ns_per_instruction,
        passed: passed_ns / ns_per_instruction,
        ..Span::default()
    };
    for (index, sample) in of.samples.iter().enumerate() {
        if let Some(wake_up) = found(index)?.1 {
            span.wake_ups.push(wake_up);
        }
        if was_woken(sample) {
            let latency = u64::try_from(sample.latency_ns()).unwrap_or(0);
            span.latencies.push(latency / ns_per_instruction);
        }
    }
    Ok(span)
}

fn all<'a>(
    heard: &'a Heard<'_>,
    spans: &'a [Span],
    kind: Kind,
) -> impl Iterator<Item = &'a Stretch> {
    let between = move |span: &'a Span| heard.ledger.between(kind, span.from, span.to);
    spans.iter().flat_map(between)
}

/// Stretches by the function that they begin in, that of the longest first.
pub(super) fn longest_by_function<'a, 'b>(
    stretches: impl Iterator<Item = &'a Stretch>,
    symbols: &'b Symbols,
) -> Vec<(&'b str, Variable)> {
    let mut by_function: HashMap<&str, Variable> = HashMap::new();
    for stretch in stretches.filter(|stretch| stretch.net() > 0) {
        let name = symbols.place(stretch.began).name();
        by_function.entry(name).or_default().add(stretch);
    }
    let mut found: Vec<_> = by_function.into_iter().collect();
    found.sort_by_key(|(name, of)| (std::cmp::Reverse(of.most()), *name));
    found
}

fn longest(heard: &Heard<'_>, spans: &[Span], symbols: &Symbols) -> Vec<SectionFound> {
    let found = longest_by_function(all(heard, spans, Kind::Off), symbols);
    let told = found.into_iter().take(TOLD).map(|(name, variable)| {
        let longest = variable.longest.as_ref();
        SectionFound {
            began: name.to_owned(),
            ended: longest.map_or("", |one| end(one, symbols)).to_owned(),
            within: longest.and_then(|one| heard.within(one)),
            variable,
        }
    });
    told.collect()
}

/// The function in which a section ended, unless an idle CPU or a return to a program ended it.
fn end<'a>(stretch: &Stretch, symbols: &'a Symbols) -> &'a str {
    match stretch.ended {
        0 => "a halt or a program",
        at => symbols.place(at).name(),
    }
}

fn interrupts(heard: &Heard<'_>, spans: &[Span], symbols: &Symbols) -> Vec<InterruptFound> {
    let mut by_entry: HashMap<&str, (Variable, Option<u64>, u64)> = HashMap::new();
    for stretch in all(heard, spans, Kind::Interrupt) {
        let name = symbols.place(stretch.began).name();
        let known = by_entry.get(name).map(|(.., last)| stretch.from - last);
        let entry = by_entry.entry(name).or_default();
        entry.0.add(stretch);
        entry.1 = known.into_iter().chain(entry.1).min();
        entry.2 = stretch.from;
    }
    let mut found: Vec<_> = by_entry.into_iter().collect();
    found.sort_by_key(|(name, (of, ..))| (std::cmp::Reverse(of.most()), *name));
    let found = found.into_iter().map(|(name, (variable, apart, _))| {
        let longest = variable.longest.as_ref();
        InterruptFound {
            entry: name.to_owned(),
            within: longest.and_then(|one| heard.within(one)),
            variable,
            apart,
        }
    });
    found.collect()
}
