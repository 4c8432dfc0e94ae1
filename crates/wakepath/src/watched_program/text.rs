//! The watched threads as a table, and what is not judged.

use std::fmt::Write;
use wakepath_assess::watched::{Figures, Finding, Watched, WokenBy};
use wakepath_console::terminal::columns;
use wakepath_report::{Cell, Table, number, words};
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_timeline::duration;
use wakepath_verdict::counted;

/// Threads without a period that are named of many; JSON has all.
const MOST_NOT_JUDGED: usize = 8;
/// Those in a short answer.
const NOT_JUDGED_IN_SHORT: usize = 3;

/// All findings.
pub fn text(figures: &Figures) -> String {
    let mut text = String::new();
    if !figures.threads.is_empty() {
        text += &table(&figures.threads).to_terminal(Some(columns()));
        for (name, remark) in each_remark(figures) {
            let _ = writeln!(text, "{name}: {remark}");
        }
        text += &sections(&figures.threads, usize::MAX);
    }
    text += &left_out(figures);
    text + &not_judged(figures, MOST_NOT_JUDGED)
}

/// The threads that were latest and what to know of them, at most `most` of each.
pub fn in_short(figures: &Figures, most: usize) -> String {
    let mut text = String::new();
    let all = &figures.threads;
    if !all.is_empty() {
        let latest = |of: &&Watched| of.latency_ns.as_ref().map_or(0, |latency| latency.max);
        let mut shown: Vec<&Watched> = all.iter().collect();
        if shown.len() > most {
            shown.sort_by_key(|of| std::cmp::Reverse(latest(of)));
            shown.truncate(most);
        }
        text += &short_table(&shown).to_terminal(Some(columns()));
        if let Some(more @ 1..) = all.len().checked_sub(shown.len()) {
            let more = counted(more as u64, "thread was", "threads were");
            let _ = writeln!(text, "{more} less late");
        }
        let names: Vec<&str> = shown.iter().map(|of| of.name.as_str()).collect();
        let remarks = each_remark(figures).into_iter();
        let remarks = remarks.filter(|(name, _)| names.contains(name));
        for (name, remark) in remarks.take(most.div_ceil(2)) {
            let _ = writeln!(text, "{name}: {remark}");
        }
        text += &sections(all, most);
    }
    text + &not_judged(figures, most.min(NOT_JUDGED_IN_SHORT))
}

/// Each thread's first remark, then each one's second, and so on.
fn each_remark(figures: &Figures) -> Vec<(&str, String)> {
    let cycle = figures.cycle.as_deref();
    let of_each = figures.threads.iter().flat_map(|of| {
        let numbered = remarks(of, cycle).into_iter().enumerate();
        numbered.map(|(number, remark)| (number, (of.name.as_str(), remark)))
    });
    let mut all: Vec<_> = of_each.collect();
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, remark)| remark).collect()
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

/// The figures that a reader looks for first, within 80 columns.
fn short_table(threads: &[&Watched]) -> Table {
    let mut table = Table::of("thread")
        .column(words("policy"))
        .column(number("period"))
        .group("wake-up latency", "", &["median", "p99", "max"].map(number))
        .group("run time", "", &[number("max")])
        .column(number("skipped"));
    for of in threads {
        let latency = &of.latency_ns;
        let period = of.is_periodic.then(|| duration::length(of.period_ns));
        table.row(
            of.name.as_str(),
            vec![
                Cell::of(of.policy),
                period.into(),
                quantile(latency, Quantile::P50),
                quantile(latency, Quantile::P99),
                figure(latency, |summary| summary.max),
                figure(&of.run_ns, |summary| summary.max),
                of.skipped.map(Cell::of).into(),
            ],
        );
    }
    table
}

fn table(threads: &[Watched]) -> Table {
    let mut table = Table::of("thread")
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
        .group("run time", "", &["median", "max"].map(number))
        .column(number("preempted"))
        .column(number("activations"))
        .column(number("skipped"));
    for of in threads {
        let [latency, run] = [&of.latency_ns, &of.run_ns];
        // Without a period there is no deviation from it.
        let jitter = if of.is_periodic { &of.jitter_ns } else { &None };
        let period = of.is_periodic.then(|| duration::length(of.period_ns));
        table.row(
            of.name.as_str(),
            vec![
                Cell::of(of.policy),
                period.into(),
                quantile(jitter, Quantile::P50),
                quantile(jitter, Quantile::P99),
                figure(jitter, |summary| summary.max),
                figure(latency, |summary| summary.min),
                quantile(latency, Quantile::P50),
                quantile(latency, Quantile::P99),
                quantile(latency, Quantile::P999),
                figure(latency, |summary| summary.max),
                quantile(run, Quantile::P50),
                figure(run, |summary| summary.max),
                Cell::of(of.preempted.0),
                Cell::of(of.activations),
                of.skipped.map(Cell::of).into(),
            ],
        );
    }
    table
}

/// The sections between marks, at most so many; nothing without any.
fn sections(threads: &[Watched], most: usize) -> String {
    let mut table = Table::of("section")
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
                    Cell::of(&thread.name),
                    figure(&times, |summary| summary.min),
                    quantile(&times, Quantile::P50),
                    quantile(&times, Quantile::P99),
                    figure(&times, |summary| summary.max),
                    Cell::of(section.runs.len()),
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
fn figure(of: &Option<DistributionSummary>, figure: fn(&DistributionSummary) -> i64) -> Cell {
    of.as_ref()
        .map(|summary| Cell::time(figure(summary)))
        .into()
}

/// A quantile; unknown where the sample is too small to tell it from the maximum.
fn quantile(of: &Option<DistributionSummary>, wanted: Quantile) -> Cell {
    let mut known = of.iter().flat_map(|summary| &summary.quantiles);
    let found = known.find(|known| known.parts_per_million == wanted.parts_per_million());
    let told = found.filter(|quantile| !quantile.is_maximum);
    told.and_then(|quantile| quantile.value)
        .map(Cell::time)
        .into()
}

/// Facts that a reader needs to read a thread's line correctly.
fn remarks(of: &Watched, cycle: Option<&str>) -> Vec<String> {
    let mut remarks: Vec<String> = of.findings.iter().map(Finding::with_fix).collect();
    if let Some(cycle) = cycle.filter(|_| of.marked) {
        remarks.push(format!("its cycles lie {cycle}"));
    }
    if of.unwoken > 0 {
        remarks.push(format!(
            "it was not woken before {} of {}: the latency of those is not known and counts as 0",
            of.unwoken,
            counted(of.activations, "cycle", "cycles")
        ));
    }
    if of.outside > 0 {
        remarks.push(format!(
            "{} of sections outside of its cycles left out",
            counted(of.outside, "run", "runs")
        ));
    }
    if of.unpaired > 0 {
        remarks.push(format!(
            "{} without the other half of its pair left out",
            counted(of.unpaired, "mark of a section", "marks of sections")
        ));
    }
    if let Some(declared) = of.declared.filter(|&declared| declared != of.policy) {
        remarks.push(format!(
            "meant to have {declared}, in effect is {}",
            of.policy
        ));
    }
    if !of.earlier_policies.is_empty() {
        let earlier: Vec<String> = of
            .earlier_policies
            .iter()
            .map(ToString::to_string)
            .collect();
        remarks.push(format!("had {} before", earlier.join(", ")));
    }
    if of.other_priorities > 0 {
        remarks.push(format!(
            "switched in {} with another priority than its policy's (before it was set, or \
             inherited by a lock)",
            counted(of.other_priorities, "time", "times")
        ));
    }
    if let Some(WokenBy {
        waker, times, of, ..
    }) = &of.woken_by
    {
        remarks.push(format!(
            "{waker} wakes it, {times} of {of} times, and not a timer: latency counts from its being \
             woken"
        ));
    }
    if of.has_row && !of.exact {
        remarks.push(
            "computes the time to its next due time and sleeps for that: its due times are those of its timer, some \
             microseconds after its own, or up to a millisecond if it asks for whole ones"
                .into(),
        );
    }
    if !of.is_periodic && of.activations == 1 {
        remarks.push("one cycle only: its period, if any, is unknown".into());
    }
    if !of.is_periodic && of.activations > 1 {
        let (low, high) = (of.apart_ns.0.cast_signed(), of.apart_ns.1.cast_signed());
        remarks.push(format!(
            "without a period: most of its cycles begin {} to {} apart. Late cycles are unknown; its \
             wake-up latencies and run times are as measured",
            duration::three_digits(low),
            duration::three_digits(high)
        ));
    }
    let sleeps_for = |of: &Finding| matches!(of, Finding::SleepsFor { .. });
    let is_told = !of.is_periodic || of.findings.iter().any(sleeps_for);
    if let Some(mean_ns) = of.mean_interval_ns.filter(|_| !of.has_row && !is_told) {
        let mean = duration::length(mean_ns);
        remarks.push(match of.woken_by {
            Some(_) => format!("on average a turn each {mean}; no due time can be called skipped"),
            None => format!(
                "does not sleep until instants a whole number of periods apart: on average a turn \
                 each {mean}, and no due time can be called skipped"
            ),
        });
    }
    if !of.programmed && of.woken_by.is_none() && !of.marked {
        remarks.push(
            "its timer's programmed time is on another clock or was not seen: latency counts from \
             the timer's callback"
                .into(),
        );
    }
    let is_known = |of: &Finding| matches!(of, Finding::RanPassed { .. } | Finding::LeftOut { .. });
    if of.unseen > 0 && of.skipped.is_some() && !of.findings.iter().any(is_known) {
        remarks.push(format!(
            "{} passed during its own long cycles, and it slept again until the next one. It made no call for these: \
             it ran them at once, or left them out; --cycle with two probes in the program shows which",
            counted(of.unseen, "due time", "due times")
        ));
    }
    if of.left_out > 0 {
        remarks.push(format!(
            "{} left out: events missing, or off the period grid",
            counted(of.left_out, "activation", "activations")
        ));
    }
    if of.unseen_wake_ups > 0 {
        remarks.push(format!(
            "{} from CPUs that are not traced; --cpu adds them",
            counted(of.unseen_wake_ups, "wake-up", "wake-ups")
        ));
    }
    if of.untold_switches > 0 {
        remarks.push(format!(
            "{} not recorded by this kernel, which makes {} uncertain by up to {}, the time between the events \
             before and after",
            counted(of.untold_switches, "switch-in was", "switch-ins were"),
            match of.untold_switches {
                1 => "that latency",
                _ => "those latencies",
            },
            duration::three_digits(i64::try_from(of.untold_switch_ns).unwrap_or(i64::MAX))
        ));
    }
    match (of.is_new, of.ended) {
        (true, true) => remarks.push("came and went while it was watched".into()),
        (true, false) => remarks.push("came while it was watched".into()),
        (false, true) => remarks.push("ended while it was watched".into()),
        (false, false) => {}
    }
    remarks
}
