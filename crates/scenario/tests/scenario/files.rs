//! The scenarios next to the tests.

use serde_json::Value;
use std::path::Path;

/// The scenarios of a folder with their names, in their order.
pub(crate) fn folder(name: &str) -> Vec<(String, String)> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let entries = std::fs::read_dir(tests.join(name)).expect("the folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<(String, String)> = paths
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            let text = std::fs::read_to_string(&path).expect("a file");
            (name.into_owned(), text)
        })
        .collect();
    files.sort();
    files
}

pub(crate) fn as_json(text: &str) -> Option<Value> {
    let table: toml::Table = text.parse().ok()?;
    serde_json::to_value(table).ok()
}
