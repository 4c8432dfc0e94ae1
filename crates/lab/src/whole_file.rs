//! Files that are there whole or not at all.

use crate::{LabError, Result};
use std::path::Path;

/// Writes a file through a temporary name beside it.
pub(crate) fn whole_or_not(path: &Path, text: &str) -> Result<()> {
    let partial = path.with_added_extension("partial");
    let written = std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, path));
    written.map_err(|error| {
        // What is there of it is of no use.
        let _ = std::fs::remove_file(&partial);
        LabError::io("write", path, error)
    })
}
