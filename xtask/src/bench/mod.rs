//! Benchmarks.
//!
//! wakepath and its peer, the highest rate, the time to a first verdict, the controller and
//! RotorPy's, the cost of tracing, causes that are injected and named, healthy programs, a fleet's queries and other engines.

pub mod causes;
pub mod first_verdict;
pub mod fleet;
pub mod flight;
pub mod healthy;
pub mod hunt;
mod measured;
pub mod peer;
pub mod probe;
pub mod rate;
mod ratio;
pub mod recording;

use crate::arguments::Arguments;
use crate::place;
use crate::release::Build;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The released static program for this machine, rebuilt if out of date. `carry_out` decides where
/// the build's output goes.
pub fn released_program(
    carry_out: impl FnOnce(&mut Command) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let build = Build::of_this_machine();
    carry_out(&mut build.command())?;
    Ok(place::program(build.triple))
}

/// Runs a build with its output on the terminal.
fn shown(command: &mut Command) -> Result<(), String> {
    let status = command.stdin(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) {
        Ok(())
    } else {
        Err("the released program can't be built".into())
    }
}

/// The program given by `--program`, or the released one.
fn program(arguments: &mut Arguments) -> Result<PathBuf, String> {
    match arguments.texts("--program")?.pop() {
        Some(path) => Ok(PathBuf::from(path)),
        None => released_program(shown),
    }
}

/// The highest CPU of this machine, which wakepath too would choose.
pub fn highest_cpu() -> Result<usize, String> {
    let path = "/sys/devices/system/cpu/online";
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    text.trim()
        .rsplit([',', '-'])
        .next()
        .and_then(|cpu| cpu.parse().ok())
        .ok_or_else(|| format!("{path}: {text:?}"))
}
