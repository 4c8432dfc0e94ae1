//! The answer of rounds of a scenario: as of one run, which policy held in every phase, in a row for each condition.

use super::shown::{Loops, at, worst_line};
use std::collections::BTreeMap;
use std::fmt::Write;
use wakepath_archive::{command_about, shell_word};
use wakepath_console::terminal::{columns, folded_for_people};
use wakepath_report::{Cell, Table, number, words};
use wakepath_scenario::PoliciesNeeded;
use wakepath_service::{JudgedLoops, Summary, WorstCycle};
use wakepath_statistics::Quantile;
use wakepath_timeline::count::{count, counted};
use wakepath_timeline::duration::{long, three_digits};
use wakepath_timeline::one_line;
use wakepath_verdict::{Judgement, Outcome as Verdict, Overall, overall};

/// Worst cycles of all conditions in the short form.
const WORST: usize = 5;

/// The verdict on all rounds together, by the rules for one run.
pub(super) fn whole(judged: &[JudgedLoops]) -> Overall {
    let judgements: Vec<Judgement> = judged.iter().map(|of| of.judgement.clone()).collect();
    let needed = judged
        .iter()
        .find_map(|of| Some(of.criterion.as_ref()?.policies));
    overall(needed.unwrap_or(PoliciesNeeded::Any), &judgements)
}

/// The policies that it rests on: of those with its outcome the ones that were measured in every condition, for one
/// that never was may hold as little as it may not.
fn deciding(whole: &Overall, judged: &[JudgedLoops]) -> String {
    let is_measured = |policy| {
        let mut its = judged
            .iter()
            .filter(|of| of.judgement.name.policy == policy);
        its.all(|of| of.judgement.cycles.scheduled > 0)
    };
    let its = whole.policies.iter();
    let its = its.filter(|of| of.outcome == whole.outcome && is_measured(of.policy));
    let names = its.map(|of| match of.policy {
        Some(policy) => policy.to_string(),
        None => "the task set".to_owned(),
    });
    names.collect::<Vec<_>>().join(", ")
}

/// One screen.
pub(super) fn text(
    place: &str,
    summary: &Summary,
    (loops, judged): (&Loops<'_>, &[JudgedLoops]),
    worst: &BTreeMap<String, Vec<WorstCycle>>,
) -> String {
    let mut text = String::new();
    let (measured, of) = summary.rounds.unwrap_or((0, 0));
    let (first, last) = summary.span.unwrap_or((0, 0));
    let whole = whole(judged);
    let policies = deciding(&whole, judged);
    let verdict = match (whole.outcome, whole.needed) {
        (Verdict::Passed, _) => format!("PASSED: {policies}, in every phase"),
        (Verdict::Undecided, _) if policies.is_empty() => {
            "UNDECIDED: no policy was measured".to_owned()
        }
        (Verdict::Undecided, _) => format!("UNDECIDED: {policies} might hold"),
        (Verdict::Failed, PoliciesNeeded::Any) => {
            "FAILED: no policy held in every phase".to_owned()
        }
        (Verdict::Failed, PoliciesNeeded::Every) => format!("FAILED: {policies}"),
        (Verdict::Invalid, _) => "INVALID: the measurement went wrong".to_owned(),
        (Verdict::VirtualTime | Verdict::NotJudged, _) => "NOT JUDGED".to_owned(),
    };
    let _ = writeln!(
        text,
        "verdict: {verdict}\n  {measured} of {}, {}, {} to {} UTC, together\n",
        counted(of.into(), "round", "rounds"),
        long(last.saturating_sub(first) as f64 / 1e9),
        at(first),
        at(last),
    );
    text += &table(loops);
    let doubts: Vec<(&str, String)> = loops
        .iter()
        .filter(|(_, (_, judged))| judged.outcome != Verdict::Passed)
        .filter_map(|(name, (_, judged))| Some((*name, judged.reasons.first()?.to_string())))
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
    all.sort_by_cached_key(|(_, cycle)| std::cmp::Reverse(cycle.response_ns));
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
    // Lines to type are never broken.
    text = folded_for_people(&text) + "\nnext\n";
    if measured < of {
        let _ = writeln!(
            text,
            "  wakepath run --resume --directory {}",
            shell_word(place)
        );
    }
    let _ = writeln!(
        text,
        "  {}    every condition, day and worst cycle\n  {}    one of the last rounds, as a run",
        command_about("show", place, "--details"),
        command_about("show", &format!("{place}/segments/ROUND"), "")
    );
    text
}

/// A row for each condition.
fn table(loops: &Loops<'_>) -> String {
    let mut table = Table::new("condition")
        .column(number("due"))
        .column(number("missed"))
        .column(number("in a row"))
        .group(
            "wake-up latency",
            "",
            &["median", "p99.9", "max"].map(number),
        )
        .column(words("verdict"));
    for (name, (of, judged)) in loops {
        let quantile = |quantile| Cell::from(of.latencies.quantile(quantile).map(three_digits));
        table.row(
            one_line(name),
            vec![
                count(of.tally.misses.due).into(),
                count(of.tally.misses.missed).into(),
                count(of.tally.misses.longest_run).into(),
                quantile(Quantile::P50),
                quantile(Quantile::P999),
                of.latencies.max().map(three_digits).into(),
                judged.outcome.to_string().into(),
            ],
        );
    }
    table.to_terminal(Some(columns()))
}
