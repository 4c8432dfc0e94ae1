//! Anything that is found of runs, as JSON.

use serde::Serialize;

/// JSON with a line feed at the end.
pub fn to_json(value: &impl Serialize) -> String {
    match serde_json::to_string_pretty(value) {
        Ok(text) => text + "\n",
        // Plain data: no map has a key that isn't a string.
        Err(error) => format!("{{\"error\": \"{error}\"}}\n"),
    }
}
