//! A task set for schedulability analysis, from its file.

use super::text::read_needed_name;
use crate::document::{Node, Section};
use crate::error::Findings;
use crate::keys;
use crate::task_set::{SetOverheads, TaskSet};
use crate::units::{parse_duration, parse_rate, parse_size};
use wakepath_schedulability::{Arrivals, Method, Task};

const REMEDY: &str = "give [[tasks]], each with name, execution and period";
const TIME: &str = "give a time such as \"3 ms\"";

/// The set of a file.
pub(crate) fn task_set_file(
    text: &str,
    assigned: bool,
    findings: &mut Findings,
) -> Option<TaskSet> {
    super::with_root(text, findings, |root, findings| {
        keys::check(root, &keys::TASK_SET, findings);
        let cpus = findings.optional(root.get("cpus"), 1, |node| node.integer(1..=1024));
        let method = read_method(root, findings);
        let overheads = match root.get("overheads") {
            None => Some(None),
            Some(node) => read_overheads(&node, findings).map(Some),
        };
        let node = findings.keep(root.need("tasks", REMEDY))?;
        let items = findings.keep(node.items(keys::MOST_SET_TASKS, REMEDY))?;
        if items.is_empty() {
            findings.push(node.refuse("is empty", REMEDY));
            return None;
        }
        let (method, cpus) = (method?, cpus? as u16);
        let mut tasks: Vec<Task> = Vec::with_capacity(items.len());
        let mut complete = true;
        for item in &items {
            let terms = Terms {
                method,
                cpus,
                assigned,
            };
            match read_task(item, &terms, &tasks, findings) {
                Some(task) => tasks.push(task),
                None => complete = false,
            }
        }
        complete.then_some(TaskSet {
            method,
            cpus,
            tasks,
            overheads: overheads?,
        })
    })
}

/// What a task's keys depend on.
struct Terms {
    method: Method,
    cpus: u16,
    assigned: bool,
}

fn read_method(root: &Section<'_>, findings: &mut Findings) -> Option<Method> {
    let remedy = format!("give {}", Method::NAMES);
    let node = findings.keep(root.need("policy", &remedy))?;
    let name = findings.keep(node.text(&remedy))?;
    let Ok(method) = name.parse::<Method>() else {
        findings.push(node.refuse("is no policy that can be analysed", remedy));
        return None;
    };
    match (method, root.get("cluster")) {
        (_, None) => Some(method),
        (Method::ClusteredEdf(_), Some(node)) => {
            let size = findings.keep(node.integer(1..=1024))?;
            Some(Method::ClusteredEdf(size as u16))
        }
        (_, Some(node)) => {
            findings.push(node.refuse(
                format!("stands beside {method}, which has no clusters"),
                "leave it out, or give policy = \"C-EDF\"",
            ));
            None
        }
    }
}

fn read_task(
    item: &Node<'_>,
    terms: &Terms,
    earlier: &[Task],
    findings: &mut Findings,
) -> Option<Task> {
    let section = findings.keep(item.table(REMEDY))?;
    keys::check(&section, &keys::SET_TASK, findings);
    let name = read_needed_name(&section, "such as name = \"imu\"", findings);
    if let (Some(name), Some(node)) = (&name, section.get("name"))
        && earlier.iter().any(|task| task.name == *name)
    {
        findings.push(node.refuse("is the name of an earlier task too", "give each its own"));
    }
    let execution = section.need("execution", TIME);
    let execution = findings.keep(execution.and_then(|node| node.quantity(TIME, parse_duration)));
    let arrivals = read_arrivals(&section, findings);
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
    let deadline = match section.get("deadline") {
        None => Some(None),
        Some(node) => findings.keep(node.quantity(TIME, parse_duration)).map(Some),
    };
    let priority = read_priority(&section, terms, earlier, findings);
    let cpu = read_cpu(&section, terms, findings);
    let mut task = Task::new(name?, execution?, 1);
    task.arrivals = arrivals?;
    task.deadline_ns = deadline?.unwrap_or_else(|| task.period_ns());
    (task.jitter_ns, task.blocking_ns) = (jitter?, blocking?);
    (task.suspension_ns, task.non_preemptive_ns) = (suspension?, non_preemptive?);
    task.working_set_bytes = working_set?;
    task.priority = priority?;
    task.cpu = cpu?;
    possible(&section, &task, findings).then_some(task)
}

/// What no task can be, said at the key that makes it so.
fn possible(section: &Section<'_>, task: &Task, findings: &mut Findings) -> bool {
    let wrong = if task.execution_ns == 0 {
        Some((
            "execution",
            "is no time",
            "give the most CPU time that a job takes",
        ))
    } else if task.alone_ns() > task.deadline_ns {
        Some((
            "execution",
            "is longer than the deadline, with what the job sleeps",
            "give a later deadline or a shorter execution",
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
    let remedy = "give period = \"4 ms\", rate = \"250 Hz\" or distances";
    let given: Vec<&str> = ["period", "rate", "distances"]
        .into_iter()
        .filter(|key| section.get(key).is_some())
        .collect();
    if let [_, second, ..] = given[..] {
        let problem = "stands beside another key that says how often jobs come";
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
        let problem = "is no distance between jobs";
        findings.push(node.refuse(problem, "give times above 0 that don't fall"));
        return None;
    }
    Some(arrivals)
}

fn read_priority(
    section: &Section<'_>,
    terms: &Terms,
    earlier: &[Task],
    findings: &mut Findings,
) -> Option<u32> {
    let needed = terms.method.by_priority() && !terms.assigned;
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
    let same = earlier.iter().find(|task| {
        task.priority == priority
            && (terms.method == Method::GlobalFixedPriority || task.cpu.map(i64::from) == cpu)
    });
    if let Some(same) = same.filter(|_| needed) {
        let problem = format!("is the priority of {} too", same.name);
        findings.push(node.refuse(problem, "give each task of a CPU its own"));
        return None;
    }
    Some(priority)
}

fn read_cpu(section: &Section<'_>, terms: &Terms, findings: &mut Findings) -> Option<Option<u16>> {
    let one_each = terms.method.cluster_size(terms.cpus) < terms.cpus;
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

fn read_overheads(node: &Node<'_>, findings: &mut Findings) -> Option<SetOverheads> {
    let section = findings.keep(node.table("give a table such as { event = \"10 us\" }"))?;
    keys::check(&section, &keys::SET_OVERHEADS, findings);
    let mut complete = true;
    let mut cost = |key: &str| {
        let node = section.get(key)?;
        let read = findings.keep(node.quantity(TIME, parse_duration));
        complete &= read.is_some();
        read
    };
    let overheads = SetOverheads {
        event_ns: cost("event"),
        release_ns: cost("release"),
        scheduling_ns: cost("scheduling"),
        switch_ns: cost("switch"),
        ipi_ns: cost("ipi"),
        tick_ns: cost("tick"),
        tick_period_ns: cost("tick-period"),
        section_ns: cost("section"),
        cache_delay_ns: cost("cache-delay"),
    };
    complete.then_some(overheads)
}
