//! The ways through a table: reading, writing, describing.

use super::{Context, Keys, Mode};
use crate::document::Section;
use crate::error::Findings;
use crate::keys::shape::Table;
use crate::keys::suggestion;
use toml::Value;

/// The most unknown keys reported of one table.
pub(crate) const MOST_UNKNOWN: usize = 20;

/// Reads a table into `value`. It must hold no key but those of `declare`.
pub(crate) fn read<T>(
    section: &Section<'_>,
    context: Context<'_>,
    findings: &mut Findings,
    value: T,
    declare: impl FnOnce(&mut Keys<'_>, &mut T),
) -> Option<T> {
    let (names, title, value) = read_keys(section, context, findings, value, declare);
    let unknown = section.names().filter(|name| !names.contains(name));
    for name in unknown.take(MOST_UNKNOWN) {
        let problem = format!("is not a key of {title}");
        findings.push(section.refuse_key(name, problem, suggestion(name, &names)));
    }
    value
}

/// As [`read`], and answers with the names of all keys and the table's title; it refuses no others.
pub(crate) fn read_keys<T>(
    section: &Section<'_>,
    context: Context<'_>,
    findings: &mut Findings,
    mut value: T,
    declare: impl FnOnce(&mut Keys<'_>, &mut T),
) -> (Vec<&'static str>, &'static str, Option<T>) {
    let mut keys = Keys::new(Mode::Read(section, findings), context);
    declare(&mut keys, &mut value);
    let value = (keys.failures == 0).then_some(value);
    (keys.names, keys.title, value)
}

/// The table as it is written, with every default.
pub(crate) fn written<T>(value: &mut T, declare: impl FnOnce(&mut Keys<'_>, &mut T)) -> Value {
    Value::Table(written_after(toml::Table::new(), value, declare))
}

/// The table as it is written, without what is a default.
pub(crate) fn written_in_short<T>(
    value: &mut T,
    declare: impl FnOnce(&mut Keys<'_>, &mut T),
) -> toml::Table {
    write_table(toml::Table::new(), false, value, declare)
}

/// The table as it is written, after entries that it has already.
pub(crate) fn written_after<T>(
    before: toml::Table,
    value: &mut T,
    declare: impl FnOnce(&mut Keys<'_>, &mut T),
) -> toml::Table {
    write_table(before, true, value, declare)
}

pub(super) fn write_table<T>(
    before: toml::Table,
    with_defaults: bool,
    value: &mut T,
    declare: impl FnOnce(&mut Keys<'_>, &mut T),
) -> toml::Table {
    let mut keys = Keys::new(Mode::Write(before, with_defaults), Context::default());
    declare(&mut keys, value);
    match keys.mode {
        Mode::Write(table, _) => table,
        _ => toml::Table::new(),
    }
}

/// The table as data.
pub(crate) fn described<T>(mut blank: T, declare: impl FnOnce(&mut Keys<'_>, &mut T)) -> Table {
    let mut keys = Keys::new(Mode::Describe(Table::default()), Context::default());
    declare(&mut keys, &mut blank);
    match keys.mode {
        Mode::Describe(table) => table,
        _ => Table::default(),
    }
}
