//! Opens a run for display, or with unchanged texts for JSON.

use std::path::Path;
use wakepath_archive::Run;
use wakepath_directory::Directory;

/// Opens a run with its texts in legible form; with `json` as they were written.
pub fn opened(directory: &Path, json: bool) -> wakepath_archive::Result<Run> {
    if json {
        Run::open_exact(directory)
    } else {
        Run::open(directory)
    }
}

/// [`opened`] in an open directory.
pub fn opened_in(directory: &Directory, json: bool) -> wakepath_archive::Result<Run> {
    if json {
        Run::open_exact_in(directory)
    } else {
        Run::open_in(directory)
    }
}
