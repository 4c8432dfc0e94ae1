//! Faults that a declaration finds when it holds values against each other.

use super::{Keys, Mode};
use crate::Warning;
use crate::document::{Node, Section};
use crate::error::{Finding, Findings};

impl<'a> Keys<'a> {
    /// The table and the findings, in reading.
    pub(crate) fn reading(&mut self) -> Option<(&'a Section<'a>, &mut Findings)> {
        match &mut self.mode {
            Mode::Read(section, findings) => Some((section, findings)),
            _ => None,
        }
    }

    /// The value of a key, in reading.
    pub(crate) fn given(&self, name: &str) -> Option<Node<'a>> {
        match &self.mode {
            Mode::Read(section, _) => section.get(name),
            _ => None,
        }
    }

    /// Refuses the table, in reading.
    pub(crate) fn refuse(&mut self, finding: Finding) {
        if let Mode::Read(_, findings) = &mut self.mode {
            findings.push(finding);
            self.failures += 1;
        }
    }

    /// The only one of these keys that is given, of which exactly one is required. `conflict` is the
    /// fault of a second, `remedy` the advice without any.
    pub(crate) fn exactly_one(
        &mut self,
        names: &'static [&'static str],
        conflict: &str,
        remedy: &str,
    ) -> Option<&'static str> {
        self.one_of(names);
        let mut given = names.iter().filter(|name| self.given(name).is_some());
        match (given.next(), given.next()) {
            (None, _) => self.missing(names[0], remedy),
            (_, Some(second)) => self.refuse_key(second, conflict, "give one of them"),
            (Some(one), None) => return Some(one),
        }
        None
    }

    /// Refuses the table as a whole, in reading.
    pub(crate) fn refuse_table(&mut self, problem: &str, remedy: &str) {
        if let Mode::Read(section, _) = &self.mode {
            let finding = section.node.refuse(problem, remedy);
            self.refuse(finding);
        }
    }

    /// Notes that a finding was pushed.
    pub(crate) fn fail(&mut self) {
        self.failures += 1;
    }

    /// Refuses a key.
    pub(crate) fn refuse_key(
        &mut self,
        name: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if let Mode::Read(section, _) = &self.mode {
            let finding = section.refuse_key(name, problem, remedy);
            self.refuse(finding);
        }
    }

    /// Refuses a table that lacks a key.
    pub(crate) fn missing(&mut self, name: &str, remedy: &str) {
        if let Mode::Read(section, _) = &self.mode {
            let finding = section.missing(name, remedy);
            self.refuse(finding);
        }
    }

    /// Refuses the value of a key, or its default.
    pub(crate) fn refuse_value(
        &mut self,
        name: &str,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        if let Mode::Read(section, _) = &self.mode {
            let finding = match section.get(name) {
                Some(node) => node.refuse(problem, remedy),
                None => section.refuse_key(name, problem, remedy),
            };
            self.refuse(finding);
        }
    }

    pub(crate) fn warn(&mut self, warning: Warning) {
        if let Mode::Read(_, findings) = &mut self.mode {
            findings.warnings.push(warning);
        }
    }

    /// Number of keys refused so far.
    pub(crate) fn failures(&self) -> usize {
        self.failures
    }

    /// Whether all keys so far were read.
    pub(crate) fn complete(&self) -> bool {
        self.failures == 0
    }

    pub(crate) fn is_writing(&self) -> bool {
        matches!(self.mode, Mode::Write(..))
    }

    /// Refuses a value that an earlier item of the list has too.
    pub(crate) fn refuse_twice(&mut self, earlier: bool, what: &str) {
        if let Some(node) = self.given("name").filter(|_| earlier) {
            let problem = format!("is the name of an earlier {what} too");
            self.refuse(node.refuse(problem, "give each its own"));
        }
    }
}
