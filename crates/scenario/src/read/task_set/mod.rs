//! A task set for schedulability analysis, from its file.

mod overheads;
mod structure;
mod task;

use crate::document::Section;
use crate::error::Findings;
use crate::keys;
use crate::task_set::{Executions, TaskSet};
use overheads::read_overheads;
use structure::{bring_together, read_admission, read_chains, read_reservations};
use task::{Read, Terms, possible, read_task};
use wakepath_schedulability::Method;

const REMEDY: &str = "give [[tasks]], each with name, execution and period";
const TIME: &str = "give a time such as \"3 ms\"";

/// The set of a file.
pub(crate) fn task_set_file(
    text: &str,
    assigned: bool,
    executions: &Executions<'_>,
    findings: &mut Findings,
) -> Option<TaskSet> {
    super::with_root(text, findings, |root, findings| {
        keys::check(root, &keys::TASK_SET, findings);
        let cpus = findings.optional(root.get("cpus"), 1, |node| node.integer(1..=1024));
        let method = read_method(root, findings);
        let reservations = read_reservations(root, method, cpus, findings);
        let admission = read_admission(root, findings);
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
        let (method, cpus, reservations) = (method?, cpus? as u16, reservations?);
        let terms = Terms {
            method,
            cpus,
            assigned,
            reservations: &reservations,
            executions,
        };
        let mut read = Read::default();
        let mut complete = true;
        for item in &items {
            complete &= read_task(item, &terms, &mut read, findings).is_some();
        }
        complete = complete && bring_together(&items, &mut read.tasks, &read.deadlines, findings);
        if !complete {
            return None;
        }
        for (item, task) in items.iter().zip(&read.tasks) {
            let section = findings.keep(item.table(REMEDY))?;
            complete &= possible(&section, task, findings);
        }
        let chains = read_chains(root, &read.tasks, findings);
        let set = TaskSet {
            method,
            cpus,
            tasks: read.tasks,
            chains: chains?,
            admission: admission?,
            overheads: overheads?,
            notes: read.notes,
        };
        complete.then_some(set)
    })
}

fn read_method(root: &Section<'_>, findings: &mut Findings) -> Option<Method> {
    let remedy = format!("give {}", Method::NAMES);
    let node = findings.keep(root.need("policy", &remedy))?;
    let name = findings.keep(node.text(&remedy))?;
    let Ok(method) = name.parse::<Method>() else {
        findings.push(node.refuse("is not a policy that can be analysed", remedy));
        return None;
    };
    match (method, root.get("cluster")) {
        (_, None) => Some(method),
        (Method::ClusteredEdf(_) | Method::Deadline(_), Some(node)) => {
            let size = findings.keep(node.integer(1..=1024))? as u16;
            Some(match method {
                Method::Deadline(_) => Method::Deadline(size),
                _ => Method::ClusteredEdf(size),
            })
        }
        (_, Some(node)) => {
            findings.push(node.refuse(
                format!("conflicts with {method}, which has no clusters"),
                "leave it out, or give policy = \"C-EDF\" or \"SCHED_DEADLINE\"",
            ));
            None
        }
    }
}
