//! bonnie++, started again when it ends. Without arguments a small run, so that a phase sees all
//! of its steps.

use crate::LoadError;
use crate::plan::Program;
use std::path::Path;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Storage, Disturbance::SystemCalls];

/// 64 MiB and 1024 small files; `-r` because it refuses a file smaller than twice the memory.
const SMALL_RUN: [&str; 6] = ["-s", "64", "-r", "32", "-n", "1"];

pub(crate) fn program(arguments: &[String], directory: &Path) -> Result<Program, LoadError> {
    let mut program = Program::find("bonnie", "bonnie++", Some("bonnie++"))?;
    program.arguments = if arguments.is_empty() {
        SMALL_RUN.map(String::from).to_vec()
    } else {
        arguments.to_vec()
    };
    let given = |option: &str| {
        arguments
            .iter()
            .any(|argument| argument.starts_with(option))
    };
    // It refuses to run as root without this option.
    if rustix::process::geteuid().is_root() && !given("-u") {
        program.arguments.extend(["-u", "root"].map(String::from));
    }
    program.directory = Some(directory.to_owned());
    Ok(program)
}
