//! A task table, in a file of its own or within a scenario.

use super::tasks::read_period;
use super::text::read_needed_name;
use super::work::{read_path, read_size};
use crate::document::{Node, Section};
use crate::error::Findings;
use crate::keys;
use crate::units::parse_duration;
use crate::{TableSource, TableTask, task_table};

/// The tasks of a table's file.
pub(crate) fn task_table_file(text: &str, findings: &mut Findings) -> Option<Vec<TableTask>> {
    super::with_root(text, findings, |root, findings| {
        keys::check(root, &keys::TABLE_FILE, findings);
        let node = findings.keep(root.need("tasks", REMEDY))?;
        read_table(&node, findings)
    })
}

const REMEDY: &str = "give [[tasks]], each with name, rate, budget and priority";

/// Where a scenario's work takes its table from.
pub(super) fn read_source(section: &Section<'_>, findings: &mut Findings) -> Option<TableSource> {
    let remedy = "give table = \"copter\" or table-file = \"tasks.toml\"";
    let given: Vec<&str> = ["table", "table-file", "tasks"]
        .into_iter()
        .filter(|key| section.get(key).is_some())
        .collect();
    let [key] = given[..] else {
        findings.push(match given.last() {
            None => section.missing("table", remedy),
            Some(key) => section.refuse_key(key, "stands beside another table", "give one of them"),
        });
        return None;
    };
    let node = findings.keep(section.need(key, remedy))?;
    if key == "tasks" {
        return read_table(&node, findings).map(TableSource::Tasks);
    }
    let text = findings.keep(read_path(&node))?;
    if key == "table" {
        return match task_table::NAMES.contains(&text.as_str()) {
            true => Some(TableSource::BuiltIn(text)),
            false => {
                let names = keys::suggestion(&text, task_table::NAMES);
                findings.push(node.refuse("is not built in", names));
                None
            }
        };
    }
    if text.is_empty() {
        findings.push(node.refuse("names no file", remedy));
        return None;
    }
    Some(TableSource::File(text))
}

fn read_table(node: &Node<'_>, findings: &mut Findings) -> Option<Vec<TableTask>> {
    let items = findings.keep(node.items(keys::MOST_TABLE_TASKS, REMEDY))?;
    if items.is_empty() {
        findings.push(node.refuse("is empty", REMEDY));
        return None;
    }
    let mut tasks: Vec<TableTask> = Vec::with_capacity(items.len());
    let mut complete = true;
    for item in &items {
        match read_task(item, &tasks, findings) {
            Some(task) => tasks.push(task),
            None => complete = false,
        }
    }
    complete.then_some(tasks)
}

fn read_task(item: &Node<'_>, earlier: &[TableTask], findings: &mut Findings) -> Option<TableTask> {
    let section = findings.keep(item.table(REMEDY))?;
    keys::check(&section, &keys::TABLE_TASK, findings);
    let name = read_needed_name(&section, "such as name = \"rc_loop\"", findings);
    if let (Some(name), Some(node)) = (&name, section.get("name"))
        && earlier.iter().any(|task| task.name == *name)
    {
        findings.push(node.refuse("is the name of an earlier task too", "give each its own"));
    }
    // A rate that is no whole period is one for the number of loops between two runs all the same.
    let period_ns = read_period(&section, findings, &mut Vec::new());
    let remedy = "give a time such as \"100 us\"";
    let budget = section.need("budget", remedy);
    let budget = findings.keep(budget.and_then(|node| node.quantity(remedy, parse_duration)));
    let priority = section.need("priority", "give a number, the least comes first");
    let priority = findings.keep(priority.and_then(|node| node.integer(0..=255)));
    let rounds = findings.optional(section.get("rounds"), 0, |node| {
        node.integer(0..=1_000_000_000)
    });
    let bytes = findings.optional(section.get("bytes"), 0, |node| read_size(node, 0));
    Some(TableTask {
        name: name?,
        period_ns: period_ns?,
        budget_ns: budget?,
        priority: priority? as u32,
        rounds: rounds? as u64,
        bytes: bytes?,
    })
}
