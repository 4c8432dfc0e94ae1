//! fio with any job. Started again when it ends, so that a short job lasts the phase.

use crate::LoadError;
use crate::plan::Program;
use crate::programs::as_seen_from_elsewhere;
use std::path::Path;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Storage, Disturbance::SystemCalls];

pub(crate) fn program(arguments: &[String], directory: &Path) -> Result<Program, LoadError> {
    let mut program = Program::find("fio", "fio", Some("fio"))?;
    program.arguments = arguments
        .iter()
        .map(|argument| as_seen_from_elsewhere(argument))
        .collect();
    // Its data files are in the run's own directory, and are removed with it.
    program.directory = Some(directory.to_owned());
    program.version_argument = Some("--version".into());
    Ok(program)
}
