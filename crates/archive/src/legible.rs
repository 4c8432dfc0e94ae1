//! Sanitises a run's texts for display.
//!
//! The author of a run chose its names, notes and figures; none of them may control a terminal or
//! forge a line of our output. Files on disk stay as they are, and only texts change.

use serde::de::DeserializeOwned;
use serde_json::Value;
use wakepath_timeline::{is_unprintable, one_line};

use crate::manifest::Manifest;

/// Turns every text of the manifest into one line, except the scenario: that is a document with its
/// own reader, which checks every name in it.
pub(crate) fn legible(manifest: Manifest) -> Manifest {
    let toml = manifest.scenario.toml.clone();
    // A field that is added to the manifest is cleaned without anybody's doing.
    let mut value: Value =
        serde_json::from_slice(manifest.to_json().as_bytes()).expect("it was JSON just now");
    value["scenario"]["toml"] = Value::Null;
    if !clean(&mut value) {
        return manifest;
    }
    value["scenario"]["toml"] = Value::String(toml);
    reread(&value).expect("a manifest whose texts changed is a manifest")
}

/// Reads a JSON file of a run, such as its explanation, and turns each text in it into one line
/// without control characters. Meant for files whose texts are names and notes, not for one that
/// holds a document, such as a scenario.
///
/// # Errors
/// If the JSON can't be parsed.
pub fn read_legible<T: DeserializeOwned>(json: &[u8]) -> serde_json::Result<T> {
    // First parsed directly into the type, so that errors have line numbers.
    let read = serde_json::from_slice(json)?;
    let mut value: Value = serde_json::from_slice(json)?;
    if clean(&mut value) {
        reread(&value)
    } else {
        Ok(read)
    }
}

/// Serialises and parses again, because deserialising from values as well as from text would make
/// this crate a quarter larger, only for the sake of hostile runs.
fn reread<T: DeserializeOwned>(value: &Value) -> serde_json::Result<T> {
    serde_json::from_slice(&serde_json::to_vec(value)?)
}

/// Returns whether any text had to be cleaned.
fn clean(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let hostile = text.contains(is_unprintable);
            if hostile {
                *text = one_line(text);
            }
            hostile
        }
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |found, item| clean(item) | found),
        Value::Object(members) => {
            let mut found = false;
            if members.keys().any(|key| key.contains(is_unprintable)) {
                found = true;
                let all = std::mem::take(members).into_iter();
                *members = all.map(|(key, value)| (one_line(&key), value)).collect();
            }
            let values = members.values_mut();
            values.fold(found, |found, value| clean(value) | found)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_and_keys_become_one_line_and_nothing_else_changes() {
        let mut value = json!({
            "a\nb": ["x\u{1b}[2J", 0.1, 18_446_744_073_709_551_615_u64, null, true],
            "plain": "µs",
        });
        assert!(clean(&mut value));
        assert_eq!(
            value,
            json!({
                "a\u{fffd}b": ["x\u{fffd}[2J", 0.1, 18_446_744_073_709_551_615_u64, null, true],
                "plain": "µs",
            })
        );
        assert!(!clean(&mut value), "it is clean now");
    }

    #[test]
    fn a_file_beside_a_run_is_read_with_its_texts_in_one_line() {
        let read: Vec<(String, u64)> =
            read_legible(br#"[["a\u001b[2J\nb", 18446744073709551615], ["plain", 1]]"#).unwrap();
        let expected = ["a\u{fffd}[2J\u{fffd}b", "plain"].map(str::to_owned);
        assert_eq!(
            read,
            expected.into_iter().zip([u64::MAX, 1]).collect::<Vec<_>>()
        );
        let refused = read_legible::<Vec<u64>>(b"[1,\n\"x\"]").unwrap_err();
        assert_eq!(refused.line(), 2, "{refused}");
    }
}
