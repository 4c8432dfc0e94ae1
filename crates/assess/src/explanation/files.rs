//! The explanation and the overheads as files in the run directory, written once a traced run has
//! ended. They hold nothing that can't be made again from the traces.

use super::{ExplainError, ExplainedRun, Nobody, Order, explain};
use serde::Serialize;
use std::path::Path;
use std::{fs, io};
use wakepath_archive::{Run, Trace};
use wakepath_explain::{Explanation, OverheadTable};

/// Explains a run that holds events and writes what comes out beside them; returns `None`, and
/// writes nothing, for a run without.
///
/// # Errors
/// When the run can't be read or the files not be written.
pub fn write_beside(run: &Run) -> Result<Option<Explanation>, ExplainError> {
    let directory = run.directory();
    let mut traced = false;
    for segment in &run.manifest.segments {
        traced |= Trace::open(directory, segment.segment)?.is_some();
    }
    if !traced {
        return Ok(None);
    }
    let ExplainedRun {
        explanation,
        overheads,
    } = explain(run, &Order::of_run(run)?, &mut Nobody)?;
    write(directory, Explanation::FILE_NAME, &explanation)?;
    write(directory, OverheadTable::FILE_NAME, &overheads)?;
    Ok(Some(explanation))
}

/// Under another name first: whoever reads finds all of it or nothing.
fn write(directory: &Path, name: &str, content: &impl Serialize) -> Result<(), ExplainError> {
    let path = directory.join(name);
    let partial = directory.join(format!("{name}.partial"));
    let text = serde_json::to_string_pretty(content).map_err(io::Error::from);
    text.and_then(|text| fs::write(&partial, text + "\n"))
        .and_then(|()| fs::rename(&partial, &path))
        .map_err(|error| ExplainError::Write {
            path: path.display().to_string(),
            error,
        })
}
