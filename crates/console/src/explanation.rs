//! Explains a run that was just recorded.

use crate::tell;
use crate::terminal::OneLine;
use wakepath_archive::Run;
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
            "why late cycles were late: wakepath explain {}",
            directory.path().in_one_line()
        ),
        Err(error) => tell!("warning: the run is recorded, but not explained: {error}"),
    }
}
