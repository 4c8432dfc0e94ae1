//! Reads a task table from a file, a built-in one, or a scenario.

use super::tasks::read_period;
use super::text::read_needed_name;
use super::work::{read_path, read_size};
use crate::document::{Node, Section};
use crate::error::{Findings, ScenarioErrors};
use crate::keys;
use crate::named_file::{NamedFileError, text_of};
use crate::units::parse_duration;
use crate::{TableSource, TableTask, task_table};
use std::io;

/// The built-in tables.
static ALL: &[(&str, &str)] = &[("copter", include_str!("../../task-tables/copter.toml"))];

impl TableSource {
    /// The tasks; `read` gives the text of a file.
    ///
    /// # Errors
    /// When `read` fails, and for everything that is wrong with the file.
    pub fn resolved(
        self,
        read: impl FnOnce(&str) -> io::Result<String>,
    ) -> Result<Self, NamedFileError> {
        let (text, source) = match &self {
            Self::Tasks(_) => return Ok(self),
            Self::BuiltIn(name) => {
                let found = ALL.iter().find(|(known, _)| known == name);
                let (_, text) = found.ok_or_else(|| NamedFileError::NoTaskTable(name.clone()))?;
                ((*text).to_owned(), name)
            }
            Self::File(path) => (text_of(path, read)?, path),
        };
        Ok(Self::Tasks(parse(&text, source)?))
    }
}

/// Reads a table's file.
///
/// # Errors
/// Everything found wrong, each in one line with its place in the file.
pub(crate) fn parse(text: &str, source_name: &str) -> Result<Vec<TableTask>, ScenarioErrors> {
    let mut findings = Findings::default();
    let tasks = task_table_file(text, &mut findings);
    findings.or(tasks, source_name, text)
}

/// The tasks of a table's file.
fn task_table_file(text: &str, findings: &mut Findings) -> Option<Vec<TableTask>> {
    super::with_root(text, findings, |root, findings| {
        keys::check(root, &keys::TABLE_FILE, findings);
        let node = findings.keep(root.need("tasks", REMEDY))?;
        read_table(&node, findings)
    })
}

const REMEDY: &str = "give [[tasks]], each with name, rate, budget and priority";

/// The source of a work's table.
pub(super) fn read_source(section: &Section<'_>, findings: &mut Findings) -> Option<TableSource> {
    let remedy = "give table = \"copter\" or table-file = \"tasks.toml\"";
    let given: Vec<&str> = ["table", "table-file", "tasks"]
        .into_iter()
        .filter(|key| section.get(key).is_some())
        .collect();
    let [key] = given[..] else {
        findings.push(match given.last() {
            None => section.missing("table", remedy),
            Some(key) => {
                section.refuse_key(key, "conflicts with another table", "give one of them")
            }
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
    // A rate that is no whole period still gives the number of loops between two runs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_tables_can_be_read_and_have_ardupilots_figures() {
        for (name, text) in ALL {
            let tasks = parse(text, name).unwrap_or_else(|errors| panic!("{errors}"));
            assert!(task_table::NAMES.contains(name) && !tasks.is_empty());
        }
        let tasks = parse(ALL[0].1, "copter").unwrap();
        let of = |name: &str| tasks.iter().find(|task| task.name == name).unwrap();
        let rc = of("rc_loop");
        assert_eq!(
            (rc.period_ns, rc.budget_ns, rc.priority),
            (4_000_000, 130_000, 3)
        );
        let gps = of("gps");
        assert_eq!(
            (gps.period_ns, gps.budget_ns, gps.priority),
            (20_000_000, 200_000, 9)
        );
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_with_its_line() {
        let said = |text: &str| parse(text, "mine.toml").unwrap_err().to_string();
        let entry = "[[tasks]]\nname = \"a\"\nrate = \"50 Hz\"\nbudget = \"75 us\"\n";
        let line = said(entry);
        assert!(
            line.starts_with("mine.toml:1:1: tasks[0].priority is missing"),
            "{line}"
        );
        let twice = format!("{entry}priority = 1\n{entry}priority = 2\n");
        assert!(said(&twice).contains("is the name of an earlier task too"));
        let bare = format!("{entry}priority = 1\n").replace("\"75 us\"", "75");
        assert!(
            said(&bare).contains("mine.toml:4:10: tasks[0].budget = 75"),
            "{}",
            said(&bare)
        );
        let unknown = format!("{entry}priority = 1\nround = 7\n");
        assert!(said(&unknown).contains("round"), "{}", said(&unknown));
        assert!(said("").contains("tasks is missing"), "{}", said(""));
        assert!(
            said("[[tasks]").contains("is not TOML"),
            "{}",
            said("[[tasks]")
        );
    }
}
