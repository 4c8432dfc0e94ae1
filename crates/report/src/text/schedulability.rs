//! The analysis of a task set as text: the answer first, a row for each task, what the longest
//! response of the tightest one consists of, what was not put in.

use super::ToText;
use crate::{Style, Table};
use std::fmt::Write;
use wakepath_assess::Schedulability;
use wakepath_schedulability::{Outcome, Refuted, What};
use wakepath_timeline::{duration, one_line};

impl ToText for Schedulability {
    fn to_text(&self, style: Style) -> String {
        let mut text = String::new();
        // Writing to a String can't fail.
        let _ = write_all(self, &mut text, style);
        text
    }
}

fn write_all(answer: &Schedulability, text: &mut String, style: Style) -> std::fmt::Result {
    let word = answer.word().to_uppercase();
    let word = match answer.analysis.outcome {
        Outcome::Schedulable => style.good(&word),
        Outcome::NotSchedulable(_) => style.bad(&word),
        Outcome::NotProvable => style.doubtful(&word),
    };
    let cpus = match answer.set.cpus {
        1 => "1 CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    };
    writeln!(
        text,
        "{word} under {} on {cpus}, {:.1} % of the CPU time used",
        answer.set.method,
        answer.utilization() * 100.0
    )?;
    writeln!(text, "{}\n", why(answer))?;
    text.push_str(&table(answer).render(style.columns));
    write_tightest(answer, text)?;
    write_overheads(answer, text)
}

fn why(answer: &Schedulability) -> String {
    let name = |task: usize| one_line(&answer.set.tasks[task].name);
    let exact = duration::exact;
    match &answer.analysis.outcome {
        Outcome::Schedulable => match answer.overheads.any() {
            true => "every job is done by its deadline, overheads included".into(),
            false => {
                "every job is done by its deadline if the kernel's own work costs nothing".into()
            }
        },
        Outcome::NotProvable => {
            "the tests at hand can't show that every deadline is met; no counterexample is known"
                .into()
        }
        Outcome::NotSchedulable(Refuted::Overload) => {
            "the tasks need more CPU time than there is".into()
        }
        Outcome::NotSchedulable(Refuted::Response { task }) => format!(
            "{} misses its deadline when all tasks start together, even without overheads",
            name(*task)
        ),
        Outcome::NotSchedulable(Refuted::Demand {
            length_ns,
            needed_ns,
        }) => format!(
            "within {} jobs that are released and due need {}",
            exact(*length_ns),
            exact(*needed_ns)
        ),
        Outcome::NotSchedulable(Refuted::Played { task, deadline_ns }) => format!(
            "{} misses its deadline {} after all tasks start together, even without overheads",
            name(*task),
            exact(*deadline_ns)
        ),
    }
}

fn table(answer: &Schedulability) -> Table {
    let mut table = Table::new(&[
        ("", &["CPU", "priority"]),
        ("", &["response", "deadline", "slack", ""]),
        ("holds up to", &["execution", "period"]),
    ]);
    for (place, task) in answer.set.tasks.iter().enumerate() {
        let (found, limits) = (&answer.analysis.tasks[place], &answer.limits[place]);
        let time = |ns: Option<u64>| ns.map_or_else(|| "–".into(), duration::exact);
        let signed = |ns: i64| match ns {
            0.. => duration::exact(ns.unsigned_abs()),
            _ => format!("-{}", duration::exact(ns.unsigned_abs())),
        };
        let state = match (found.schedulable, found.tardiness_ns) {
            (true, _) => "holds".to_owned(),
            (false, Some(late)) => format!("late by ≤ {}", duration::exact(late)),
            (false, None) => "open".to_owned(),
        };
        let state = match &answer.analysis.outcome {
            Outcome::NotSchedulable(
                Refuted::Response { task: missed } | Refuted::Played { task: missed, .. },
            ) if *missed == place => "misses".to_owned(),
            _ => state,
        };
        let number =
            |value: Option<u32>| value.map_or_else(|| "–".into(), |value| value.to_string());
        table.row(
            one_line(&task.name),
            vec![
                number(task.cpu.map(u32::from)),
                number((task.priority > 0).then_some(task.priority)),
                time(found.bound.response_ns),
                time(Some(task.deadline_ns)),
                found.bound.slack_ns().map_or_else(|| "–".into(), signed),
                state,
                time(limits.longest_execution_ns),
                time(limits.shortest_period_ns),
            ],
        );
    }
    table
}

/// The task with the least room, and what its response consists of.
fn write_tightest(answer: &Schedulability, text: &mut String) -> std::fmt::Result {
    let tightest = answer
        .analysis
        .tasks
        .iter()
        .filter(|found| !found.bound.made_of.is_empty())
        .min_by_key(|found| found.bound.slack_ns());
    let Some(found) = tightest else {
        return Ok(());
    };
    let name = |task: usize| one_line(&answer.set.tasks[task].name);
    let parts: Vec<String> = found
        .bound
        .made_of
        .iter()
        .map(|part| {
            let time = duration::exact(part.ns);
            match &part.what {
                What::Own { earlier: 0 } => format!("{time} of its own"),
                What::Own { earlier } => format!("{time} of its own in {} jobs", earlier + 1),
                What::Suspension => format!("{time} asleep"),
                What::Jitter => format!("{time} released late"),
                What::Blocking => format!("{time} blocked"),
                What::Preemption { by, jobs: 1 } => format!("{time} of {}", name(*by)),
                What::Preemption { by, jobs } => format!("{time} of {} ({jobs} jobs)", name(*by)),
                What::Overhead(what) => format!("{time} for {what}"),
                What::BeforeDue => format!("less {time} before it was due"),
            }
        })
        .collect();
    let response = found
        .bound
        .response_ns
        .map_or_else(String::new, duration::exact);
    writeln!(
        text,
        "\n{}, the tightest: {response} = {}",
        name(found.bound.task),
        parts.join(" + ").replace("+ less", "less")
    )
}

fn write_overheads(answer: &Schedulability, text: &mut String) -> std::fmt::Result {
    let known = &answer.overheads;
    if known.any() {
        writeln!(text, "\noverheads: {}", known.source)?;
    } else {
        writeln!(text)?;
    }
    match &known.unknown[..] {
        [] => Ok(()),
        unknown if !known.any() => writeln!(
            text,
            "no overheads are put in ({}); measure them with `wakepath check --trace` as root and give \
             that run with --overheads",
            unknown.join(", ")
        ),
        unknown => writeln!(
            text,
            "not known, and counted as nothing: {}",
            unknown.join(", ")
        ),
    }
}
