//! The explanation and the overheads as files in the run directory, written once a traced run has
//! ended, and the explanation read again. They hold nothing that can't be made again from the traces.

use super::feather_trace::Recorded;
use super::{Along, ExplainError, ExplainedRun, Order, explain};
use serde::Serialize;
use std::io;
use std::path::Path;
use wakepath_archive::{Run, Trace, read_legible};
use wakepath_directory::Directory;
use wakepath_explain::{Explanation, OverheadTable, Places, Stacks};

/// Explains a run that holds events and writes the result next to them; returns `None`, and writes
/// no explanation, for a run without.
///
/// # Errors
/// When the run can't be read or the files not be written.
pub fn write_beside(
    run: &Run,
    directory: &Directory,
    along: &mut dyn Along,
) -> Result<Option<Explanation>, ExplainError> {
    let mut traced = false;
    for segment in &run.manifest.segments {
        traced |= Trace::open_in(directory, segment.segment)?.is_some();
    }
    if !traced {
        let recorded = Recorded::read(run)?;
        if recorded.any() {
            write(
                directory,
                OverheadTable::FILE_NAME,
                &recorded.table(Vec::new()),
            )?;
        }
        return Ok(None);
    }
    let ExplainedRun {
        explanation,
        overheads,
    } = explain(run, &Order::of_run(run)?, along)?;
    write(directory, Explanation::FILE_NAME, &explanation)?;
    write(directory, OverheadTable::FILE_NAME, &overheads)?;
    Ok(Some(explanation))
}

/// The explanation written next to a run at its end, each text in it one line, even for a foreign
/// run; `None` for a run that was not traced.
///
/// # Errors
/// [`ExplainError::Read`], [`ExplainError::NotAnExplanation`], [`ExplainError::Newer`].
pub fn kept(run: &Path) -> Result<Option<Explanation>, ExplainError> {
    let path = run.join(Explanation::FILE_NAME).display().to_string();
    let read = Directory::to_read(run).and_then(|run| run.read(Explanation::FILE_NAME));
    let text = match read {
        Ok(Some(text)) => text,
        Ok(None) => return Ok(None),
        Err(error) => return Err(ExplainError::Read { path, error }),
    };
    match read_legible::<Explanation>(&text) {
        Err(error) => Err(ExplainError::NotAnExplanation { path, error }),
        Ok(found) if found.version > Explanation::VERSION => Err(ExplainError::Newer { path }),
        Ok(found) => Ok(Some(found)),
    }
}

/// The code locations at which a run's threads blocked; none without recorded stacks.
///
/// # Errors
/// [`ExplainError::Read`], [`ExplainError::NotStacks`], [`ExplainError::Newer`].
pub fn places(run: &Path) -> Result<Places, ExplainError> {
    let path = run.join(Stacks::FILE_NAME).display().to_string();
    let read = Directory::to_read(run).and_then(|run| run.read(Stacks::FILE_NAME));
    let Some(text) = read.map_err(|error| ExplainError::Read {
        path: path.clone(),
        error,
    })?
    else {
        return Ok(Places::default());
    };
    match read_legible::<Stacks>(&text) {
        Err(error) => Err(ExplainError::NotStacks { path, error }),
        Ok(found) if found.version > Stacks::VERSION => Err(ExplainError::Newer { path }),
        Ok(found) => Ok(found.places()),
    }
}

/// Whole: a reader finds all of it or nothing.
fn write(directory: &Directory, name: &str, content: &impl Serialize) -> Result<(), ExplainError> {
    let text = serde_json::to_string_pretty(content).map_err(io::Error::from);
    text.and_then(|text| directory.put(name, (text + "\n").as_bytes()))
        .map_err(|error| ExplainError::Write {
            path: directory.path_of(name).display().to_string(),
            error,
        })
}
