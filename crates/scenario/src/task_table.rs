//! A table of tasks that share one loop, like ArduPilot's scheduler: rate, budget, priority.
//!
//! Data only; `keys::table_task` reads it.

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
    /// The lowest number runs first.
    pub priority: u32,
    /// Rounds of arithmetic in each run, a few CPU cycles each.
    pub rounds: u64,
    /// Bytes read and written in each run.
    pub bytes: u64,
}

/// The source of a scenario's task table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableSource {
    /// A built-in one.
    BuiltIn(String),
    /// A file that has not been read yet.
    File(String),
    /// Its tasks, in the order of the file.
    Tasks(Vec<TableTask>),
}

/// Names of the built-in tables.
pub(crate) const NAMES: &[&str] = &["copter"];
