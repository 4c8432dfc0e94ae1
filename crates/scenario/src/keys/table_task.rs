//! The tasks that share one loop: from a file, a built-in table, or a scenario.

use super::document::with_root;
use super::form::{Name, Text, built_in, path, size, time, whole};
use super::period;
use super::shape::Shape;
use super::visitor::{Context, Keys, read};
use super::work::MOST_BYTES;
use crate::error::{Findings, ScenarioErrors};
use crate::named_file::{NamedFileError, text_of};
use crate::task_table::NAMES;
use crate::{TableSource, TableTask};
use std::io;

/// The built-in tables.
static ALL: &[(&str, &str)] = &[("copter", include_str!("../../task-tables/copter.toml"))];
/// Longest task table.
const MOST_TASKS: usize = 256;
const REMEDY: &str = "give [[tasks]], each with name, rate, budget and priority";
const SOURCE: &str = "give table = \"copter\" or table-file = \"tasks.toml\"";
const NEEDED: &str = "one of the three table keys is needed";

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
    let tasks = with_root(text, &mut findings, |root, findings| {
        read(
            root,
            Context::default(),
            findings,
            Vec::new(),
            |keys, tasks| {
                keys.title("a task table", "A file of its own, named by `table-file`.");
                list(keys, Err(REMEDY), tasks);
            },
        )
    });
    findings.or(tasks, source_name, text)
}

fn list(keys: &mut Keys<'_>, presence: Result<&'static str, &str>, tasks: &mut Vec<TableTask>) {
    keys.tables(
        "tasks",
        (
            presence,
            "The tasks themselves, in any order, as stored in a recorded scenario.",
        ),
        tasks,
        ((1, MOST_TASKS), REMEDY),
        blank,
        declare,
    );
}

/// The three keys of a work's table, of which one is needed.
pub(super) fn source(keys: &mut Keys<'_>, source: &mut TableSource) {
    let (mut name, mut file, mut tasks) = (None, None, Vec::new());
    match &*source {
        TableSource::BuiltIn(of) => name = Some(of.clone()),
        TableSource::File(of) => file = Some(of.clone()),
        TableSource::Tasks(of) => tasks.clone_from(of),
    }
    keys.optional(
        "table",
        BUILT_IN,
        NEEDED,
        "A built-in task table.",
        &mut name,
    );
    keys.optional(
        "table-file",
        path("give table-file = \"tasks.toml\""),
        NEEDED,
        "Your own file with `[[tasks]]`, relative to the scenario.",
        &mut file,
    );
    list(keys, Ok(NEEDED), &mut tasks);
    let all = &["table", "table-file", "tasks"];
    *source = match keys.exactly_one(all, "conflicts with another table", SOURCE) {
        None => return,
        Some(_) => match (name, file) {
            (Some(name), _) => TableSource::BuiltIn(name),
            (_, Some(file)) => TableSource::File(file),
            _ => TableSource::Tasks(tasks),
        },
    };
}

const BUILT_IN: Text = Text {
    shape: || Shape::Choice(NAMES.to_vec()),
    remedy: SOURCE,
    parse: |name| built_in(name, NAMES),
};

pub(crate) fn blank() -> TableTask {
    TableTask {
        name: String::new(),
        period_ns: 0,
        budget_ns: 0,
        priority: 0,
        rounds: 0,
        bytes: 0,
    }
}

pub(crate) fn declare(keys: &mut Keys<'_>, task: &mut TableTask, earlier: &[TableTask]) {
    keys.title(
        "a task of a table",
        "A function that shares the loop with others: its rate, and the fixed work that replaces it in a measurement.",
    );
    keys.required("name", Name("rc_loop"), "Its name.", &mut task.name);
    keys.refuse_twice(earlier.iter().any(|other| other.name == task.name), "task");
    // A rate that is no whole period still gives the number of loops between two runs.
    period::declare(keys, false, &mut task.period_ns);
    keys.required(
        "budget",
        time("100 us"),
        "Maximum time of one run. The task is not started with less than this left in the period; longer runs are \
         counted.",
        &mut task.budget_ns,
    );
    keys.required(
        "priority",
        whole(0, 255),
        "The lowest number runs first.",
        &mut task.priority,
    );
    keys.or(
        "rounds",
        whole(0, 1_000_000_000),
        0,
        "Rounds of arithmetic in each run; four CPU cycles each on most CPUs.",
        &mut task.rounds,
    );
    keys.or(
        "bytes",
        size(0, MOST_BYTES),
        0,
        "Memory read and written in each run, up to 1 GiB.",
        &mut task.bytes,
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_tables_can_be_read_and_have_ardupilots_figures() {
        for (name, text) in ALL {
            let tasks = parse(text, name).unwrap_or_else(|errors| panic!("{errors}"));
            assert!(NAMES.contains(name) && !tasks.is_empty());
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
