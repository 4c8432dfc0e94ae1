//! Tables whose keys depend on the value of one of them: one row for each value.

use super::shape::{self, Shape};
use super::visitor::{self, Context, Keys, MOST_UNKNOWN, described, written_after};
use super::{listed, suggestion};
use crate::document::{Node, Section};
use crate::error::Findings;
use crate::units::Complaint;
use std::mem::discriminant;
use toml::Value;

/// A table with several variants.
pub(crate) struct Variants<T: 'static> {
    pub(crate) title: &'static str,
    /// One of them, in messages: "a load".
    pub(crate) one: &'static str,
    pub(crate) about: &'static str,
    /// The key that decides.
    pub(crate) tag: &'static str,
    pub(crate) rows: &'static [Row<T>],
    /// Meaning of the short form that can replace the table.
    pub(crate) short: &'static str,
}

/// One value of the deciding key, with the keys that belong to it.
pub(crate) struct Row<T> {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// The variant with its defaults.
    pub(crate) blank: fn() -> T,
    pub(crate) keys: fn(&mut Keys<'_>, &mut T),
    pub(crate) short: Short<T>,
}

/// The short form of a variant.
pub(crate) enum Short<T> {
    /// None: it needs more than its name.
    No,
    /// Its name.
    Alone,
    /// Its name, and words that fit a pattern and say more.
    With(&'static str, fn(&str) -> Result<T, Complaint>),
}

impl<T> Variants<T> {
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.rows.iter().map(|row| row.name).collect()
    }

    /// The name of an enumeration's value.
    pub(crate) fn name_of(&self, value: &T) -> &'static str {
        let row = |row: &&Row<T>| discriminant(&(row.blank)()) == discriminant(value);
        self.rows.iter().find(row).map_or("", |row| row.name)
    }

    /// Reads a variant in its short form or as a table.
    pub(crate) fn read(
        &self,
        node: &Node<'_>,
        context: Context<'_>,
        findings: &mut Findings,
    ) -> Option<T> {
        if node.as_text().is_some() {
            return findings.keep(node.quantity("", |text| self.parse(text)));
        }
        let remedy = format!("give {} or a table with `{}`", self.short, self.tag);
        let section = findings.keep(node.table(&remedy))?;
        self.read_table(&section, context, findings)
    }

    fn parse(&self, text: &str) -> Result<T, Complaint> {
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        let Some(row) = self.rows.iter().find(|row| row.name == name) else {
            let problem = format!("is not {}", self.one);
            return Err(Complaint::new(problem, suggestion(text, &self.names())));
        };
        match &row.short {
            Short::Alone | Short::With(..) if text == name => Ok((row.blank)()),
            Short::With(_, parse) => parse(rest),
            Short::Alone => {
                let problem = format!("has something after {name}");
                Err(Complaint::new(
                    problem,
                    format!("give \"{name}\" or a table"),
                ))
            }
            Short::No => {
                let remedy = format!("give a table {{ {} = \"{name}\", … }}", self.tag);
                Err(Complaint::new("has no short form", remedy))
            }
        }
    }

    /// Reads the variant that a table names, and refuses keys that it does not have.
    pub(crate) fn read_table(
        &self,
        section: &Section<'_>,
        context: Context<'_>,
        findings: &mut Findings,
    ) -> Option<T> {
        let names = self.names();
        let remedy = format!("give one of {}", listed(&names));
        let node = findings.keep(section.need(self.tag, &remedy))?;
        let text = findings.keep(node.text(&remedy))?;
        let Some(row) = self.rows.iter().find(|row| row.name == text) else {
            let problem = format!("is not {}", self.one);
            findings.push(node.refuse(problem, suggestion(text, &names)));
            return None;
        };
        let (mut known, _, value) =
            visitor::read_keys(section, context, findings, (row.blank)(), row.keys);
        let own = if known.is_empty() {
            format!("{text} takes nothing else")
        } else {
            format!("{text} takes {}", listed(&known))
        };
        known.push(self.tag);
        let unknown = section.names().filter(|name| !known.contains(name));
        for name in unknown.take(MOST_UNKNOWN) {
            let (problem, remedy) = if self.rows.iter().any(|other| other.has(name)) {
                let problem = format!("does not belong to {} {text}", self.title);
                (problem, own.clone())
            } else {
                let problem = format!("is not a key of {}", self.title);
                (problem, suggestion(name, &known))
            };
            findings.push(section.refuse_key(name, problem, remedy));
        }
        value
    }

    /// The table of a value of the variant with this name.
    pub(crate) fn write(&self, name: &str, value: &mut T) -> Value {
        let tag = toml::Table::from_iter([(self.tag.to_owned(), name.into())]);
        let row = self.rows.iter().find(|row| row.name == name);
        Value::Table(match row {
            Some(row) => written_after(tag, value, row.keys),
            None => tag,
        })
    }

    pub(crate) fn shape(&self) -> Shape {
        Shape::Variants(Box::new(self.described()))
    }

    pub(crate) fn described(&self) -> shape::Variants {
        let short = |row: &Row<T>| match row.short {
            Short::No => None,
            Short::Alone => Some(row.name.to_owned()),
            Short::With(pattern, _) => Some(format!("{}{pattern}", row.name)),
        };
        let short: Vec<String> = self.rows.iter().filter_map(short).collect();
        let pattern = format!("^({})$", short.join("|"));
        let row = |row: &Row<T>| {
            let table = shape::Table {
                about: row.about,
                ..row.described()
            };
            (row.name, table)
        };
        shape::Variants {
            title: self.title,
            about: self.about,
            tag: self.tag,
            variants: self.rows.iter().map(row).collect(),
            short: (pattern, self.short),
        }
    }
}

impl<T> Row<T> {
    fn described(&self) -> shape::Table {
        described((self.blank)(), self.keys)
    }

    fn has(&self, name: &str) -> bool {
        self.described().keys.iter().any(|key| key.name == name)
    }
}
