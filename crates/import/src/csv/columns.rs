//! Which column of a table is what, and in which unit: by its own name, or as the user says.

use crate::{Asked, ImportError, Unit};
use std::borrow::Cow;
use wakepath_timeline::count::counted;

/// Roles of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Due,
    Start,
    End,
    Latency,
    Execution,
    Response,
    Work,
    CpuTime,
    Cycle,
    Cpu,
    Switches,
    Thread,
    Segment,
    Repetition,
    Phase,
    Condition,
    FirstJudgedCycle,
    EndCycle,
    WarmUp,
    DueAlreadyPast,
    SleepInterrupted,
    WorkFault,
    Unanswered,
}

/// Every role with its word. The first [`TIMES`] are times.
const ROLES: [(&str, Role); 23] = [
    ("due", Role::Due),
    ("start", Role::Start),
    ("end", Role::End),
    ("latency", Role::Latency),
    ("execution", Role::Execution),
    ("response", Role::Response),
    ("work", Role::Work),
    ("cpu_time", Role::CpuTime),
    ("cycle", Role::Cycle),
    ("cpu", Role::Cpu),
    ("involuntary_switches", Role::Switches),
    ("thread", Role::Thread),
    ("segment", Role::Segment),
    ("repetition", Role::Repetition),
    ("phase", Role::Phase),
    ("condition", Role::Condition),
    ("first_judged_cycle", Role::FirstJudgedCycle),
    ("end_cycle", Role::EndCycle),
    ("warm_up", Role::WarmUp),
    ("due_already_past", Role::DueAlreadyPast),
    ("sleep_interrupted", Role::SleepInterrupted),
    ("work_fault", Role::WorkFault),
    ("unanswered", Role::Unanswered),
];
const TIMES: usize = 8;

/// The columns that are read.
#[derive(Debug, Default)]
pub(super) struct Columns(Vec<(Role, usize, Unit)>);

impl Columns {
    /// Where a role stands.
    pub(super) fn index_of(&self, role: Role) -> Option<usize> {
        let found = self.0.iter().find(|(known, ..)| *known == role);
        found.map(|(_, at, _)| *at)
    }

    /// Where a time stands, and its unit.
    pub(super) fn time(&self, role: Role) -> Option<(usize, Unit)> {
        let found = self.0.iter().find(|(known, ..)| *known == role);
        found.map(|(_, at, unit)| (*at, *unit))
    }

    /// Whether the columns are those of our own export, which tells every cycle's number.
    pub(super) fn are_ours(&self) -> bool {
        use Role::{Condition, Cycle, Due, Latency, Phase, Response, Segment};
        let ours = [Segment, Phase, Condition, Cycle, Due, Latency, Response];
        ours.into_iter().all(|role| self.index_of(role).is_some())
    }

    /// Of a table whose first record has these cells, on this line. Says whether that record names
    /// the columns, and so holds no cycle.
    pub(super) fn find(
        line: usize,
        first: &[Cow<'_, str>],
        asked: &Asked<'_>,
    ) -> Result<(Self, bool), ImportError> {
        let is_number = |cell: &Cow<'_, str>| {
            super::number::nanoseconds(&cell.replacen(',', ".", 1), Unit::Nanoseconds)
        };
        let named = first
            .iter()
            .any(|cell| !cell.is_empty() && is_number(cell).is_none());
        let mut found = Self::default();
        match (named, asked.columns) {
            (false, []) => {
                let why = "has no line with column names: name them with --columns due,start,end, and their unit \
                           with --unit us";
                return Err(ImportError::at(line, why));
            }
            (false, asked_columns) => {
                for (at, word) in asked_columns.iter().enumerate() {
                    if *word == "-" {
                        continue;
                    }
                    if at >= first.len() {
                        let why = format!(
                            "--columns {word}: the line has {}",
                            counted(first.len() as u64, "column", "columns")
                        );
                        return Err(ImportError::at(line, why));
                    }
                    let (role, unit) = parts(word).ok_or_else(|| unknown(word))?;
                    found.take(role, at, unit.or(asked.unit), word)?;
                }
            }
            (true, []) => {
                for (at, name) in first.iter().enumerate() {
                    if let Some((role, unit)) = parts(name) {
                        found.take(role, at, unit.or(asked.unit), name)?;
                    }
                }
            }
            (true, asked_columns) => {
                for word in asked_columns {
                    let (wanted, name) = word.split_once('=').unwrap_or((word, word));
                    let (role, _) = parts(wanted).ok_or_else(|| unknown(wanted))?;
                    let is_it = |cell: &str| {
                        if word.contains('=') {
                            cell == name
                        } else {
                            cell == *word || parts(cell).is_some_and(|(own, _)| own == role)
                        }
                    };
                    let at = first.iter().position(|cell| is_it(cell));
                    let at = at.ok_or_else(|| absent(line, word, name, first))?;
                    let unit = unit_of(&first[at]).map(|(_, unit)| unit);
                    found.take(role, at, unit.or(asked.unit), &first[at])?;
                }
            }
        }
        Ok((found, named))
    }

    fn take(
        &mut self,
        role: Role,
        at: usize,
        unit: Option<Unit>,
        name: &str,
    ) -> Result<(), ImportError> {
        if self.index_of(role).is_some() {
            let why = format!("two columns are {}: select one with --columns", word(role));
            return Err(ImportError::whole(why));
        }
        let is_time = ROLES[..TIMES].iter().any(|(_, known)| *known == role);
        let unit = match (is_time, unit) {
            (false, _) => Unit::Nanoseconds,
            (true, Some(unit)) => unit,
            (true, None) => {
                let why = format!(
                    "column {name:?} has no unit: give --unit, or a column name such as {}_us",
                    word(role)
                );
                return Err(ImportError::whole(why));
            }
        };
        self.0.push((role, at, unit));
        Ok(())
    }
}

pub(super) fn word(role: Role) -> &'static str {
    let known = ROLES.iter().find(|(_, known)| *known == role);
    known.map_or("", |(word, _)| word)
}

fn unknown(word: &str) -> ImportError {
    let all: Vec<&str> = ROLES.iter().map(|(word, _)| *word).collect();
    ImportError::whole(format!("--columns {word:?}: there are {}", all.join(", ")))
}

fn absent(line: usize, word: &str, name: &str, first: &[Cow<'_, str>]) -> ImportError {
    /// So many columns are named.
    const NAMED: usize = 12;
    let shown: Vec<String> = first.iter().take(NAMED).map(|n| format!("{n:?}")).collect();
    let more = if first.len() > NAMED { " …" } else { "" };
    let role = word.split('=').next().unwrap_or(word);
    let why = format!(
        "no column {name:?}; there are {}{more}: give --columns {role}=NAME",
        shown.join(", ")
    );
    ImportError::at(line, why)
}

/// Whether a column of this name is one that is read.
pub(super) fn is_known(name: &str) -> bool {
    parts(name).is_some()
}

/// The meaning of a name: a role, and the unit if its suffix gives one.
fn parts(name: &str) -> Option<(Role, Option<Unit>)> {
    let name = name.to_ascii_lowercase().replace(['-', ' '], "_");
    let role = |word: &str| {
        let known = ROLES.iter().find(|(known, _)| *known == word);
        known.map(|(_, role)| *role)
    };
    match role(&name) {
        Some(role) => Some((role, None)),
        None => unit_of(&name).and_then(|(base, unit)| Some((role(base)?, Some(unit)))),
    }
}

/// The unit at the end of a name, such as `due_us` or `due [us]`, and what stands before it.
fn unit_of(name: &str) -> Option<(&str, Unit)> {
    let name = name.trim_end_matches([']', ')']);
    let (base, sign) = name.rsplit_once(['_', '[', '('])?;
    let unit = Unit::of_sign(&sign.replace(['µ', 'μ'], "u"))?;
    Some((base.trim_end_matches(['_', ' ']), unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(first: &[&str], columns: &[&str], unit: Option<Unit>) -> Result<Columns, ImportError> {
        let first: Vec<Cow<'_, str>> = first.iter().map(|cell| (*cell).into()).collect();
        let asked = Asked {
            columns,
            unit,
            ..Asked::default()
        };
        Columns::find(1, &first, &asked).map(|(found, _)| found)
    }

    #[test]
    fn names_tell_roles_and_units() {
        let micro = find(&["due_µs", "Start [μs]"], &[], None).unwrap();
        assert_eq!(micro.time(Role::Due), Some((0, Unit::Microseconds)));
        assert_eq!(micro.time(Role::Start), Some((1, Unit::Microseconds)));
        let found = find(&["t", "Due [us]", "start_ns", "End (ms)"], &[], None).unwrap();
        assert_eq!(found.time(Role::Due), Some((1, Unit::Microseconds)));
        assert_eq!(found.time(Role::Start), Some((2, Unit::Nanoseconds)));
        assert_eq!(found.time(Role::End), Some((3, Unit::Milliseconds)));
        let found = find(
            &["t_ref_s", "wake"],
            &["due=t_ref_s", "start=wake"],
            Some(Unit::Milliseconds),
        );
        let found = found.unwrap();
        assert_eq!(found.time(Role::Due), Some((0, Unit::Seconds)));
        assert_eq!(found.time(Role::Start), Some((1, Unit::Milliseconds)));
    }

    #[test]
    fn columns_without_names_are_told_in_order() {
        let found = find(
            &["1", "2.5", "3"],
            &["-", "due_us", "start"],
            Some(Unit::Seconds),
        );
        let found = found.unwrap();
        assert_eq!(found.time(Role::Due), Some((1, Unit::Microseconds)));
        assert_eq!(found.time(Role::Start), Some((2, Unit::Seconds)));
    }

    #[test]
    fn what_is_not_clear_is_asked_for() {
        let refused =
            |first: &[&str], columns: &[&str]| find(first, columns, None).unwrap_err().to_string();
        assert!(refused(&["1", "2"], &[]).contains("--columns due,start,end"));
        assert!(refused(&["due", "start"], &[]).contains("--unit"));
        assert!(refused(&["a", "b"], &["due"]).contains("there are \"a\", \"b\""));
        assert!(refused(&["a_us"], &["when=a_us"]).contains("there are due, start"));
        assert!(refused(&["due_us", "due_ns"], &[]).contains("two columns are due"));
        assert!(refused(&["1"], &["due_us", "start_us"]).contains("the line has 1 column"));
    }
}
