//! Windows in a run's directory: one file for all, and one for each window's stacks.

use crate::{LabError, Result};
use wakepath_archive::may_add;
use wakepath_assess::stacks_file_name;
use wakepath_directory::Directory;
use wakepath_explain::window::{Window, Windows};

/// Adds windows to those of `earlier`; of one cycle the newer stay.
pub(super) fn keep(run: &Directory, earlier: Windows, windows: &[Window]) -> Result<()> {
    may_add(run).map_err(LabError::from)?;
    let put = |name: &str, text: &str| {
        run.put(name, text.as_bytes())
            .map_err(|error| LabError::io("write", &run.path_of(name), error))
    };
    for window in windows {
        put(&stacks_file_name(window), &window.folded())?;
    }
    let all = earlier.with(windows.to_vec());
    let text = serde_json::to_string_pretty(&all).expect("plain data is JSON");
    put(Windows::FILE_NAME, &(text + "\n"))
}
