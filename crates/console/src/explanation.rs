//! Explains a run that was just recorded.

use crate::tell;
use wakepath_archive::{Run, command_about};
use wakepath_assess::explanation::{ExplainError, write_beside};
use wakepath_directory::Directory;

/// Writes the explanation of a traced run next to it. A failure here takes nothing from the measurement:
/// the events are there, and `wakepath explain` tries again.
pub fn explain(directory: &Directory) {
    let explained = Run::open_in(directory)
        .map_err(ExplainError::from)
        .and_then(|run| write_beside(&run, directory));
    match explained {
        Ok(None) => {}
        Ok(Some(_)) => tell!(
            "why late cycles were late: {}",
            command_about("explain", &directory.path().display().to_string(), "")
        ),
        Err(error) => tell!("warning: the run is recorded, but not explained: {error}"),
    }
}
