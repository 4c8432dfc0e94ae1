//! `wakepath show` of a service's directory: how long, how many cycles, misses a day, the worst cycles with their time
//! of day, and what is missing, in one screen.

use super::explained::in_details;
use super::rounds;
use crate::command_line::Show;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use wakepath_archive::command_about;
use wakepath_console::Outcome;
use wakepath_console::terminal::print_result;
use wakepath_service::{
    JudgedLoops, LoopSummary, Summary, WorstCycle, is_recorded, read_worst, summary,
};
use wakepath_statistics::Quantile;
use wakepath_timeline::count::{count, counted};
use wakepath_timeline::duration::{length, long, three_digits};
use wakepath_timeline::one_line;
use wakepath_verdict::{Judgement, Outcome as Verdict, gravest};

/// Lines of each kind in the short form.
const SHOWN: usize = 5;
/// Lines of the last days.
const DAYS: usize = 7;

/// Reads and judges.
pub fn show(directory: &Path, arguments: &Show) -> Outcome {
    let named = |error: std::io::Error| format!("{}: {error}", directory.display());
    let summary = summary(directory).map_err(named)?;
    let worst = read_worst(directory).map_err(named)?;
    let judged = summary.judged();
    let loops = loops(&summary, &judged);
    let text = match arguments.json {
        true => {
            let outcome = outcome_of(&summary, &judged);
            format!("{:#}\n", as_json(&summary, outcome, &loops, &worst))
        }
        false if summary.rounds.is_some() && !arguments.details => {
            let place = one_line(&directory.display().to_string());
            rounds::text(&place, &summary, (&loops, &judged), &worst)
        }
        false => text(directory, &summary, &loops, &worst, arguments.details),
    };
    print_result(arguments.json, &text)?;
    Ok(ExitCode::from(outcome_of(&summary, &judged).exit_code()))
}

/// The verdict on all of it.
fn outcome_of(summary: &Summary, judged: &[JudgedLoops]) -> Verdict {
    let judgements: Vec<&Judgement> = judged.iter().map(|of| &of.judgement).collect();
    match (summary.rounds, &judgements[..]) {
        (Some(_), _) => rounds::whole(judged).outcome,
        (None, []) => Verdict::Undecided,
        // Each loop of a program must hold, and one that failed is not hidden behind one that is undecided.
        (None, all) => gravest(all).unwrap_or(Verdict::Passed),
    }
}

/// Each loop with the verdict on its condition.
pub(super) type Loops<'a> = BTreeMap<&'a str, (&'a LoopSummary, &'a Judgement)>;

fn loops<'a>(summary: &'a Summary, judged: &'a [JudgedLoops]) -> Loops<'a> {
    let all = judged.iter().flat_map(|of| {
        let loops = of.loops.iter();
        loops.map(move |name| (name.as_str(), &of.judgement))
    });
    all.filter_map(|(name, judgement)| Some((name, (summary.loops.get(name)?, judgement))))
        .collect()
}

pub(super) fn at(ns: u64) -> String {
    let at = SystemTime::UNIX_EPOCH + Duration::from_nanos(ns);
    let text = humantime::format_rfc3339_millis(at).to_string();
    text.replace('T', " ").trim_end_matches('Z').to_owned()
}

fn days_of(summary: &Summary) -> f64 {
    let (first, last) = summary.span.unwrap_or((0, 0));
    last.saturating_sub(first) as f64 / 86_400e9
}

fn text(
    directory: &Path,
    summary: &Summary,
    loops: &Loops<'_>,
    worst: &BTreeMap<String, Vec<WorstCycle>>,
    all: bool,
) -> String {
    let most = if all { usize::MAX } else { SHOWN };
    let mut text = String::new();
    let place = one_line(&directory.display().to_string());
    let Some((first, last)) = summary.span else {
        return format!("{place}: nothing is recorded yet\n");
    };
    let lasted = long(last.saturating_sub(first) as f64 / 1e9);
    let is_unrecorded = summary.rounds.is_none() && !is_recorded(directory);
    let runs = match summary.is_running {
        true if is_unrecorded => {
            "; not ended, and nothing records it: recorder and keeper were killed, or all of it was; start \
             the program again to record it"
        }
        true => "; not ended",
        false => "",
    };
    let what = match summary.rounds {
        Some((measured, of)) => format!("{measured} of {}", counted(of.into(), "round", "rounds")),
        None => "service".to_owned(),
    };
    let _ = writeln!(
        text,
        "{what} in {place}: {lasted}, {} to {} UTC{runs}\n{}: {}",
        at(first),
        at(last),
        one_line(&summary.command.join(" ")),
        counted(summary.starts, "start", "starts"),
    );
    for (name, (of, judged)) in loops {
        one_loop(&mut text, (name, of, judged), days_of(summary), all);
        let kept = worst.get(*name).map_or(&[][..], Vec::as_slice);
        if !kept.is_empty() {
            let _ = writeln!(text, "  worst cycles, UTC:");
        }
        for cycle in kept.iter().take(most) {
            let _ = writeln!(text, "    {}", worst_line(cycle));
            if all {
                text += &in_details(directory, cycle);
            }
        }
        let traced = kept.iter().filter(|of| of.trace.is_some()).count() as u64;
        if traced > 0 && !all {
            let _ = writeln!(
                text,
                "  kernel events of {} kept: {}",
                counted(traced, "worst cycle", "worst cycles"),
                command_about("explain", &place, "")
            );
        }
    }
    if loops.is_empty() {
        let _ = writeln!(text, "\nno loop has come yet");
    }
    let gaps = summary.gaps.len() as u64 + summary.gaps_more;
    if gaps > 0 {
        let _ = writeln!(text, "\n{}:", counted(gaps, "gap", "gaps"));
    }
    let from = summary.gaps.len().saturating_sub(most);
    for gap in &summary.gaps[from..] {
        let length = match gap.to_ns {
            Some(to) => format!(", {}", long(to.saturating_sub(gap.from_ns) as f64 / 1e9)),
            None => String::new(),
        };
        let _ = writeln!(
            text,
            "  {}{length}: {}",
            at(gap.from_ns),
            one_line(&gap.what)
        );
    }
    if from > 0 {
        let _ = writeln!(text, "  and {from} before; --details has them");
    }
    let from = summary.notes.len().saturating_sub(most);
    for (ns, note) in &summary.notes[from..] {
        let _ = writeln!(text, "note {}: {}", at(*ns), one_line(note));
    }
    if summary.damaged > 0 {
        let lines = counted(summary.damaged, "line", "lines");
        let _ = writeln!(
            text,
            "{lines} of the history damaged, by a kill or a power cut; left out"
        );
    }
    let _ = writeln!(
        text,
        "samples of the last time: {}",
        command_about("show", &format!("{place}/segments/NAME"), "")
    );
    text
}

fn one_loop(
    text: &mut String,
    (name, of, judged): (&str, &LoopSummary, &Judgement),
    days: f64,
    all: bool,
) {
    let _ = writeln!(
        text,
        "\n{}: every {}, {} – {}",
        one_line(name),
        length(of.period_ns),
        one_line(&of.policy),
        judged.outcome
    );
    for reason in &judged.reasons {
        let _ = writeln!(text, "  {}", one_line(&reason.to_string()));
    }
    // Of less than a day nothing is known by the day.
    let a_day = if days >= 1.0 {
        format!(", {:.1} a day", of.tally.misses.missed as f64 / days)
    } else {
        String::new()
    };
    let missed = match of.criterion {
        Some(_) => format!(
            "; {} missed{a_day}, {} in a row at most",
            count(of.tally.misses.missed),
            count(of.tally.misses.longest_run)
        ),
        None => String::new(),
    };
    let _ = writeln!(
        text,
        "  {} cycles, {} skipped, {} not recorded{missed}",
        count(of.tally.executed),
        count(of.tally.skipped),
        count(of.lost()),
    );
    let quantile = |quantile| {
        of.latencies
            .quantile(quantile)
            .map_or("–".into(), three_digits)
    };
    let _ = writeln!(
        text,
        "  wake-up latency: median {}, p99 {}, p99.9 {}, max {}; response max {}",
        quantile(Quantile::P50),
        quantile(Quantile::P99),
        quantile(Quantile::P999),
        of.latencies.max().map_or("–".into(), three_digits),
        of.tally
            .largest_response_ns
            .map_or("–".into(), three_digits),
    );
    if of.other_criterion > 0 {
        let cycles = count(of.other_criterion);
        let _ = writeln!(
            text,
            "  {cycles} cycles before, under another criterion, are not in this"
        );
    }
    let shown = if all { usize::MAX } else { DAYS };
    if of.days.len() > 1 {
        for (day, its) in of.days.iter().rev().take(shown) {
            let _ = writeln!(
                text,
                "    {day}: {}{} due times, {} not recorded, max {}",
                of.criterion.as_ref().map_or(String::new(), |_| format!(
                    "{} missed of ",
                    count(its.missed)
                )),
                count(its.due),
                count(its.lost),
                three_digits(its.max_ns)
            );
        }
    }
}

pub(super) fn worst_line(of: &WorstCycle) -> String {
    let mut line = format!(
        "{}  response {}, latency {}, CPU {}",
        at(of.at_ns),
        three_digits(of.response_ns),
        three_digits(of.latency_ns),
        of.cpu
    );
    let longest = of
        .sections
        .iter()
        .max_by_key(|(_, from, to)| to.saturating_sub(*from));
    if let Some((name, from, to)) = longest {
        let _ = write!(
            line,
            ", {} {}",
            one_line(name),
            three_digits(to.saturating_sub(*from))
        );
    }
    if let Some((_, said)) = of.lines.last() {
        let _ = write!(line, ", “{}”", one_line(said));
    }
    line
}

fn as_json(
    summary: &Summary,
    outcome: Verdict,
    loops: &Loops<'_>,
    worst: &BTreeMap<String, Vec<WorstCycle>>,
) -> Value {
    let quantile = |of: &LoopSummary, quantile| of.latencies.quantile(quantile);
    let loops: serde_json::Map<String, Value> = loops
        .iter()
        .map(|(name, (of, judged))| {
            let missed = |count: u64| of.criterion.as_ref().map(|_| count);
            let days = of.days.iter().map(|(day, of)| {
                let missed = missed(of.missed);
                json!({"day": day, "due": of.due, "missed": missed, "lost": of.lost, "max_ns": of.max_ns})
            });
            let value = json!({
                "verdict": {
                    "outcome": judged.outcome,
                    "reasons": judged.reasons,
                    "sentences": judged.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
                },
                "condition": of.condition,
                "period_ns": of.period_ns,
                "policy": of.policy,
                "criterion": of.criterion,
                "executed": of.tally.executed,
                "skipped": of.tally.skipped,
                "lost": of.lost(),
                "missed": missed(of.tally.misses.missed),
                "due": of.tally.scheduled(),
                "longest_run": missed(of.tally.misses.longest_run),
                "mode_switches": of.tally.mode_switches,
                "outage_ns": of.tally.longest_outage.map(|outage| outage.length_ns),
                "died": of.died,
                "switched_off": of.switched_off,
                "latency_ns": {
                    "min": of.latencies.min(),
                    "p50": quantile(of, Quantile::P50),
                    "p99": quantile(of, Quantile::P99),
                    "p999": quantile(of, Quantile::P999),
                    "max": of.latencies.max(),
                },
                "max_response_ns": of.tally.largest_response_ns,
                "days": days.collect::<Vec<_>>(),
                "worst": worst.get(*name),
                "cycles_under_another_criterion": of.other_criterion,
            });
            ((*name).to_owned(), value)
        })
        .collect();
    let gaps = summary
        .gaps
        .iter()
        .map(|gap| json!({"from_ns": gap.from_ns, "to_ns": gap.to_ns, "what": gap.what}));
    let notes = summary
        .notes
        .iter()
        .map(|(at_ns, text)| json!({"at_ns": at_ns, "text": text}));
    json!({
        "service": {
            "outcome": outcome,
            "first_ns": summary.span.map(|(first, _)| first),
            "last_ns": summary.span.map(|(_, last)| last),
            "starts": summary.starts,
            "rounds": summary.rounds.map(|(measured, of)| json!({"measured": measured, "of": of})),
            "recorder_died": summary.resumed,
            "command": summary.command,
            "ended": !summary.is_running,
            "loops": loops,
            "gaps": gaps.collect::<Vec<_>>(),
            "gaps_more": summary.gaps_more,
            "notes": notes.collect::<Vec<_>>(),
            "damaged_lines": summary.damaged,
        }
    })
}

#[cfg(test)]
mod tests;
