//! The windows of instructions that the laboratory found and stored in a run's directory.

use std::io;
use std::path::{Path, PathBuf};
use wakepath_archive::{Run, command_about, read_legible};
use wakepath_explain::window::{Window, Windows};

/// The command that makes the windows of a file's run.
fn make_again(file: &Path) -> String {
    let run = file.parent().unwrap_or(file);
    command_about("lab window", &run.display().to_string(), "")
}

/// Reasons why stored windows can't be used.
#[derive(Debug, thiserror::Error)]
pub enum WindowsError {
    /// The file can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It has another content.
    #[error("{}: no windows: {source}; remove it; `{}` makes it again", path.display(), make_again(path))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The error of its JSON.
        source: serde_json::Error,
    },
    /// It has a later form.
    #[error("{}: written by a newer wakepath; remove it; `{}` makes it again", path.display(), make_again(path))]
    Newer {
        /// The file.
        path: PathBuf,
    },
}

/// Windows stored in a run; none if it has no such file.
///
/// # Errors
/// If the file can't be read or parsed.
pub fn stored_windows(run: &Run) -> Result<Windows, WindowsError> {
    let path = || run.directory().join(Windows::FILE_NAME);
    let text = match run.read_beside(Windows::FILE_NAME) {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(Windows::default()),
        Err(source) => {
            return Err(WindowsError::Read {
                path: path(),
                source,
            });
        }
    };
    match read_legible::<Windows>(&text) {
        Ok(windows) if windows.version <= Windows::VERSION => Ok(windows),
        Ok(_) => Err(WindowsError::Newer { path: path() }),
        Err(source) => Err(WindowsError::Malformed {
            path: path(),
            source,
        }),
    }
}

/// Name of the file with a window's stacks.
pub fn stacks_file_name(window: &Window) -> String {
    let (segment, thread, cycle) = (window.segment, window.thread, window.cycle);
    match thread {
        0 => format!("window-{segment}-{cycle}.folded"),
        _ => format!("window-{segment}-{thread}-{cycle}.folded"),
    }
}
