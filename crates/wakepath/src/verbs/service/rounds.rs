//! The answer of rounds of a scenario: as of one run, which policy held in every phase, in a row for each condition.

use super::shown::{at, worst_line};
use crate::terminal::folded_for_people;
use std::collections::BTreeMap;
use std::fmt::Write;
use wakepath_service::{Judged, LoopSummary, Outcome as Verdict, Summary, WorstCycle};
use wakepath_statistics::Quantile;
use wakepath_timeline::count::count;
use wakepath_timeline::duration::{long, short};
use wakepath_timeline::one_line;

/// Worst cycles of all conditions in the short form.
const WORST: usize = 5;

/// What the rounds say of the criterion together, and of which policy.
pub(super) struct Whole<'a> {
    /// The verdict: that of the policy that did best.
    pub(super) outcome: Verdict,
    /// Policies that have it.
    policies: Vec<&'a str>,
}

/// Each policy is as good as its worst condition, and the whole as good as its best policy.
pub(super) fn whole<'a>(loops: &BTreeMap<&'a str, (&'a LoopSummary, Judged)>) -> Whole<'a> {
    let rank = |of: Verdict| match of {
        Verdict::Passed => 0,
        Verdict::Undecided => 1,
        Verdict::Failed => 2,
    };
    let mut policies: BTreeMap<&str, Verdict> = BTreeMap::new();
    for (name, (of, judged)) in loops {
        let its = policies.entry(group(name, of)).or_insert(Verdict::Passed);
        if rank(judged.outcome) > rank(*its) {
            *its = judged.outcome;
        }
    }
    let best = policies.values().copied().min_by_key(|of| rank(*of));
    let outcome = best.unwrap_or(Verdict::Undecided);
    // One that was never measured may hold as little as it may not.
    let is_measured = |policy: &str| {
        let mut its = loops
            .iter()
            .filter(|(name, (of, _))| group(name, of) == policy);
        its.all(|(_, (of, _))| of.misses.due > 0)
    };
    let its = policies
        .iter()
        .filter(|(policy, of)| **of == outcome && is_measured(policy));
    Whole {
        outcome,
        policies: its.map(|(policy, _)| *policy).collect(),
    }
}

/// Conditions of one policy are judged together, and those of a task set all.
fn group<'a>(name: &'a str, of: &'a LoopSummary) -> &'a str {
    match name.strip_prefix(of.policy.as_str()) {
        Some(rest) if rest.starts_with(", ") => &of.policy,
        _ => name.split(", ").next().unwrap_or(name),
    }
}

/// One screen.
pub(super) fn text(
    place: &str,
    summary: &Summary,
    loops: &BTreeMap<&str, (&LoopSummary, Judged)>,
    worst: &BTreeMap<String, Vec<WorstCycle>>,
) -> String {
    let mut text = String::new();
    let (measured, of) = summary.rounds.unwrap_or((0, 0));
    let (first, last) = summary.span.unwrap_or((0, 0));
    let whole = whole(loops);
    let policies = whole.policies.join(", ");
    let verdict = match whole.outcome {
        Verdict::Passed => format!("PASSED: {policies}, in every phase"),
        Verdict::Undecided if policies.is_empty() => "UNDECIDED: no policy was measured".to_owned(),
        Verdict::Undecided => format!("UNDECIDED: {policies} may hold"),
        Verdict::Failed => "FAILED: no policy held in every phase".to_owned(),
    };
    let _ = writeln!(
        text,
        "verdict: {verdict}\n  {measured} of {of} rounds, {}, {} to {} UTC, together\n",
        long(last.saturating_sub(first) as f64 / 1e9),
        at(first),
        at(last),
    );
    text += &table(loops);
    let doubts: Vec<(&str, &str)> = loops
        .iter()
        .filter(|(_, (_, judged))| judged.outcome != Verdict::Passed)
        .filter_map(|(name, (_, judged))| Some((*name, judged.reasons.first()?.as_str())))
        .collect();
    if !doubts.is_empty() {
        text += "\nwhy not passed\n";
        for (name, why) in doubts.iter().take(WORST) {
            let _ = writeln!(text, "  {}: {}", one_line(name), one_line(why));
        }
        if let Some(more) = doubts.len().checked_sub(WORST).filter(|more| *more > 0) {
            let _ = writeln!(text, "  and {more} more: --details");
        }
    }
    let mut all: Vec<(&String, &WorstCycle)> = worst
        .iter()
        .flat_map(|(name, cycles)| cycles.iter().map(move |cycle| (name, cycle)))
        .collect();
    all.sort_by_key(|(_, cycle)| std::cmp::Reverse(cycle.response_ns));
    if !all.is_empty() {
        text += "\nworst cycles of all, UTC\n";
    }
    for (name, cycle) in all.iter().take(WORST) {
        let _ = writeln!(text, "  {}: {}", one_line(name), worst_line(cycle));
    }
    let gaps = summary.gaps.len() as u64 + summary.gaps_more;
    if gaps > 0 {
        let _ = writeln!(text, "\n{} interrupted: --details has when", count(gaps));
    }
    if summary.damaged > 0 {
        let lines = count(summary.damaged);
        let _ = writeln!(
            text,
            "\n{lines} lines of the history are damaged and left out"
        );
    }
    // What is to be typed is never broken.
    text = folded_for_people(&text) + "\nnext\n";
    if measured < of {
        let _ = writeln!(text, "  wakepath run --continue --directory {place}");
    }
    let _ = writeln!(
        text,
        "  wakepath show {place} --details    every condition, day and worst cycle\n  \
         wakepath show {place}/segments/ROUND    one of the last rounds, as a run"
    );
    text
}

/// A row for each condition.
fn table(loops: &BTreeMap<&str, (&LoopSummary, Judged)>) -> String {
    let width = loops
        .keys()
        .map(|name| one_line(name).chars().count())
        .max();
    let width = width.unwrap_or(0);
    let mut text = format!(
        "{:width$}  {:>13}  {:>10}  {:>6}  {:>9}  {:>9}  {:>9}  verdict\n",
        "", "due", "missed", "in row", "median", "p99.9", "max",
    );
    for (name, (of, judged)) in loops {
        let quantile = |quantile| of.latencies.quantile(quantile).map_or("–".into(), short);
        let verdict = match judged.outcome {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Undecided => "undecided",
        };
        let _ = writeln!(
            text,
            "{:width$}  {:>13}  {:>10}  {:>6}  {:>9}  {:>9}  {:>9}  {verdict}",
            one_line(name),
            count(of.misses.due),
            count(of.misses.missed),
            count(of.misses.longest_run),
            quantile(Quantile::P50),
            quantile(Quantile::P999),
            of.latencies.max().map_or("–".into(), short),
        );
    }
    text
}
