//! Reads one task of a set: its execution, arrivals and scheduling.

use super::super::text::read_needed_name;
use super::{REMEDY, TIME};
use crate::document::{Node, Section};
use crate::error::Findings;
use crate::keys;
use crate::task_set::{Executions, MeasuredExecution};
use crate::units::{parse_duration, parse_rate, parse_size};
use wakepath_schedulability::{Arrivals, Method, Reservation, Task};

/// Context that a task's keys depend on.
pub(super) struct Terms<'a> {
    pub(super) method: Method,
    pub(super) cpus: u16,
    pub(super) assigned: bool,
    pub(super) reservations: &'a [Reservation],
    pub(super) executions: &'a Executions<'a>,
}

/// Results so far.
#[derive(Default)]
pub(super) struct Read {
    pub(super) tasks: Vec<Task>,
    /// For each of them, whether it has its own deadline.
    pub(super) deadlines: Vec<bool>,
    pub(super) notes: Vec<String>,
}

/// One task, added to those that were read before it.
pub(super) fn read_task(
    item: &Node<'_>,
    terms: &Terms<'_>,
    read: &mut Read,
    findings: &mut Findings,
) -> Option<()> {
    let section = findings.keep(item.table(REMEDY))?;
    keys::check(&section, &keys::SET_TASK, findings);
    let name = read_needed_name(&section, "such as name = \"imu\"", findings);
    if let (Some(name), Some(node)) = (&name, section.get("name"))
        && read.tasks.iter().any(|task| task.name == *name)
    {
        findings.push(node.refuse("is the name of an earlier task too", "give each its own"));
    }
    let execution = read_execution(&section, terms, name.as_deref(), &mut read.notes, findings);
    let after = match section.get("after") {
        None => Some(None),
        Some(node) => read_after(&section, &node, terms, findings).map(Some),
    };
    let arrivals = match &after {
        // Those of the first of the tasks that release each other: known once all are read.
        Some(Some(_)) => Some(Arrivals::Sporadic(1)),
        _ => read_arrivals(&section, findings),
    };
    let mut time = |key: &str| {
        findings.optional(section.get(key), 0, |node| {
            node.quantity(TIME, parse_duration)
        })
    };
    let (jitter, blocking) = (time("jitter"), time("blocking"));
    let (suspension, non_preemptive) = (time("suspension"), time("non-preemptive"));
    let working_set = findings.optional(section.get("working-set"), 0, |node| {
        node.quantity("give a size such as \"64 KiB\"", parse_size)
    });
    let mut maybe = |key: &str| match section.get(key) {
        None => Some(None),
        Some(node) => findings.keep(node.quantity(TIME, parse_duration)).map(Some),
    };
    let (deadline, offset, runtime) = (maybe("deadline"), maybe("offset"), maybe("runtime"));
    let reservation = read_reserved(&section, terms, findings);
    let priority = read_priority(&section, terms, &read.tasks, findings);
    let cpu = read_cpu(&section, terms, findings);
    let mut task = Task::new(name?, execution?, 1);
    task.arrivals = arrivals?;
    task.after = after?;
    task.deadline_ns = deadline?.unwrap_or_else(|| task.period_ns());
    (task.jitter_ns, task.blocking_ns) = (jitter?, blocking?);
    (task.suspension_ns, task.non_preemptive_ns) = (suspension?, non_preemptive?);
    task.working_set_bytes = working_set?;
    task.offset_ns = offset?;
    task.runtime_ns = runtime?;
    task.reservation = reservation?;
    task.priority = priority?;
    task.cpu = cpu?;
    read.deadlines.push(section.get("deadline").is_some());
    read.tasks.push(task);
    Some(())
}

/// A time, or a run to take it from.
fn read_execution(
    section: &Section<'_>,
    terms: &Terms<'_>,
    name: Option<&str>,
    notes: &mut Vec<String>,
    findings: &mut Findings,
) -> Option<u64> {
    let remedy = "give a time such as \"3 ms\", or { run = \"PATH\", section = \"control\" }";
    let node = findings.keep(section.need("execution", remedy))?;
    if node.as_text().is_some() {
        return findings.keep(node.quantity(TIME, parse_duration));
    }
    let table = findings.keep(node.table(remedy))?;
    keys::check(&table, &keys::SET_EXECUTION, findings);
    let mut text = |key: &str, remedy: &str| {
        let node = table.need(key, remedy);
        findings.keep(node.and_then(|node| Ok(node.text(remedy)?.to_owned())))
    };
    let run = text("run", "give the run's directory");
    let of = text(
        "section",
        "give the name of a thread, or of a part of its work",
    );
    let mut share = |key: &str| match table.get(key) {
        None => Some(None),
        Some(node) => {
            let remedy = "give a number between 0 and 1, such as 0.9999";
            let number = findings.keep(node.number(remedy))?;
            if number <= 0.0 || number >= 1.0 {
                findings.push(node.refuse("is not between 0 and 1", remedy));
                return None;
            }
            Some(Some(number))
        }
    };
    let (quantile, confidence) = (share("quantile")?, share("confidence")?);
    if let (None, Some(_), Some(node)) = (quantile, confidence, table.get("confidence")) {
        let problem = "needs the quantile that it bounds";
        findings.push(node.refuse(problem, "give a quantile, such as 0.9999"));
        return None;
    }
    let wanted = MeasuredExecution {
        run: run?,
        section: of?,
        quantile,
        confidence,
    };
    match (terms.executions)(&wanted) {
        Ok(told) => {
            notes.push(format!("{}: {}", name.unwrap_or("a task"), told.from));
            Some(told.ns)
        }
        Err(why) => {
            findings.push(node.refuse(
                format!("is not available: {why}"),
                "give a run that has it, or a time",
            ));
            None
        }
    }
}

fn read_after(
    section: &Section<'_>,
    node: &Node<'_>,
    terms: &Terms<'_>,
    findings: &mut Findings,
) -> Option<String> {
    for key in ["period", "rate", "distances", "offset"] {
        if section.get(key).is_some() {
            let problem = "conflicts with after, which sets when jobs arrive";
            findings.push(section.refuse_key(key, problem, "give one of the two"));
            return None;
        }
    }
    if terms.method != Method::PartitionedFixedPriority {
        let problem = format!("is not analysed under {}", terms.method);
        let remedy = "give policy = \"P-FP\", under which it is analysed, or a period";
        findings.push(node.refuse(problem, remedy));
        return None;
    }
    if section.get("reservation").is_some() {
        let problem = "is not analysed in a reservation";
        findings.push(node.refuse(problem, "give the task a period"));
        return None;
    }
    findings.keep(node.text("give the name of a task").map(str::to_owned))
}

fn read_reserved(
    section: &Section<'_>,
    terms: &Terms<'_>,
    findings: &mut Findings,
) -> Option<Option<Reservation>> {
    let Some(node) = section.get("reservation") else {
        return Some(None);
    };
    let name = findings.keep(node.text("give the name of a reservation"))?;
    let found = terms.reservations.iter().find(|known| known.name == name);
    if found.is_none() {
        let problem = "is not a reservation of this set";
        findings.push(node.refuse(
            problem,
            "give it in [[reservations]], with budget and period",
        ));
        return None;
    }
    Some(found.cloned())
}

/// Refuses impossible tasks, with the key at fault.
pub(super) fn possible(section: &Section<'_>, task: &Task, findings: &mut Findings) -> bool {
    let wrong = if task.execution_ns == 0 {
        Some((
            "execution",
            "is not a time",
            "give the most CPU time that a job takes",
        ))
    } else if task.alone_ns() > task.deadline_ns {
        Some((
            "execution",
            "is longer than the deadline, with what the job sleeps",
            "give a later deadline or a shorter execution",
        ))
    } else if task
        .runtime_ns
        .is_some_and(|runtime_ns| runtime_ns < task.execution_ns)
    {
        Some((
            "runtime",
            "is below the execution: the kernel would throttle such a job until its next period",
            "give at least the execution, or leave it out",
        ))
    } else if task.non_preemptive_ns > task.execution_ns {
        Some((
            "non-preemptive",
            "is longer than the execution that it is part of",
            "give at most the execution",
        ))
    } else {
        None
    };
    if let Some((key, problem, remedy)) = wrong {
        findings.push(match section.get(key) {
            Some(node) => node.refuse(problem, remedy),
            None => section.refuse_key(key, problem, remedy),
        });
    }
    wrong.is_none()
}

fn read_arrivals(section: &Section<'_>, findings: &mut Findings) -> Option<Arrivals> {
    let remedy = "give period = \"4 ms\", rate = \"250 Hz\", distances or after";
    let given: Vec<&str> = ["period", "rate", "distances"]
        .into_iter()
        .filter(|key| section.get(key).is_some())
        .collect();
    if let [_, second, ..] = given[..] {
        let problem = "conflicts with another key that sets how often jobs arrive";
        findings.push(section.refuse_key(second, problem, "give one of the two"));
        return None;
    }
    let Some(node) = given.first().and_then(|key| section.get(key)) else {
        findings.push(section.missing("period", remedy));
        return None;
    };
    let arrivals = match given[0] {
        "period" => Arrivals::Sporadic(findings.keep(node.quantity(TIME, parse_duration))?),
        "rate" => {
            let remedy = "give a rate with its unit, such as \"250 Hz\"";
            // Rounded down: a shorter period is the safe side.
            let rate = findings.keep(node.quantity(remedy, parse_rate))?;
            let down = u64::from(!rate.exact);
            Arrivals::Sporadic(rate.period_ns.saturating_sub(down))
        }
        _ => {
            let remedy = "give a list of times such as [\"0 ns\", \"20 ms\"]";
            let items = findings.keep(node.items(64, remedy))?;
            let list: Option<Vec<u64>> = items
                .iter()
                .map(|item| findings.keep(item.quantity(TIME, parse_duration)))
                .collect();
            Arrivals::Distances(list?)
        }
    };
    let rises = match &arrivals {
        Arrivals::Sporadic(period_ns) => *period_ns > 0,
        Arrivals::Distances(list) => {
            list.last().is_some_and(|last| *last >= list.len() as u64)
                && list.windows(2).all(|two| two[0] <= two[1])
        }
    };
    if !rises {
        let problem = "is not a distance between jobs";
        findings.push(node.refuse(problem, "give times above 0 that don't fall"));
        return None;
    }
    Some(arrivals)
}

fn read_priority(
    section: &Section<'_>,
    terms: &Terms<'_>,
    earlier: &[Task],
    findings: &mut Findings,
) -> Option<u32> {
    let needed =
        section.get("reservation").is_some() || terms.method.by_priority() && !terms.assigned;
    let remedy = "give a number from 1 to 99, the greater first";
    let node = match section.get("priority") {
        None if needed => {
            findings.push(section.missing("priority", remedy));
            return None;
        }
        None => return Some(0),
        Some(node) => node,
    };
    let priority = findings.keep(node.integer(1..=99))? as u32;
    let cpu = section
        .get("cpu")
        .and_then(|node| node.integer(0..=1023).ok());
    let reserved = section
        .get("reservation")
        .and_then(|node| node.as_text().map(str::to_owned));
    let same = earlier.iter().find(|task| {
        let other = task.reservation.as_ref().map(|other| &other.name);
        task.priority == priority
            && other == reserved.as_ref()
            && (terms.method == Method::GlobalFixedPriority || task.cpu.map(i64::from) == cpu)
    });
    if let Some(same) = same.filter(|_| needed) {
        let problem = format!("is the priority of {} too", same.name);
        findings.push(node.refuse(problem, "give each task of a CPU its own"));
        return None;
    }
    Some(priority)
}

fn read_cpu(
    section: &Section<'_>,
    terms: &Terms<'_>,
    findings: &mut Findings,
) -> Option<Option<u16>> {
    let one_each =
        terms.method.cluster_size(terms.cpus) < terms.cpus && section.get("reservation").is_none();
    let Some(node) = section.get("cpu") else {
        if one_each && !terms.assigned {
            let remedy =
                "give the CPU that the task is pinned to, or let it be found with --assign";
            findings.push(section.missing("cpu", remedy));
            return None;
        }
        return Some(None);
    };
    let cpu = findings.keep(node.integer(0..=1023))? as u16;
    if cpu >= terms.cpus {
        let problem = "is beyond the last CPU";
        let remedy = format!("give 0 to {}, or cpus = {}", terms.cpus - 1, cpu + 1);
        findings.push(node.refuse(problem, remedy));
        return None;
    }
    Some(Some(cpu))
}
