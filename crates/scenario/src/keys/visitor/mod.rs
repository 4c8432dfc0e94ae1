//! Goes through the keys of a table to read it, to write it or to describe it.

mod passes;
mod refusals;

pub(crate) use passes::{
    MOST_UNKNOWN, described, read, read_keys, written, written_after, written_in_short,
};

use super::form::Form;
use super::shape::{Key, Shape, Table};
use crate::KnownCpus;
use crate::document::{Node, Section};
use crate::error::Findings;
use crate::units::{LONGEST_PERIOD_NS, SHORTEST_PERIOD_NS};
use passes::write_table;
use std::borrow::Cow;
use toml::Value;

/// The surroundings that a value is checked against.
#[derive(Clone, Copy, Default)]
pub(crate) struct Context<'a> {
    /// The machine's CPUs, for reading.
    pub(crate) known: Option<&'a KnownCpus>,
    /// The loop's period in nanoseconds; 0 if it is unknown.
    pub(crate) period_ns: u64,
}

impl<'a> Context<'a> {
    /// Reads what is given in terms of the period. If that is unknown, the faults are those that any
    /// period leaves.
    pub(crate) fn with_any_period<T>(
        self,
        findings: &mut Findings,
        read: impl Fn(Self, &mut Findings) -> Option<T>,
    ) -> Option<T> {
        if self.period_ns > 0 {
            return read(self, findings);
        }
        let with = |period_ns| {
            let mut found = Findings::default();
            read(Self { period_ns, ..self }, &mut found);
            found
        };
        findings.append(with(SHORTEST_PERIOD_NS).and_also(&with(LONGEST_PERIOD_NS)));
        None
    }
}

/// A table in the hands of its declaration: a function that names each key once, with its form, its
/// default, its meaning and the field that holds it.
pub(crate) struct Keys<'a> {
    mode: Mode<'a>,
    pub(crate) context: Context<'a>,
    title: &'static str,
    names: Vec<&'static str>,
    failures: usize,
}

enum Mode<'a> {
    Read(&'a Section<'a>, &'a mut Findings),
    /// With the defaults, or without.
    Write(toml::Table, bool),
    Describe(Table),
}

/// Outcome of reading a key.
enum Outcome<T> {
    Value(T),
    Absent,
    /// Refused, or nothing is read.
    Nothing,
}

impl<'a> Keys<'a> {
    fn new(mode: Mode<'a>, context: Context<'a>) -> Self {
        Self {
            mode,
            context,
            title: "",
            names: Vec::new(),
            failures: 0,
        }
    }

    /// The table's name in messages, and its meaning.
    pub(crate) fn title(&mut self, title: &'static str, about: &'static str) {
        self.title = title;
        if let Mode::Describe(table) = &mut self.mode {
            (table.title, table.about) = (title, about);
        }
    }

    /// Keys of which exactly one is required.
    pub(crate) fn one_of(&mut self, names: &'static [&'static str]) {
        if let Mode::Describe(table) = &mut self.mode {
            table.one_of.push(names);
        }
    }

    /// A rule in the words of JSON Schema that the reader checks otherwise.
    pub(crate) fn rule(&mut self, rule: impl FnOnce() -> serde_json::Value) {
        if let Mode::Describe(table) = &mut self.mode {
            table.rules.push(rule());
        }
    }

    /// Keys that exclude each other in pairs.
    pub(crate) fn not_both(&mut self, pairs: &[(&str, &str)]) {
        for (one, other) in pairs {
            self.rule(|| serde_json::json!({ "not": { "required": [one, other] } }));
        }
    }

    /// A key that must be given.
    pub(crate) fn required<F: Form>(
        &mut self,
        name: &'static str,
        form: F,
        about: &'static str,
        field: &mut F::Value,
    ) {
        if let Outcome::Value(value) = self.simple(name, &form, None, about, Some(field)) {
            *field = value;
        }
    }

    /// A key with a default.
    pub(crate) fn or<F: Form>(
        &mut self,
        name: &'static str,
        form: F,
        default: F::Value,
        about: &'static str,
        field: &mut F::Value,
    ) {
        let without = self.without(&form, &default);
        let left_out = matches!(self.mode, Mode::Write(_, false)) && *field == default;
        let value = Some(&*field).filter(|_| !left_out);
        match self.simple(name, &form, Some(without), about, value) {
            Outcome::Value(value) => *field = value,
            Outcome::Absent => *field = default,
            Outcome::Nothing => {}
        }
    }

    /// A key with a default that the caller fills in.
    pub(crate) fn or_nothing<F: Form>(
        &mut self,
        name: &'static str,
        form: F,
        default: F::Value,
        about: &'static str,
        field: &mut Option<F::Value>,
    ) {
        let without = self.without(&form, &default);
        let outcome = self.simple(name, &form, Some(without), about, field.as_ref());
        keep(outcome, field);
    }

    fn without<F: Form>(&self, form: &F, default: &F::Value) -> Cow<'static, str> {
        match self.mode {
            Mode::Describe(_) => shown(&form.write(default)).into(),
            _ => "".into(),
        }
    }

    /// A key without which the field keeps its value.
    pub(crate) fn preset<F: Form>(
        &mut self,
        name: &'static str,
        form: F,
        without: &'static str,
        about: &'static str,
        field: &mut F::Value,
    ) {
        let outcome = self.simple(name, &form, Some(without.into()), about, Some(field));
        if let Outcome::Value(value) = outcome {
            *field = value;
        }
    }

    /// A key without which something else holds.
    pub(crate) fn optional<F: Form>(
        &mut self,
        name: &'static str,
        form: F,
        without: &'static str,
        about: &'static str,
        field: &mut Option<F::Value>,
    ) {
        let outcome = self.simple(name, &form, Some(without.into()), about, field.as_ref());
        keep(outcome, field);
    }

    fn simple<F: Form>(
        &mut self,
        name: &'static str,
        form: &F,
        without: Option<Cow<'static, str>>,
        about: &'static str,
        value: Option<&F::Value>,
    ) -> Outcome<F::Value> {
        self.names.push(name);
        match &mut self.mode {
            Mode::Read(section, findings) => {
                let read = match (section.get(name), without) {
                    (None, Some(_)) => return Outcome::Absent,
                    (None, None) => Err(section.missing(name, &form.missing())),
                    (Some(node), _) => form.read(&node),
                };
                if let Some(value) = findings.keep(read) {
                    return Outcome::Value(value);
                }
                self.failures += 1;
            }
            Mode::Write(table, _) => {
                if let Some(value) = value {
                    table.insert(name.to_owned(), form.write(value));
                }
            }
            Mode::Describe(_) => self.describe(name, without, about, form.shape()),
        }
        Outcome::Nothing
    }

    fn describe(
        &mut self,
        name: &'static str,
        without: Option<Cow<'static, str>>,
        about: &'static str,
        shape: Shape,
    ) {
        if let Mode::Describe(table) = &mut self.mode {
            table.keys.push(Key {
                name,
                shape,
                without,
                about,
            });
        }
    }

    /// A key whose value is more than a form can read alone. `remedy` is the advice if a required
    /// one is missing.
    pub(crate) fn nested<T>(
        &mut self,
        name: &'static str,
        (without, about): (Result<&'static str, &str>, &'static str),
        field: &mut T,
        shape: impl FnOnce() -> Shape,
        read: impl FnOnce(&Node<'a>, Context<'a>, &mut Findings) -> Option<T>,
        write: impl FnOnce(&mut T) -> Option<Value>,
    ) {
        self.names.push(name);
        let context = self.context;
        match &mut self.mode {
            Mode::Read(section, findings) => {
                let read = match (section.get(name), without) {
                    (Some(node), _) => read(&node, context, findings),
                    (None, Ok(_)) => return,
                    (None, Err(remedy)) => {
                        findings.push(section.missing(name, remedy));
                        None
                    }
                };
                match read {
                    Some(value) => *field = value,
                    None => self.failures += 1,
                }
            }
            Mode::Write(table, _) => {
                if let Some(value) = write(field) {
                    table.insert(name.to_owned(), value);
                }
            }
            Mode::Describe(_) => self.describe(name, without.ok().map(Cow::from), about, shape()),
        }
    }

    /// A table in this one, with a default.
    pub(crate) fn table<T: Default + PartialEq>(
        &mut self,
        name: &'static str,
        (without, about): (&'static str, &'static str),
        field: &mut T,
        example: &str,
        declare: fn(&mut Keys<'_>, &mut T),
    ) {
        let with_defaults = !matches!(self.mode, Mode::Write(_, false));
        self.nested(
            name,
            (Ok(without), about),
            field,
            || Shape::Table(Box::new(described(T::default(), declare))),
            |node, context, findings| {
                let section = findings.keep(node.table(&format!("give a table {example}")))?;
                read(&section, context, findings, T::default(), declare)
            },
            |field| {
                let left_out = !with_defaults && *field == T::default();
                let before = toml::Table::new();
                let written = write_table(before, with_defaults, field, declare);
                (!left_out).then_some(Value::Table(written))
            },
        );
    }

    /// A list of tables, with a number of items in a range. Each is declared next to those before it.
    pub(crate) fn tables<T>(
        &mut self,
        name: &'static str,
        (without, about): (Result<&'static str, &str>, &'static str),
        field: &mut Vec<T>,
        (range, remedy): ((usize, usize), &str),
        blank: fn() -> T,
        declare: impl Fn(&mut Keys<'_>, &mut T, &[T]),
    ) {
        let with_defaults = !matches!(self.mode, Mode::Write(_, false));
        self.nested(
            name,
            (without, about),
            field,
            || {
                let table = described(blank(), |keys, item| declare(keys, item, &[]));
                Shape::List(Box::new(Shape::Table(Box::new(table))), range.0, range.1)
            },
            |node, context, findings| {
                let mut all: Vec<T> = Vec::new();
                let mut complete = true;
                let items = findings.keep(node.items(range.1, remedy))?;
                if items.len() < range.0 {
                    findings.push(node.refuse("is empty", remedy));
                    return None;
                }
                for item in &items {
                    let section = findings.keep(item.table(remedy));
                    let read = section.and_then(|section| {
                        let declare = |keys: &mut Keys<'_>, item: &mut T| declare(keys, item, &all);
                        read(&section, context, findings, blank(), declare)
                    });
                    match read {
                        Some(value) => all.push(value),
                        None => complete = false,
                    }
                }
                complete.then_some(all)
            },
            |items| {
                let written = items.iter_mut().map(|item| {
                    let before = toml::Table::new();
                    let declare = |keys: &mut Keys<'_>, item: &mut T| declare(keys, item, &[]);
                    Value::Table(write_table(before, with_defaults, item, declare))
                });
                let left_out = written.len() == 0 && without.is_ok();
                (!left_out).then(|| Value::Array(written.collect()))
            },
        );
    }
}

fn keep<T>(outcome: Outcome<T>, field: &mut Option<T>) {
    match outcome {
        Outcome::Value(value) => *field = Some(value),
        Outcome::Absent => *field = None,
        Outcome::Nothing => {}
    }
}

/// A value in the reference page.
fn shown(value: &Value) -> String {
    match value {
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    }
}
