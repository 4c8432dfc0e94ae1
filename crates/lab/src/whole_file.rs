//! Writes users' files atomically, and never through a link.

use crate::Result;
use std::path::Path;

/// Writes a file atomically, through a temporary file in the same directory.
pub(crate) fn whole_or_not(path: &Path, text: &str) -> Result<()> {
    Ok(wakepath_directory::replace(path, text.as_bytes())?)
}
