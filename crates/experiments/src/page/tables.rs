//! Tables of an experiment: latencies and the published ones, kinds of wake-ups, the guest kernel's
//! own measurements.

use super::line;
use crate::claim::disturbers;
use crate::repeated::Measured;
use crate::{Cell, Figure, GuestRun, OVER_POLICIES, Published, Repeated};
use std::fmt::Write;
use wakepath_report::CostModel;
use wakepath_statistics::{DistributionSummary, Quantile};
use wakepath_timeline::duration::{exact, three_digits};

/// Conditions of all guests: kernels below each other under each policy in each phase.
pub fn latencies(text: &mut String, repeated: &Repeated) {
    let setting = repeated.experiment.setting;
    line!(
        text,
        "| kernel | policy | load | due times | skipped | latency of wake-ups{}: min | mean | p99 | max | latency as \
         scheduled: max | published min / average / max |",
        setting.clock()
    );
    line!(text, "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---|");
    for (phase, policy) in conditions(repeated) {
        for kernel in repeated.kernels() {
            let runs = repeated.runs_of(kernel);
            let of_each_run: Vec<&Measured> = runs
                .filter_map(|run| run.condition(&phase, &policy))
                .collect();
            if !of_each_run.is_empty() {
                let published = published(repeated, kernel, &phase, &policy);
                line!(
                    text,
                    "| {kernel} | {policy} | {phase} | {} | {published} |",
                    figures(&of_each_run).join(" | ")
                );
            }
        }
    }
    over_policies(text, repeated);
    not_given(text, repeated);
    line!(
        text,
        "\nOur figures span due time to first instruction, over all {}: of the cycles that ran, and as scheduled, \
         where a skipped due time counts with the time until the next cycle. p99 and max are the median {one}'s, \
         with the range.",
        setting.replicates(),
        one = setting.replicate()
    );
    cost_model(text, repeated);
    invalid(text, repeated);
}

/// What virtual time counts for each instruction in the table above.
fn cost_model(text: &mut String, repeated: &Repeated) {
    let times = repeated.guests.iter();
    let times = times.filter_map(|guest| guest.virtual_time.as_ref());
    let mut models: Vec<String> = times
        .map(|time| CostModel::from(time).to_string())
        .collect();
    models.dedup();
    if !models.is_empty() {
        line!(text, "\nCost model: {}.", models.join("; "));
    }
}

/// Conditions that are no evidence, each once, with the first reason.
fn invalid(text: &mut String, repeated: &Repeated) {
    list_of_invalid(
        text,
        repeated,
        "Invalid, and used for no claim on latencies",
        |one| one.invalid.as_ref(),
    );
    let traced = "Invalid while traced, and used for no claim on kernel events";
    list_of_invalid(text, repeated, traced, |one| {
        one.invalid_while_traced.as_ref()
    });
}

fn list_of_invalid(
    text: &mut String,
    repeated: &Repeated,
    title: &str,
    reason: impl Fn(&Measured) -> Option<&String>,
) {
    let mut found: Vec<(String, &String, usize)> = Vec::new();
    for run in &repeated.guests {
        for one in &run.conditions {
            let Some(why) = reason(one) else { continue };
            let condition = format!("{}, {}, {}", run.guest.name, one.policy, one.phase);
            match found.iter_mut().find(|(known, ..)| *known == condition) {
                Some((.., runs)) => *runs += 1,
                None => found.push((condition, why, 1)),
            }
        }
    }
    if found.is_empty() {
        return;
    }
    line!(text, "\n{title}:\n");
    let setting = repeated.experiment.setting;
    for (condition, why, runs) in found {
        let unit = match runs {
            1 => setting.replicate(),
            _ => setting.replicates(),
        };
        line!(text, "- {condition} ({runs} {unit}): {why}");
    }
}

/// A row for each kernel that the user did not give, with its published figures.
fn not_given(text: &mut String, repeated: &Repeated) {
    let given = repeated.experiment.given.iter();
    for one in given.filter(|one| repeated.runs_of(one.name).next().is_none()) {
        let mut all = repeated.experiment.published();
        let cell = all.find(|of| of.cell.guest == one.name).map(|of| of.cell);
        let [policy, phase] = cell.map_or(["–"; 2], |cell| [cell.policy, cell.phase]);
        line!(
            text,
            "| {} | {policy} | {phase} | not measured: needs `--kernel {}=BZIMAGE` | | | | | | | {} |",
            one.name,
            one.key,
            published(repeated, one.name, phase, policy)
        );
    }
}

/// Published figures over all policies, compared with our least and greatest of all policies.
fn over_policies(text: &mut String, repeated: &Repeated) {
    let published = repeated.experiment.published();
    for one in published.filter(|one| one.cell.policy == OVER_POLICIES) {
        let of = |figure| repeated.figures(one.cell, figure).unwrap_or_default();
        let least = of(Figure::Min).into_iter().min_by(f64::total_cmp);
        let Cell {
            guest,
            phase,
            policy,
        } = one.cell;
        line!(
            text,
            "| {guest} | {policy} | {phase} | | | {} | | | {} | {} | {} |",
            time(least),
            over_runs(&of(Figure::Max)),
            over_runs(&of(Figure::MaxAsScheduled)),
            self::published(repeated, guest, phase, policy)
        );
    }
}

/// Phases and policies in the order in which they were measured.
fn conditions(repeated: &Repeated) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let measured = repeated.guests.iter().flat_map(|guest| &guest.conditions);
    for place in measured.map(|one| (one.phase.clone(), one.policy.clone())) {
        if !found.contains(&place) {
            found.push(place);
        }
    }
    found
}

fn figures(of_each_run: &[&Measured]) -> [String; 7] {
    let p99 = |latency: &DistributionSummary| {
        let found = latency.quantile(Quantile::P99);
        found.and_then(|found| found.value).map(|ns| ns as f64)
    };
    let all = || of_each_run.iter();
    let of = |figure| all().filter_map(move |one| one.figure(figure));
    let scheduled: u64 = all().map(|one| one.scheduled).sum();
    let skipped: u64 = all().map(|one| one.skipped).sum();
    let means: Vec<f64> = of(Figure::Mean).collect();
    let mean = (!means.is_empty()).then(|| means.iter().sum::<f64>() / means.len() as f64);
    let p99 = all().filter_map(|one| p99(one.latency_of_wake_ups.as_ref()?));
    [
        scheduled.to_string(),
        skipped.to_string(),
        time(of(Figure::Min).min_by(f64::total_cmp)),
        time(mean),
        over_runs(&p99.collect::<Vec<_>>()),
        over_runs(&of(Figure::Max).collect::<Vec<_>>()),
        over_runs(&of(Figure::MaxAsScheduled).collect::<Vec<_>>()),
    ]
}

/// The middle value, and if there are several the least and the greatest.
fn over_runs(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let at = |index: usize| time(sorted.get(index).copied());
    match sorted.len() {
        0 | 1 => at(0),
        many => format!("{} ({} – {})", at(many / 2), at(0), at(many - 1)),
    }
}

fn time(ns: Option<f64>) -> String {
    ns.map_or("–".to_owned(), |ns| three_digits(ns.round() as i64))
}

fn published(repeated: &Repeated, guest: &str, phase: &str, policy: &str) -> String {
    let is_it = |cell: Cell| cell.guest == guest && cell.phase == phase && cell.policy == policy;
    let mut all = repeated.experiment.published();
    let Some(Published { min, mean, max, .. }) = all.find(|one| is_it(one.cell)) else {
        return String::new();
    };
    // As many digits as were published.
    let shown = |us: Option<f64>| us.map_or("–".to_owned(), |us| exact((us * 1e3).round() as u64));
    [min, mean, max].map(shown).join(" / ")
}

/// Kinds of wake-ups and other code involved, if guests were traced.
pub fn woken(text: &mut String, repeated: &Repeated) {
    if repeated
        .first_runs()
        .all(|guest| guest.explanation.is_none())
    {
        return;
    }
    line!(
        text,
        "\n| kernel | policy | load | cycles traced | woken directly | deferred | not asleep | others on \
         the CPU | longest cause |"
    );
    line!(text, "|---|---|---|---:|---:|---:|---:|---|---|");
    for (phase, policy) in conditions(repeated) {
        for guest in repeated.first_runs() {
            let Some(found) = guest.explained(&phase, &policy) else {
                continue;
            };
            let way = |way: &str| found.woken.get(way).copied().unwrap_or(0);
            let (causes, cycles) = disturbers(found);
            let unit = if cycles == 1 { "cycle" } else { "cycles" };
            let usual = ["path", "timer-delivery"];
            let mut causes_of = found.causes.iter();
            let longest = causes_of
                .by_ref()
                .filter(|cause| !usual.contains(&cause.kind.as_str()))
                .max_by_key(|cause| cause.worst_ns);
            let longest = longest.map_or("–".to_owned(), |cause| {
                let cleaned = cause.cause.replace('|', "/");
                format!("{cleaned}, {}", three_digits(cause.worst_ns.cast_signed()))
            });
            line!(
                text,
                "| {} | {policy} | {phase} | {} | {} | {} | {} | {causes} in {cycles} {unit} | {longest} |",
                guest.guest.name,
                found.cycles,
                way("direct"),
                way("deferred"),
                way("not-asleep"),
            );
        }
    }
    line!(
        text,
        "\nFrom the kernel events of the first {}, recorded in separate passes; these times include the cost of \
         recording. *Directly*: from the hard timer interrupt; *deferred*: by a SoftIRQ or its thread. *Others on \
         the CPU*: threads, interrupts and SoftIRQs that ran during a wake-up.",
        repeated.experiment.setting.replicate()
    );
}

/// The guest kernel's own measurements, compared with ours.
pub fn by_kernel(text: &mut String, repeated: &Repeated) {
    let measured = |guest: &GuestRun| {
        let all = guest.kernel_latency.iter();
        all.filter(|one| one.not_available.is_none()).count() > 0
    };
    if !repeated.first_runs().any(measured) {
        return;
    }
    line!(
        text,
        "\n| kernel | load | timerlat's interrupt, virtual time: median | max | timerlat's thread, FIFO 95: median | \
         max | ours, FIFO 99: mean | max |"
    );
    line!(text, "|---|---|---:|---:|---:|---:|---:|---:|");
    for guest in repeated.first_runs() {
        for one in &guest.kernel_latency {
            if let Some(why) = &one.not_available {
                line!(
                    text,
                    "| {} | {} | {why} | | | | | |",
                    guest.guest.name,
                    one.phase
                );
                continue;
            }
            let ours = guest.condition(&one.phase, "FIFO 99");
            let ours = |figure| time(ours.and_then(|measured| measured.figure(figure)));
            let kernel = [
                one.interrupt.median_ns,
                one.interrupt.largest_ns,
                one.thread.median_ns,
                one.thread.largest_ns,
            ];
            let kernel = kernel.map(|ns| time(Some(ns as f64)));
            line!(
                text,
                "| {} | {} | {} | {} | {} |",
                guest.guest.name,
                one.phase,
                kernel.join(" | "),
                ours(Figure::Mean),
                ours(Figure::Max),
            );
        }
    }
    line!(
        text,
        "\nA kernel thread does not return to user code; our loop does."
    );
}
