//! Reads chains, reservations and the kernel's limits of a task set for analysis.
//!
//! Also links the tasks that release each other.

use super::super::text::read_needed_name;
use super::TIME;
use crate::document::{Node, Section};
use crate::error::Findings;
use crate::keys;
use crate::units::parse_duration;
use wakepath_schedulability::sched_deadline::KernelLimit;
use wakepath_schedulability::{Chain, Method, Reservation, Server, Task};

/// The reservations, by name.
pub(super) fn read_reservations(
    root: &Section<'_>,
    method: Option<Method>,
    cpus: Option<i64>,
    findings: &mut Findings,
) -> Option<Vec<Reservation>> {
    let Some(node) = root.get("reservations") else {
        return Some(Vec::new());
    };
    let remedy = "give [[reservations]], each with name, budget and period";
    let items = findings.keep(node.items(keys::MOST_SET_TASKS, remedy))?;
    let mut found: Vec<Reservation> = Vec::with_capacity(items.len());
    let mut complete = true;
    for item in &items {
        let read = findings
            .keep(item.table(remedy))
            .and_then(|section| read_reservation(&section, method, cpus, &found, findings));
        match read {
            Some(reservation) => found.push(reservation),
            None => complete = false,
        }
    }
    complete.then_some(found)
}

fn read_reservation(
    section: &Section<'_>,
    method: Option<Method>,
    cpus: Option<i64>,
    earlier: &[Reservation],
    findings: &mut Findings,
) -> Option<Reservation> {
    keys::check(section, &keys::SET_RESERVATION, findings);
    let name = read_needed_name(section, "such as name = \"vision\"", findings);
    if let (Some(name), Some(node)) = (&name, section.get("name"))
        && earlier.iter().any(|other| other.name == *name)
    {
        let problem = "is the name of an earlier reservation too";
        findings.push(node.refuse(problem, "give each its own"));
        return None;
    }
    let mut time = |key: &str| {
        let node = section.need(key, TIME);
        findings.keep(node.and_then(|node| node.quantity(TIME, parse_duration)))
    };
    let (budget_ns, period_ns) = (time("budget")?, time("period")?);
    if let Some(node) = section.get("budget")
        && (budget_ns == 0 || budget_ns > period_ns)
    {
        let problem = "is not a budget within its period";
        findings.push(node.refuse(problem, "give a time above 0 and at most the period"));
        return None;
    }
    let by_kernel = matches!(method, Some(Method::Deadline(_)));
    let server = match section.get("server") {
        None if by_kernel => Server::ConstantBandwidth,
        None => Server::Periodic,
        Some(node) => {
            let remedy = "give \"periodic\", \"sporadic\" or \"constant-bandwidth\"";
            match findings.keep(node.text(remedy))? {
                "periodic" => Server::Periodic,
                "sporadic" => Server::Sporadic,
                "constant-bandwidth" => Server::ConstantBandwidth,
                _ => {
                    findings.push(node.refuse("is not a server", remedy));
                    return None;
                }
            }
        }
    };
    let by_priority = method.is_some_and(Method::by_priority);
    let priority = match section.get("priority") {
        None if by_priority => {
            let remedy = "give a number from 1 to 99, the greater first";
            findings.push(section.missing("priority", remedy));
            return None;
        }
        None => 0,
        Some(node) => findings.keep(node.integer(1..=99))? as u32,
    };
    let cpu = match section.get("cpu") {
        None => {
            let apart = method
                .zip(cpus)
                .is_some_and(|(method, cpus)| i64::from(method.cluster_size(cpus as u16)) < cpus);
            if apart {
                findings.push(section.missing("cpu", "give the CPU that the reservation is on"));
                return None;
            }
            None
        }
        Some(node) => {
            let last = cpus.unwrap_or(1024) - 1;
            Some(findings.keep(node.integer(0..=last))? as u16)
        }
    };
    Some(Reservation {
        name: name?,
        server,
        budget_ns,
        period_ns,
        priority,
        cpu,
    })
}

/// The chains, their tasks by place.
pub(super) fn read_chains(
    root: &Section<'_>,
    tasks: &[Task],
    findings: &mut Findings,
) -> Option<Vec<Chain>> {
    let Some(node) = root.get("chains") else {
        return Some(Vec::new());
    };
    let remedy = "give [[chains]], each with name and tasks";
    let items = findings.keep(node.items(keys::MOST_SET_TASKS, remedy))?;
    let read: Vec<Option<Chain>> = items
        .iter()
        .map(|item| {
            let section = findings.keep(item.table(remedy))?;
            read_chain(&section, tasks, findings)
        })
        .collect();
    read.into_iter().collect()
}

fn read_chain(section: &Section<'_>, tasks: &[Task], findings: &mut Findings) -> Option<Chain> {
    keys::check(section, &keys::SET_CHAIN, findings);
    let name = read_needed_name(section, "such as name = \"sense-act\"", findings);
    let remedy = "give names of tasks, such as [\"imu\", \"control\"]";
    let node = findings.keep(section.need("tasks", remedy))?;
    let items = findings.keep(node.items(keys::MOST_SET_TASKS, remedy))?;
    let mut places: Vec<usize> = Vec::with_capacity(items.len());
    for item in &items {
        let task = findings.keep(item.text(remedy))?;
        let Some(place) = tasks.iter().position(|known| known.name == task) else {
            findings.push(item.refuse("is not a task of this set", remedy));
            return None;
        };
        if places.contains(&place) {
            let problem = "is in its chain twice, and a circular chain has no end";
            findings.push(item.refuse(problem, "leave it out, or make two chains of it"));
            return None;
        }
        places.push(place);
    }
    if places.len() < 2 {
        findings.push(node.refuse("is not a chain", "give two tasks or more"));
        return None;
    }
    let deadline_ns = match section.get("deadline") {
        None => None,
        Some(node) => Some(findings.keep(node.quantity(TIME, parse_duration))?),
    };
    Some(Chain {
        name: name?,
        tasks: places,
        deadline_ns,
    })
}

/// The kernel's limits, as the file gives them.
pub(super) fn read_admission(root: &Section<'_>, findings: &mut Findings) -> Option<KernelLimit> {
    let mut limit = KernelLimit::default();
    let Some(node) = root.get("admission") else {
        return Some(limit);
    };
    let section = findings.keep(node.table("give a table such as { runtime = \"950 ms\" }"))?;
    keys::check(&section, &keys::SET_ADMISSION, findings);
    let mut time = |key: &str| -> Option<Option<u64>> {
        match section.get(key) {
            None => Some(None),
            Some(node) => findings.keep(node.quantity(TIME, parse_duration)).map(Some),
        }
    };
    let (runtime, period) = (time("runtime")?, time("period")?);
    let (server, server_period) = (time("server-runtime")?, time("server-period")?);
    limit.period_ns = period.unwrap_or(limit.period_ns);
    limit.runtime_ns = runtime.or(limit.runtime_ns);
    limit.server = server
        .filter(|runtime_ns| *runtime_ns > 0)
        .map(|runtime_ns| (runtime_ns, server_period.unwrap_or(1_000_000_000)));
    for (key, part, whole) in [
        ("runtime", limit.runtime_ns, limit.period_ns),
        (
            "server-runtime",
            limit.server.map(|(runtime_ns, _)| runtime_ns),
            limit.server.map_or(1, |(_, period_ns)| period_ns),
        ),
    ] {
        if part.is_some_and(|part| part > whole) || whole == 0 {
            let problem = "is longer than its period";
            let remedy = "give at most the period";
            findings.push(match section.get(key) {
                Some(node) => node.refuse(problem, remedy),
                None => section.refuse_key(key, problem, remedy),
            });
            return None;
        }
    }
    // The whole period means no limit: sched_rt_runtime_us = -1.
    limit.runtime_ns = limit
        .runtime_ns
        .filter(|runtime| *runtime < limit.period_ns);
    Some(limit)
}

/// Gives each task that another releases the arrivals of the first of them, and its period as a
/// deadline if it has none (`deadlines`: whether one was given).
pub(super) fn bring_together(
    items: &[Node<'_>],
    tasks: &mut [Task],
    deadlines: &[bool],
    findings: &mut Findings,
) -> bool {
    let mut complete = true;
    let mut circle_told = false;
    for (place, item) in items.iter().enumerate() {
        if tasks[place].after.is_none() {
            continue;
        }
        let mut refuse = |problem: &str, remedy: &str| {
            complete = false;
            if let Ok(section) = item.table("")
                && let Some(node) = section.get("after")
            {
                findings.push(node.refuse(problem, remedy));
            }
        };
        let mut first = place;
        let mut steps = 0;
        while let Some(after) = &tasks[first].after {
            let Some(before) = tasks.iter().position(|task| task.name == *after) else {
                if first == place {
                    refuse("is not a task of this set", "give the name of a task");
                }
                first = place;
                break;
            };
            first = before;
            steps += 1;
            if steps > tasks.len() {
                if !circle_told {
                    refuse(
                        "makes a circle: each of these tasks waits for the other",
                        "leave out one `after`, and give that task a period",
                    );
                }
                circle_told = true;
                first = place;
                break;
            }
        }
        if first == place {
            complete = false;
            continue;
        }
        tasks[place].arrivals = tasks[first].arrivals.clone();
        if !deadlines[place] {
            tasks[place].deadline_ns = tasks[first].period_ns();
        }
    }
    complete
}
