//! Where a key belongs that is in the wrong table of a scenario.

use super::shape::{Key, Shape, Table};
use super::suggestion::{listed, near, near_within};
use crate::document::Section;
use wakepath_timeline::quoted;

/// Wrong letters in a name of another table: its meaning is less sure than that of a name of this one.
const MOST_WRONG: usize = 1;

/// The advice for a key that the scenario itself does not have: a similar key, the table with such a key, its own
/// keys if it is a table around the scenario's, or all known names.
pub(crate) fn advice(
    root: &Section<'_>,
    name: &str,
    known: &[&'static str],
    scenario: &Table,
) -> String {
    near(name, known)
        .or_else(|| below(name, &scenario.keys, ""))
        .or_else(|| without_table(root, name, known))
        .unwrap_or_else(|| format!("known are {}", listed(known)))
}

/// A table around keys of the scenario itself.
fn without_table(root: &Section<'_>, name: &str, known: &[&'static str]) -> Option<String> {
    let inner = root.get(name)?.table("").ok()?;
    let keys: Vec<&str> = inner.names().filter(|key| known.contains(key)).collect();
    let example = keys.first()?;
    Some(format!(
        "give {} at the top of the file, without a table: {example} = …",
        listed(&keys)
    ))
}

/// The first table with a key of that name, or nearly so.
fn below(name: &str, keys: &[Key], path: &str) -> Option<String> {
    keys.iter().find_map(|key| {
        let path = match path {
            "" => key.name.to_owned(),
            _ => format!("{path}.{}", key.name),
        };
        tables(&key.shape).into_iter().find_map(|table| {
            let names: Vec<&str> = table.keys.iter().map(|key| key.name).collect();
            let found = near_within(name, &names, MOST_WRONG);
            let found = found.map(|found| format!("did you mean {} in {path}?", quoted(found)));
            found.or_else(|| below(name, &table.keys, &path))
        })
    })
}

/// The tables that a value of this form can be or hold.
fn tables(shape: &Shape) -> Vec<&Table> {
    match shape {
        Shape::Table(table) => vec![table],
        Shape::Variants(variants) => variants.variants.iter().map(|(_, table)| table).collect(),
        Shape::List(item, ..) => tables(item),
        Shape::Either(shapes) => shapes.iter().flat_map(tables).collect(),
        _ => Vec::new(),
    }
}
