//! `wakepath lab`: starts the laboratory, which is a program of its own, as git starts its programs.

use super::Outcome;
use crate::command_line::Printing;
use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::Command;
use wakepath_programs::NotFound;

/// The program.
const PROGRAM: &str = "wakepath-lab";

/// Becomes the laboratory with these arguments.
pub fn run(printing: Printing, arguments: &[impl AsRef<OsStr>]) -> Outcome {
    let program = wakepath_programs::companion(PROGRAM).map_err(|missing| match missing {
        NotFound::Nowhere { .. } => format!(
            "{missing}: unpack it from the release's {PROGRAM} archive, or build it (cargo build --release \
             --package wakepath --bin {PROGRAM}), next to wakepath or on PATH"
        ),
        NotFound::Distrusted { .. } => missing.to_string(),
    })?;
    let mut command = Command::new(&program);
    if let Some(color) = printing.color.given() {
        command.args(["--color", color]);
    }
    if printing.quiet {
        command.arg("--quiet");
    }
    let error = command.args(arguments).exec();
    Err(format!("{}: {error}", program.display()).into())
}
