//! A table of tasks that share one loop, in the way of ArduPilot's scheduler: rate, budget,
//! priority. Text to data; nothing here is carried out.

use crate::error::{Findings, ScenarioErrors};
use crate::read;
use serde::Serialize;

/// A task of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableTask {
    /// Its name.
    pub name: String,
    /// How often it shall run, as a period in nanoseconds.
    pub period_ns: u64,
    /// Longest time that a run should take, in nanoseconds: it isn't started with less left.
    pub budget_ns: u64,
    /// The least number comes first.
    pub priority: u32,
    /// Rounds of arithmetic in each run, a few CPU cycles each.
    pub rounds: u64,
    /// Bytes read and written in each run.
    pub bytes: u64,
}

/// Where a scenario takes its task table from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableSource {
    /// One that comes with wakepath.
    BuiltIn(String),
    /// A file that has not been read yet.
    File(String),
    /// Its tasks, in the order of the file.
    Tasks(Vec<TableTask>),
}

/// The tables that come with wakepath.
static ALL: &[(&str, &str)] = &[("copter", include_str!("../../../task-tables/copter.toml"))];

/// Names of the built-in tables.
pub(crate) const NAMES: &[&str] = &["copter"];

impl TableSource {
    /// The tasks; `read` gives the text of a file.
    ///
    /// # Errors
    /// One line for each thing that is wrong with the file.
    pub fn resolved(
        self,
        read: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Self, String> {
        let (text, source) = match &self {
            Self::Tasks(_) => return Ok(self),
            Self::BuiltIn(name) => {
                let found = ALL.iter().find(|(known, _)| known == name);
                let (_, text) = found.ok_or_else(|| format!("{name}: no built-in task table"))?;
                ((*text).to_owned(), name)
            }
            Self::File(path) => (read(path)?, path),
        };
        let tasks = parse(&text, source).map_err(|errors| errors.to_string())?;
        Ok(Self::Tasks(tasks))
    }
}

/// Reads a table's file.
///
/// # Errors
/// Everything found wrong, each in one line with its place in the file.
pub fn parse(text: &str, source_name: &str) -> Result<Vec<TableTask>, ScenarioErrors> {
    let mut findings = Findings::default();
    let tasks = read::task_table_file(text, &mut findings);
    findings.or(tasks, source_name, text)
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
