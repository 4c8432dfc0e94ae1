//! The loop's threads: one loop, several with stepped periods, or a task set.

use super::placement::read_placement;
use super::settings::read_overrun;
use super::text::read_needed_name;
use super::work::read_own_work;
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::policy::read_policy;
use crate::units::{LONGEST_PERIOD_NS, SHORTEST_PERIOD_NS, parse_duration, parse_rate};
use crate::{KnownCpus, Task, Warning, keys};
use wakepath_timeline::CpuSet;
use wakepath_timeline::duration::exact;

const MOST_TASKS: usize = 256;

/// The threads, at least one.
pub(super) fn read_tasks(
    root: &Section<'_>,
    known: &KnownCpus,
    findings: &mut Findings,
    warnings: &mut Vec<Warning>,
) -> Option<Vec<Task>> {
    let Some(node) = root.get("tasks") else {
        return read_threads(root, known, findings, warnings);
    };
    for name in [
        "rate",
        "period",
        "cpu",
        "cpus",
        "threads",
        "period-step",
        "work",
    ] {
        if root.get(name).is_some() {
            let problem = "conflicts with tasks, which set it for each thread";
            findings.push(root.refuse_key(name, problem, "give it in each task"));
        }
    }
    let remedy = "give [[tasks]], each with a name and a rate or period";
    let items = findings.keep(node.items(MOST_TASKS, remedy))?;
    if items.is_empty() {
        findings.push(node.refuse("is empty", remedy));
        return None;
    }
    let mut tasks: Vec<Task> = Vec::with_capacity(items.len());
    let mut complete = true;
    for item in &items {
        match read_task(item, known, &tasks, findings, warnings) {
            Some(task) => tasks.push(task),
            None => complete = false,
        }
    }
    complete.then_some(tasks)
}

fn read_task(
    item: &Node<'_>,
    known: &KnownCpus,
    earlier: &[Task],
    findings: &mut Findings,
    warnings: &mut Vec<Warning>,
) -> Option<Task> {
    let section = findings.keep(item.table("give a table with a name and a rate or period"))?;
    keys::check(&section, &keys::TASK, findings);
    let name = read_needed_name(&section, "such as name = \"control\"", findings);
    if let (Some(name), Some(node)) = (&name, section.get("name"))
        && earlier.iter().any(|task| task.name == *name)
    {
        findings.push(node.refuse("is the name of an earlier task too", "give each its own"));
    }
    let period_ns = read_period(&section, findings, warnings);
    let cpus = read_placement(&section, known, findings);
    let work = read_own_work(&section, findings);
    let period_ns = period_ns?;
    let policy = match section.get("policy") {
        None => None,
        Some(node) => Some(read_policy(&node, period_ns, findings)?),
    };
    let overrun = match section.get("overrun") {
        None => None,
        Some(node) => Some(findings.keep(read_overrun(&node))?),
    };
    let response_bound_ns = match section.get("response-bound") {
        None => None,
        Some(node) => {
            let remedy = "give a time such as \"3 ms\"";
            Some(findings.keep(node.quantity(remedy, parse_duration))?)
        }
    };
    Some(Task {
        name: name?,
        period_ns,
        cpus: cpus?,
        policy,
        overrun,
        work: work?,
        response_bound_ns,
    })
}

/// The threads of one loop; they take the condition's policy.
fn read_threads(
    root: &Section<'_>,
    known: &KnownCpus,
    findings: &mut Findings,
    warnings: &mut Vec<Warning>,
) -> Option<Vec<Task>> {
    let period_ns = read_period(root, findings, warnings);
    let cpus = read_placement(root, known, findings);
    let work = read_own_work(root, findings);
    let remedy = "give a time such as \"500 us\"";
    let step_ns = findings.optional(root.get("period-step"), 0, |node| {
        node.quantity(remedy, parse_duration)
    });
    let per_cpu = root
        .get("threads")
        .is_some_and(|node| node.as_text() == Some("per-cpu"));
    let count = match root.get("threads") {
        None => Some(1),
        Some(_) if per_cpu => Some(0),
        Some(node) if node.as_text().is_some() => {
            let remedy = "give a number of threads or \"per-cpu\"";
            findings.push(node.refuse("is not a number of threads", remedy));
            None
        }
        Some(node) => findings.keep(node.integer(1..=MOST_TASKS as i64)),
    };
    let (period_ns, cpus, work, step_ns, count) = (period_ns?, cpus?, work?, step_ns?, count?);

    let placements: Vec<(String, Option<CpuSet>)> = if per_cpu {
        let on = cpus.unwrap_or_else(|| known.cpus().clone());
        on.numbers()
            .iter()
            .map(|cpu| (format!("cpu{cpu}"), Some(CpuSet::from_iter([*cpu]))))
            .collect()
    } else if count == 1 {
        vec![("loop".to_owned(), cpus)]
    } else {
        (0..count)
            .map(|index| (format!("loop{index}"), cpus.clone()))
            .collect()
    };
    if placements.len() > MOST_TASKS {
        let problem = format!("makes {} threads", placements.len());
        let remedy = format!("give cpus with at most {MOST_TASKS} of them");
        findings.push(root.refuse_key("threads", problem, remedy));
        return None;
    }
    if let Some(node) = root.get("period-step") {
        if count == 1 && !per_cpu {
            let problem = "needs more than one thread";
            findings.push(node.refuse(problem, "give threads = \"per-cpu\" or leave it out"));
        }
        let longest = u128::from(period_ns) + u128::from(step_ns) * (placements.len() as u128 - 1);
        if longest > u128::from(LONGEST_PERIOD_NS) {
            let longest_allowed = exact(LONGEST_PERIOD_NS);
            let problem = format!("makes the last thread's period longer than {longest_allowed}");
            findings.push(node.refuse(problem, "give a shorter step"));
            return None;
        }
    }
    let task = |(index, (name, cpus)): (usize, (String, Option<CpuSet>))| Task {
        name,
        period_ns: period_ns + step_ns * index as u64,
        cpus,
        policy: None,
        overrun: None,
        work: work.clone(),
        response_bound_ns: None,
    };
    Some(placements.into_iter().enumerate().map(task).collect())
}

/// The period, from exactly one of `rate` and `period`.
pub(super) fn read_period(
    section: &Section<'_>,
    findings: &mut Findings,
    warnings: &mut Vec<Warning>,
) -> Option<u64> {
    let remedy = "give rate = \"250 Hz\" or period = \"4 ms\"";
    let (node, period_ns) = match (section.get("rate"), section.get("period")) {
        (None, None) => {
            findings.push(section.missing("rate", remedy));
            return None;
        }
        (Some(_), Some(_)) => {
            let problem = "conflicts with rate: both set how often to run";
            findings.push(section.refuse_key("period", problem, "give one of the two"));
            return None;
        }
        (Some(node), None) => {
            let remedy = "give a rate with its unit, such as \"250 Hz\"";
            let rate = findings.keep(node.quantity(remedy, parse_rate))?;
            if !rate.exact {
                warnings.push(Warning::RateNotWhole {
                    key: node.key.clone(),
                    rate: node.as_text().unwrap_or_default().to_owned(),
                    period_ns: rate.period_ns,
                });
            }
            (node, rate.period_ns)
        }
        (None, Some(node)) => {
            let remedy = "give a time with its unit, such as \"4 ms\"";
            let period_ns = findings.keep(node.quantity(remedy, parse_duration))?;
            (node, period_ns)
        }
    };
    let refusal = |than: &str, bound: u64, side: &str| {
        let bound = exact(bound);
        let problem = format!("makes a period {than} than {bound}");
        node.refuse(problem, format!("give a period of at {side} {bound}"))
    };
    let checked: Result<u64, Finding> = match period_ns {
        ..SHORTEST_PERIOD_NS => Err(refusal("shorter", SHORTEST_PERIOD_NS, "least")),
        SHORTEST_PERIOD_NS..=LONGEST_PERIOD_NS => Ok(period_ns),
        _ => Err(refusal("longer", LONGEST_PERIOD_NS, "most")),
    };
    findings.keep(checked)
}
