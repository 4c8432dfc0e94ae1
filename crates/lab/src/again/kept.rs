//! Windows in a run's directory: one file for all, and one for each window's stacks.

use crate::fault::FileFault;
use crate::{LabError, Result};
use wakepath_archive::{Run, may_add, read_legible};
use wakepath_directory::Directory;
use wakepath_explain::window::{Window, Windows};

const REMEDY: &str = "remove it; `wakepath lab window` makes it anew";

/// Windows found earlier in a run.
///
/// # Errors
/// If the file can't be read or parsed.
pub fn kept_windows(run: &Run) -> Result<Windows> {
    let path = run.directory().join(Windows::FILE_NAME);
    let text = match run.read_beside(Windows::FILE_NAME) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(Windows::default()),
        Err(error) => return Err(LabError::io("read", &path, error)),
    };
    let fault = match read_legible::<Windows>(&text) {
        Ok(found) if found.version <= Windows::VERSION => return Ok(found),
        Ok(_) => FileFault::Newer { remedy: REMEDY },
        Err(source) => FileFault::NotUnderstood {
            is_not: "no windows",
            source,
            remedy: Some(REMEDY),
        },
    };
    Err(LabError::File { path, fault })
}

/// Adds windows to those of `earlier`; of one cycle the newer stay.
pub(super) fn keep(run: &Directory, earlier: Windows, windows: &[Window]) -> Result<()> {
    may_add(run).map_err(LabError::from)?;
    let put = |name: &str, text: &str| {
        run.put(name, text.as_bytes())
            .map_err(|error| LabError::io("write", &run.path_of(name), error))
    };
    for window in windows {
        put(&folded_name(window), &window.folded())?;
    }
    let all = earlier.with(windows.to_vec());
    let text = serde_json::to_string_pretty(&all).expect("plain data is JSON");
    put(Windows::FILE_NAME, &(text + "\n"))
}

/// Name of the file with a window's stacks.
pub(super) fn folded_name(window: &Window) -> String {
    let (segment, thread, cycle) = (window.segment, window.thread, window.cycle);
    match thread {
        0 => format!("window-{segment}-{cycle}.folded"),
        _ => format!("window-{segment}-{thread}-{cycle}.folded"),
    }
}
