//! The analysis of a task set as text: the answer first, a row for each task, what the longest
//! response of the tightest one consists of, what was not put in.

use super::ToText;
use crate::Style;
use crate::table::{Cell, Table, Tone, number, words};
use std::fmt::Write;
use wakepath_assess::{Schedulability, refused_words};
use wakepath_schedulability::{Bound, Outcome, Part, Refuted, What};
use wakepath_timeline::count::counted;
use wakepath_timeline::number::percent;
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
    let tone = match answer.outcome() {
        _ if !answer.admitted() => Tone::Bad,
        Outcome::Schedulable => Tone::Good,
        Outcome::NotSchedulable(_) => Tone::Bad,
        Outcome::NotProvable => Tone::Doubtful,
    };
    let word = style.toned(tone, &word);
    let cpus = counted(answer.set.cpus.into(), "CPU", "CPUs");
    writeln!(
        text,
        "{word} under {} on {cpus}, {} of the CPU time used",
        answer.set.method,
        percent(answer.utilization())
    )?;
    writeln!(text, "{}\n", why(answer))?;
    text.push_str(&table(answer).to_terminal(style.columns));
    write_tightest(answer, text)?;
    write_chains(answer, text)?;
    write_verdicts(answer, text)?;
    write_overheads(answer, text)?;
    for note in &answer.set.notes {
        writeln!(text, "{}", one_line(note))?;
    }
    Ok(())
}

fn why(answer: &Schedulability) -> String {
    let name = |task: usize| one_line(&answer.set.tasks[task].name);
    let exact = duration::exact;
    if !answer.admitted() {
        return "the kernel does not admit these threads under SCHED_DEADLINE; the results below are \
                for a kernel that does"
            .into();
    }
    match &answer.outcome() {
        Outcome::Schedulable => {
            if answer.overheads.any() {
                "every job meets its deadline, kernel overheads included".into()
            } else {
                "every job meets its deadline if the kernel itself costs no time".into()
            }
        }
        Outcome::NotProvable => {
            "the analysis can't prove that every deadline is met, and knows no counterexample"
                .into()
        }
        Outcome::NotSchedulable(Refuted::Overload) => {
            "the tasks need more CPU time than there is".into()
        }
        Outcome::NotSchedulable(Refuted::Response { task }) => format!(
            "{} misses its deadline in the worst case, even without overheads",
            name(*task)
        ),
        Outcome::NotSchedulable(Refuted::Demand {
            length_ns,
            needed_ns,
        }) => format!(
            "jobs released and due within {} need {}",
            exact(*length_ns),
            exact(*needed_ns)
        ),
        Outcome::NotSchedulable(Refuted::Played {
            task,
            deadline_ns,
            offsets_ns,
        }) => {
            let apart = offsets_ns.iter().filter(|(_, ns)| *ns > 0);
            let apart: Vec<String> = apart
                .map(|(task, ns)| format!("{} {}", name(*task), exact(*ns)))
                .collect();
            let start = if apart.is_empty() {
                "all tasks start together".to_owned()
            } else {
                format!("the start, first releases after {}", apart.join(", "))
            };
            format!(
                "{} misses its deadline {} after {start}, even without overheads",
                name(*task),
                exact(*deadline_ns)
            )
        }
    }
}

/// A row for each task.
pub(crate) fn table(answer: &Schedulability) -> Table {
    let mut table = Table::new("task")
        .column(number("CPU"))
        .column(number("priority"))
        .column(number("response"))
        .column(number("deadline"))
        .column(number("slack"))
        .column(words("state"))
        .group("holds up to", "", &["execution", "period"].map(number));
    for (place, task) in answer.set.tasks.iter().enumerate() {
        let (found, limits) = (&answer.analysis.tasks[place], &answer.limits[place]);
        let at_most = |ns: Option<u64>| Cell::from(ns.map(duration::three_digits_up));
        let at_least = |ns: Option<i64>| Cell::from(ns.map(duration::three_digits_down));
        table.row(
            one_line(&task.name),
            vec![
                task.cpu.map(Cell::new).into(),
                (task.priority > 0)
                    .then_some(task.priority)
                    .map(Cell::new)
                    .into(),
                at_most(found.bound.response_ns),
                duration::length(task.deadline_ns).into(),
                at_least(found.bound.slack_ns()),
                state(answer, place),
                at_least(limits.longest_execution_ns.map(u64::cast_signed)),
                at_most(limits.shortest_period_ns),
            ],
        );
    }
    table
}

/// The result for one task's deadline.
fn state(answer: &Schedulability, place: usize) -> Cell {
    let found = &answer.analysis.tasks[place];
    let refuted = match &answer.analysis.outcome {
        Outcome::NotSchedulable(Refuted::Response { task } | Refuted::Played { task, .. }) => {
            *task == place
        }
        _ => false,
    };
    let (word, tone) = match (refuted, found.schedulable, found.tardiness_ns) {
        (true, ..) => ("misses".to_owned(), Tone::Bad),
        (false, true, _) => ("holds".to_owned(), Tone::Good),
        (false, false, Some(late)) => {
            let late = duration::three_digits_up(late);
            (format!("late by ≤ {late}"), Tone::Doubtful)
        }
        (false, false, None) => ("open".to_owned(), Tone::Doubtful),
    };
    Cell::Toned(word, tone)
}

/// The task with the least room, and what its response consists of.
fn write_tightest(answer: &Schedulability, text: &mut String) -> std::fmt::Result {
    let told = answer.analysis.tasks.iter();
    let told = told.filter(|found| !found.bound.made_of.is_empty());
    let Some(found) = told.min_by_key(|found| found.bound.slack_ns()) else {
        return Ok(());
    };
    let name = one_line(&answer.set.tasks[found.bound.task].name);
    writeln!(
        text,
        "\n{name}, the tightest: {}",
        sum_of(answer, &found.bound)
    )
}

/// Parts of each task's response, in the set's order; nothing for one without a bound.
pub(crate) fn sums(answer: &Schedulability) -> Vec<String> {
    let told = answer.analysis.tasks.iter();
    told.filter(|found| !found.bound.made_of.is_empty())
        .map(|found| {
            let name = one_line(&answer.set.tasks[found.bound.task].name);
            format!("{name}: {}", sum_of(answer, &found.bound))
        })
        .collect()
}

/// A response and its pieces as a sum.
fn sum_of(answer: &Schedulability, bound: &Bound) -> String {
    let name = |task: usize| one_line(&answer.set.tasks[task].name);
    // Each task's release is a part of its own; of one name they are one cost to a reader.
    let mut together: Vec<Part> = Vec::new();
    for part in &bound.made_of {
        let same = together
            .iter_mut()
            .find(|known| matches!(part.what, What::Overhead(_)) && known.what == part.what);
        match same {
            Some(known) => known.ns = known.ns.saturating_add(part.ns),
            None => together.push(part.clone()),
        }
    }
    let parts: Vec<String> = together
        .iter()
        .map(|part| {
            let time = duration::three_digits_up(part.ns);
            match &part.what {
                What::Own { earlier: 0 } => format!("{time} own execution"),
                What::Own { earlier } => format!("{time} own execution in {} jobs", earlier + 1),
                What::Suspension => format!("{time} suspended"),
                What::Jitter => format!("{time} released late"),
                What::Blocking => format!("{time} blocked"),
                What::Preemption { by, jobs: 1 } => format!("{time} of {}", name(*by)),
                What::Preemption { by, jobs } => format!("{time} of {} ({jobs} jobs)", name(*by)),
                What::Interference { by } => {
                    format!("{time} with all CPUs busy, by {}", name(*by))
                }
                What::Reservation { name, budgets: 0 } => {
                    format!("{time} until {} has supplied that much", one_line(name))
                }
                What::Reservation { name, budgets } => {
                    format!(
                        "{time} of the reservation {} ({budgets} budgets)",
                        one_line(name)
                    )
                }
                What::Overhead(what) => format!("{time} for {what}"),
                What::BeforeDue => format!("less {time} before it was due"),
            }
        })
        .collect();
    let response = bound
        .response_ns
        .map_or_else(String::new, duration::three_digits_up);
    format!(
        "{response} = {}",
        parts.join(" + ").replace("+ less", "less")
    )
}

fn write_chains(answer: &Schedulability, text: &mut String) -> std::fmt::Result {
    for (chain, found) in answer.set.chains.iter().zip(&answer.chains) {
        let names: Vec<_> = chain
            .tasks
            .iter()
            .map(|&place| one_line(&answer.set.tasks[place].name))
            .collect();
        write!(text, "\n{}, {}: ", one_line(&chain.name), names.join(" → "))?;
        match found {
            None => write!(text, "no bound from end to end")?,
            Some(found) => write!(
                text,
                "{} from the first due time to the last end, {} from anything that happens to \
                 the reaction to it",
                duration::three_digits_up(found.latency_ns),
                duration::three_digits_up(found.reaction_ns)
            )?,
        }
        match (chain.deadline_ns, found) {
            (None, _) => writeln!(text)?,
            (Some(deadline_ns), Some(found)) if found.latency_ns <= deadline_ns => {
                writeln!(text, "; within its {}", duration::length(deadline_ns))?;
            }
            (Some(deadline_ns), _) => {
                writeln!(text, "; not within its {}", duration::length(deadline_ns))?;
            }
        }
    }
    Ok(())
}

/// SCHED_DEADLINE's three verdicts, apart, and what to ask the kernel for.
fn write_verdicts(answer: &Schedulability, text: &mut String) -> std::fmt::Result {
    if answer.admissions.is_empty() {
        return Ok(());
    }
    let share = |bandwidth: u64| percent(bandwidth as f64 / f64::from(1 << 20));
    writeln!(text)?;
    for (cpu, places, admission) in &answer.admissions {
        let domain = match answer.admissions.len() {
            1 => String::new(),
            _ => format!(", root domain from CPU {cpu}"),
        };
        let word = if admission.admitted() { "yes" } else { "no" };
        let limit = admission.limit.map_or_else(|| "no limit".into(), share);
        writeln!(
            text,
            "admitted by the kernel{domain}: {word}, {} of a CPU requested, {limit} available",
            share(admission.needed)
        )?;
        for (place, why) in &admission.refused {
            let name = one_line(&answer.set.tasks[places[*place]].name);
            writeln!(text, "  {name} is refused: {}", refused_words(*why))?;
        }
    }
    let hard = match &answer.analysis.outcome {
        Outcome::Schedulable => "yes",
        Outcome::NotSchedulable(_) => "no, refuted",
        Outcome::NotProvable => "no; they might still be met",
    };
    writeln!(text, "every deadline proved: {hard}")?;
    let late = match (&answer.analysis.outcome, answer.tardiness_bounded()) {
        (Outcome::Schedulable, _) => "yes, nothing is late",
        (_, true) => "yes, by task above",
        (_, false) => "no bound is known",
    };
    writeln!(text, "lateness bounded: {late}")?;
    for (task, found) in answer.set.tasks.iter().zip(&answer.analysis.tasks) {
        if let Some(asked) = found.parameters {
            let exact = duration::exact;
            writeln!(
                text,
                "  ask for {}: runtime {}, deadline {}, period {}",
                one_line(&task.name),
                exact(asked.runtime_ns),
                exact(asked.deadline_ns),
                exact(asked.period_ns)
            )?;
        }
    }
    Ok(())
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
            "kernel overheads are not included: {}; measure them as root with `wakepath check --trace` and \
             `wakepath run cache-delay`, and give both runs with --overheads",
            unknown.join(", ")
        ),
        unknown => {
            let cures = [
                (
                    "release",
                    "; `wakepath check --trace` measures what the kernel's steps cost",
                ),
                (
                    "cache-related delay",
                    "; `wakepath run cache-delay` measures what caches lose",
                ),
            ];
            let cures = cures.iter().filter(|(name, _)| unknown.contains(name));
            let cure: String = cures.map(|(_, cure)| *cure).collect();
            let unknown = unknown.join(", ");
            writeln!(text, "unknown, counted as zero: {unknown}{cure}")
        }
    }
}
