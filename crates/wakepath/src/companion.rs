//! Verbs that are programs of their own, started as git starts its programs.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::process::Command;
use wakepath_console::{Outcome, Printing};
use wakepath_programs::NotFound;

/// The laboratory.
pub const LAB: &str = "wakepath-lab";
/// Published experiments on this board.
pub const EXPERIMENT: &str = "wakepath-experiment";

/// The program that carries a verb out.
pub fn of_verb(verb: &str) -> Option<&'static str> {
    match verb {
        "lab" => Some(LAB),
        "experiment" => Some(EXPERIMENT),
        _ => None,
    }
}

/// Becomes the program with these arguments.
pub fn run(program: &str, printing: Printing, arguments: &[impl AsRef<OsStr>]) -> Outcome {
    let path = wakepath_programs::companion(program).map_err(|missing| match missing {
        NotFound::Nowhere { .. } => format!(
            "{missing}: unpack it from the release's {LAB} archive, or build it (cargo build --release \
             --package wakepath-laboratory), next to wakepath or on PATH"
        ),
        NotFound::Distrusted { .. } => missing.to_string(),
    })?;
    let mut command = Command::new(&path);
    if let Some(color) = printing.color.given() {
        command.args(["--color", color]);
    }
    if printing.quiet {
        command.arg("--quiet");
    }
    let error = command.args(arguments).exec();
    Err(format!("{}: {error}", path.display()).into())
}
