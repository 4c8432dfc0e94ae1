//! Tables, keys and forms as data, for the schema and the reference page.

use serde_json::Value;
use std::borrow::Cow;

/// A table of the file.
#[derive(Default)]
pub(crate) struct Table {
    /// Its name in messages and headings.
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) keys: Vec<Key>,
    /// Groups of keys of which exactly one is required.
    pub(crate) one_of: Vec<&'static [&'static str]>,
    /// Further rules, in the words of JSON Schema.
    pub(crate) rules: Vec<Value>,
}

/// A key of a table.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    /// What holds without it; `None`: it is required.
    pub(crate) without: Option<Cow<'static, str>>,
    pub(crate) about: &'static str,
}

/// A table whose keys depend on the value of one of them.
pub(crate) struct Variants {
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    /// The key that decides.
    pub(crate) tag: &'static str,
    /// One table for each value of that key.
    pub(crate) variants: Vec<(&'static str, Table)>,
    /// Pattern of the short form that can replace the table, and its meaning.
    pub(crate) short: (String, &'static str),
}

/// Form of a value.
pub(crate) enum Shape {
    Name,
    Text,
    /// Text on one line without invisible characters.
    Line,
    /// Text that matches a pattern of JSON Schema, with its description.
    Fitting(&'static str, &'static str),
    /// A time in this range of nanoseconds.
    Time(u64, u64),
    /// A rate whose period is in this range of nanoseconds.
    Rate(u64, u64),
    /// A size in this range of bytes.
    Size(u64, u64),
    /// A time, a share of the period, or a number of periods.
    OfPeriod,
    /// A number from 0 to 1, or a percentage.
    Share {
        above_0: bool,
    },
    /// A number from the first (or above it) to below the last.
    Number(f64, bool, f64),
    Integer(i64, i64),
    CpuSet,
    Boolean,
    Choice(Vec<&'static str>),
    Either(Vec<Shape>),
    /// A list with a number of texts in this range.
    Texts(usize, usize),
    /// A list with a number of items in this range.
    List(Box<Shape>, usize, usize),
    Table(Box<Table>),
    Variants(Box<Variants>),
}
