//! A run's facts about its machine before it began, as names and values.
//!
//! They show what changed between two runs. All facts count alike here.

use crate::add::read_bounded;
use crate::catalogue::Catalogue;
use crate::error::{FleetArchiveError, Result};
use crate::record::{Role, RunRecord, object_name};
use crate::store::Store;
use serde_json::Value;
use std::collections::BTreeMap;
use wakepath_timeline::{one_line, shortened};

/// Longest manifest that is read.
const LONGEST: u64 = 64 << 20;

/// Most settings to keep of one.
const MOST: usize = 20_000;

/// Most characters of a value to report.
const LONGEST_VALUE: usize = 200;

impl Catalogue {
    /// The settings of a run, by name: `fixed.config.options.HZ`. A manifest that is not there has none.
    ///
    /// # Errors
    /// [`FleetArchiveError::Damaged`]; the system's.
    pub fn settings(
        &self,
        store: &dyn Store,
        record: &RunRecord,
    ) -> Result<BTreeMap<String, String>> {
        let mut all = BTreeMap::new();
        let manifest = record.files.iter().find(|file| file.role == Role::Manifest);
        let Some(manifest) = manifest else {
            return Ok(all);
        };
        let name = object_name(&manifest.sha256);
        let path = store.path_of(&name);
        let Some(file) = store.open(&name)? else {
            return Ok(all);
        };
        let bytes = read_bounded(file, LONGEST).map_err(FleetArchiveError::io("read", &path))?;
        let manifest: Value = serde_json::from_slice(&bytes)
            .map_err(|error| FleetArchiveError::damaged(&path, format!("is not JSON: {error}")))?;
        add("command", &manifest["command"], &mut all);
        add("", &manifest["facts"][0]["facts"], &mut all);
        Ok(all)
    }
}

/// Adds the leaves below a value. A reading counts by its value, because its source is no setting.
fn add(name: &str, value: &Value, all: &mut BTreeMap<String, String>) {
    let below = |part: &str| {
        if name.is_empty() {
            part.to_owned()
        } else {
            format!("{name}.{part}")
        }
    };
    match value {
        _ if all.len() >= MOST => {}
        Value::Null => {}
        Value::Object(members) if members.contains_key("state") && members.contains_key("path") => {
            match members.get("value") {
                Some(value) => add(name, value, all),
                None => add(name, &members["state"], all),
            }
        }
        Value::Object(members) => {
            for (part, value) in members {
                add(&below(part), value, all);
            }
        }
        Value::Array(values) => {
            for (at, value) in values.iter().enumerate() {
                add(&below(&at.to_string()), value, all);
            }
        }
        leaf => {
            let text = leaf.as_str().map_or_else(|| leaf.to_string(), one_line);
            all.insert(one_line(name), shortened(&text, LONGEST_VALUE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn readings_are_their_values_and_lists_are_numbered() {
        let mut all = BTreeMap::new();
        let facts = json!({
            "kernel": {"path": "/proc", "state": "known", "value": "6.12\u{1b}"},
            "turbo": {"path": "/sys", "state": "absent"},
            "cpus": [{"hz": 3}, {"hz": 4}],
            "none": null,
        });
        add("", &facts, &mut all);
        let expected = [
            ("cpus.0.hz", "3"),
            ("cpus.1.hz", "4"),
            ("kernel", "6.12\u{fffd}"),
            ("turbo", "absent"),
        ];
        assert_eq!(
            all,
            expected.map(|(k, v)| (k.to_owned(), v.to_owned())).into()
        );
    }
}
