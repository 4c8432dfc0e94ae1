//! The watched threads as a table, and what is not judged.

use super::remarks::remarks;
use std::cmp::Reverse;
use std::fmt::Write;
use wakepath_assess::explanation::urgency;
use wakepath_assess::watched::{Figures, Remark, Watched};
use wakepath_console::terminal::columns;
use wakepath_report::{Cell, Remarks, Table, number, thread_chains_text, words};
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_timeline::duration;
use wakepath_verdict::counted;

/// Threads that are named before a remark that they share.
const MOST_NAMES: usize = 4;
/// Threads without a period that are named of many; JSON has all.
const MOST_NOT_JUDGED: usize = 8;
/// Threads and remarks in a short answer, however little room there is: another thread's remark often shows who is late.
const LEAST: usize = 2;
/// Chains of threads in a short answer.
const CHAINS_IN_SHORT: usize = 2;
/// Threads without a period in a short answer.
const NOT_JUDGED_IN_SHORT: usize = 3;

/// All findings.
pub fn text(figures: &Figures) -> String {
    let mut text = String::new();
    if !figures.threads.is_empty() {
        text += &table(&figures.threads).to_terminal(Some(columns()));
        for Remark { threads, remark } in each_remark(figures, |_| true) {
            let _ = writeln!(text, "{}: {remark}", names_of(&threads));
        }
        text += &sections(&figures.threads, usize::MAX);
        text += &chains(figures, usize::MAX);
    }
    text += &left_out(figures);
    text + &not_judged(figures, MOST_NOT_JUDGED)
}

/// The leading thread and those that were latest, with remarks, at most `most` of each.
pub fn in_short(figures: &Figures, most: usize) -> String {
    let mut text = String::new();
    let all = &figures.threads;
    if !all.is_empty() {
        let latest = |of: &&Watched| of.latency_ns.as_ref().map_or(0, |latency| latency.max);
        let mut shown: Vec<&Watched> = all.iter().collect();
        let threads = most.max(LEAST);
        if shown.len() > threads {
            let leads = leading(all);
            shown.sort_by_cached_key(|of| {
                Reverse((Some(of.thread_id) == leads, rank(of), latest(of)))
            });
            shown.truncate(threads);
        }
        text += &short_table(&shown).to_terminal(Some(columns()));
        if let Some(more @ 1..) = all.len().checked_sub(shown.len()) {
            let more = counted(more as u64, "more thread", "more threads");
            let _ = writeln!(text, "and {more}");
        }
        let names: Vec<&str> = shown.iter().map(|of| of.name.as_str()).collect();
        let remarks = each_remark(figures, |name| names.contains(&name)).into_iter();
        for Remark { threads, remark } in remarks.take(most.div_ceil(2).max(LEAST)) {
            let _ = writeln!(text, "{}: {remark}", names_of(&threads));
        }
        text += &sections(all, most);
        text += &chains(figures, most.min(CHAINS_IN_SHORT));
    }
    text + &not_judged(figures, most.min(NOT_JUDGED_IN_SHORT))
}

/// Chains of threads after a blank line; nothing without any.
fn chains(figures: &Figures, most: usize) -> String {
    let text = thread_chains_text(&figures.chains, most, Remarks::All, columns());
    match text.is_empty() {
        true => text,
        false => format!("\n{text}"),
    }
}

/// How much a thread matters in a short answer. One that others wake is late by them, unless it is to be on time.
fn rank(of: &Watched) -> u8 {
    let lasted_ns = of.response_ns.as_ref().map_or(0, |response| response.max);
    let is_late =
        of.skipped.is_some_and(|skipped| skipped > 0) || lasted_ns > of.period_ns.cast_signed();
    let has_timer = of.is_periodic && of.woken_by.is_none();
    match (has_timer, is_late) {
        (true, true) => 3,
        (false, true) if of.policy.is_real_time() => 2,
        (true, false) => 1,
        (false, _) => 0,
    }
}

/// Number of the periodic and most urgent thread, of several the one with most activations.
fn leading(all: &[Watched]) -> Option<u32> {
    let first = all
        .iter()
        .max_by_key(|of| (of.is_periodic, urgency(of.policy), of.activations));
    first.map(|of| of.thread_id)
}

/// The findings, that with the most time lost first; then each thread's first remark, each one's second, and so on; a
/// remark on several threads once.
fn each_remark(figures: &Figures, is_shown: impl Fn(&str) -> bool) -> Vec<Remark<'_>> {
    let cycle = figures.cycle.as_deref();
    let threads = figures.threads.iter().filter(|of| is_shown(&of.name));
    let of_each = threads.flat_map(|of| {
        let numbered = remarks(of, cycle).into_iter().enumerate();
        numbered.map(|(number, (ns, remark))| ((Reverse(ns), number), of.name.as_str(), remark))
    });
    merged(of_each.collect())
}

/// The time that a remark is about, the longest first, and its place among those of its thread.
type Place = (Reverse<u64>, usize);

/// Remarks, each with its place and the thread: by place, and equal ones as one.
fn merged(mut all: Vec<(Place, &str, String)>) -> Vec<Remark<'_>> {
    // Both are stable.
    all.sort_by_cached_key(|((_, number), ..)| *number);
    all.sort_by_cached_key(|((ns, _), ..)| *ns);
    Remark::merged(all.into_iter().map(|(_, name, remark)| (name, remark)))
}

/// The names of threads, of many the first and their number.
fn names_of(threads: &[&str]) -> String {
    match threads {
        [first, _, rest @ ..] if rest.len() >= MOST_NAMES - 1 => {
            format!("{first} and {} other threads", threads.len() - 1)
        }
        _ => threads.join(", "),
    }
}

fn left_out(figures: &Figures) -> String {
    match figures.sections_beyond {
        0 => String::new(),
        beyond => format!(
            "{} of sections left out for want of room\n",
            counted(beyond, "run", "runs")
        ),
    }
}

fn not_judged(figures: &Figures, most: usize) -> String {
    let mut text = String::new();
    if !figures.not_judged.is_empty() {
        let _ = writeln!(text, "\nnot judged, without a period:");
    }
    for of in figures.not_judged.iter().take(most) {
        let _ = writeln!(
            text,
            "  {}-{}: {}; woken {} by something else, ran {}",
            of.name,
            of.thread_id,
            of.why,
            counted(of.other_wake_ups, "time", "times"),
            duration::three_digits(of.run_ns.cast_signed())
        );
    }
    if let Some(more @ 1..) = figures.not_judged.len().checked_sub(most) {
        let _ = writeln!(text, "  and {more} more");
    }
    text
}

/// Due times that were skipped: at most, if it is not known of some.
fn skipped(of: &Watched) -> Cell {
    match (of.skipped, of.unseen) {
        (Some(skipped), 1..) => Cell::Text(format!("≤ {}", skipped + of.unseen)),
        (skipped, _) => skipped.map(Cell::new).into(),
    }
}

/// The figures that a reader looks for first, within 80 columns.
fn short_table(threads: &[&Watched]) -> Table {
    let mut table = Table::new("thread")
        .column(words("policy"))
        .column(number("period"))
        .group("wake-up latency", "", &["median", "p99", "max"].map(number))
        .group("response", "", &[number("max")])
        .column(number("skipped"));
    for of in threads {
        let latency = &of.latency_ns;
        let period = of.is_periodic.then(|| duration::length(of.period_ns));
        table.row(
            of.name.as_str(),
            vec![
                Cell::new(of.policy),
                period.into(),
                quantile(latency, Quantile::P50),
                quantile(latency, Quantile::P99),
                figure(latency, |summary| summary.max),
                figure(&of.response_ns, |summary| summary.max),
                skipped(of),
            ],
        );
    }
    table
}

fn table(threads: &[Watched]) -> Table {
    let mut table = Table::new("thread")
        .column(words("policy"))
        .column(number("period"))
        .group(
            "jitter of the period",
            "",
            &["median", "p99", "max"].map(number),
        )
        .group(
            "wake-up latency",
            "",
            &["min", "median", "p99", "p99.9", "max"].map(number),
        )
        .group("response", "", &["median", "p99", "max"].map(number))
        .group("run time", "", &["median", "max"].map(number))
        .column(number("preempted"))
        .column(number("activations"))
        .column(number("skipped"));
    for of in threads {
        let [latency, response, run] = [&of.latency_ns, &of.response_ns, &of.run_ns];
        // Without a period there is no deviation from it.
        let jitter = if of.is_periodic { &of.jitter_ns } else { &None };
        let period = of.is_periodic.then(|| duration::length(of.period_ns));
        table.row(
            of.name.as_str(),
            vec![
                Cell::new(of.policy),
                period.into(),
                quantile(jitter, Quantile::P50),
                quantile(jitter, Quantile::P99),
                figure(jitter, |summary| summary.max),
                figure(latency, |summary| summary.min),
                quantile(latency, Quantile::P50),
                quantile(latency, Quantile::P99),
                quantile(latency, Quantile::P999),
                figure(latency, |summary| summary.max),
                quantile(response, Quantile::P50),
                quantile(response, Quantile::P99),
                figure(response, |summary| summary.max),
                quantile(run, Quantile::P50),
                figure(run, |summary| summary.max),
                Cell::new(of.preempted.0),
                Cell::new(of.activations),
                skipped(of),
            ],
        );
    }
    table
}

/// The sections between marks, at most so many; nothing without any.
fn sections(threads: &[Watched], most: usize) -> String {
    let mut table = Table::new("section")
        .column(words("thread"))
        .group("time", "", &["min", "median", "p99", "max"].map(number))
        .column(number("runs"));
    let mut all = 0_usize;
    for thread in threads {
        for section in &thread.sections {
            all += 1;
            if all > most {
                continue;
            }
            let times = Some(section.times_ns.clone());
            table.row(
                section.name.as_str(),
                vec![
                    Cell::new(&thread.name),
                    figure(&times, |summary| summary.min),
                    quantile(&times, Quantile::P50),
                    quantile(&times, Quantile::P99),
                    figure(&times, |summary| summary.max),
                    Cell::new(section.runs.len()),
                ],
            );
        }
    }
    let more = match all.saturating_sub(most) {
        0 => String::new(),
        more => format!(
            "and {}\n",
            counted(more as u64, "more section", "more sections")
        ),
    };
    match all {
        0 => String::new(),
        _ => format!("\n{}{more}", table.to_terminal(Some(columns()))),
    }
}

/// A figure of a distribution.
pub(super) fn figure(
    of: &Option<DistributionSummary>,
    figure: fn(&DistributionSummary) -> i64,
) -> Cell {
    of.as_ref()
        .map(|summary| Cell::time(figure(summary)))
        .into()
}

/// A quantile; unknown if it can't be distinguished from the maximum.
pub(super) fn quantile(of: &Option<DistributionSummary>, wanted: Quantile) -> Cell {
    let found = of.as_ref().and_then(|summary| summary.distinct(wanted));
    found.map(Cell::time).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_on_several_threads_is_written_once_with_their_names() {
        let all = ["imu", "arm", "log"].map(|name| {
            (
                (Reverse(0), 1),
                name,
                "ended while it was watched".to_owned(),
            )
        });
        let own = ((Reverse(0), 0), "arm", "had OTHER nice 0 before".to_owned());
        let late = ((Reverse(9), 2), "log", "was woken late".to_owned());
        let merged = merged(all.into_iter().chain([own, late]).collect());
        let lines: Vec<String> = merged
            .iter()
            .map(|of| format!("{}: {}", names_of(&of.threads), of.remark))
            .collect();
        let expected = [
            "log: was woken late",
            "arm: had OTHER nice 0 before",
            "imu, arm, log: ended while it was watched",
        ];
        assert_eq!(
            lines, expected,
            "lost time comes first, then each thread's first remark"
        );
    }

    #[test]
    fn many_threads_are_counted_instead_of_named() {
        assert_eq!(names_of(&["a", "b", "c", "d"]), "a, b, c, d");
        assert_eq!(
            names_of(&["a", "b", "c", "d", "e"]),
            "a and 4 other threads"
        );
    }
}
