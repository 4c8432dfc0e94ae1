//! Fills templates with placeholders of the form `@NAME@`.
//!
//! A placeholder without a value is our bug and reported as one.

use crate::place;
use std::fs;
use std::path::Path;

/// A value from the workspace's manifest that applies to all of its packages.
pub(super) fn of_workspace(key: &str) -> Result<String, String> {
    let path = place::root().join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let wanted = format!("{key} = \"");
    text.lines()
        .find_map(|line| line.strip_prefix(&wanted)?.strip_suffix('"'))
        .map(Into::into)
        .ok_or_else(|| format!("{}: no {key}", path.display()))
}

/// One-line description of wakepath, from its package.
pub(super) fn description() -> Result<String, String> {
    let path = place::root().join("crates/wakepath/Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines()
        .find_map(|line| line.strip_prefix("description = \"")?.strip_suffix('"'))
        .map(Into::into)
        .ok_or_else(|| format!("{}: no description", path.display()))
}

/// A file of `packaging/` with its places filled.
pub(super) fn filled(file: &str, values: &[(&str, &str)]) -> Result<String, String> {
    let path = place::root().join("packaging").join(file);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    fill(&text, values).map_err(|empty| format!("{}: nothing for {empty}", path.display()))
}

fn fill(text: &str, values: &[(&str, &str)]) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, name, after)) = next(rest) {
        let value = values.iter().find(|(known, _)| *known == name);
        let (_, value) = value.ok_or_else(|| format!("@{name}@"))?;
        filled += before;
        filled += value;
        rest = after;
    }
    Ok(filled + rest)
}

/// The text before the first place, its name, and the text after it.
fn next(text: &str) -> Option<(&str, &str, &str)> {
    for (at, _) in text.match_indices('@') {
        let after = &text[at + 1..];
        let length = after.find(|c: char| c != '_' && !c.is_ascii_uppercase());
        if let Some(length) = length.filter(|&length| length > 0)
            && after[length..].starts_with('@')
        {
            return Some((&text[..at], &after[..length], &after[length + 1..]));
        }
    }
    None
}

/// Writes a text; the error names the path.
pub(super) fn write(path: &Path, text: &str) -> Result<(), String> {
    let said = |error| format!("{}: {error}", path.display());
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(said)?;
    }
    fs::write(path, text).map_err(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_and_nothing_else_is_touched() {
        let values = [("A", "1"), ("B_C", "@A@")];
        assert_eq!(
            fill("\"$@\" @A@ a@b @B_C@ @", &values).as_deref(),
            Ok("\"$@\" 1 a@b @A@ @")
        );
        assert_eq!(fill("@A@ @OTHER@", &values), Err("@OTHER@".into()));
    }

    #[test]
    fn the_workspace_says_where_it_is_published() {
        assert!(of_workspace("repository").is_ok_and(|url| url.starts_with("https://")));
        assert!(of_workspace("colour").is_err());
        assert!(description().is_ok_and(|line| line.len() < 100));
    }
}
