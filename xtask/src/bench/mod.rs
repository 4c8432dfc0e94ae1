//! The benchmarks: wakepath beside its peer, the highest rate, the time to a first verdict, the
//! controller beside RotorPy's, what tracing costs.

pub mod first_verdict;
pub mod flight;
mod measured;
pub mod peer;
pub mod probe;
pub mod rate;
mod ratio;

use crate::arguments::Arguments;
use crate::place;
use crate::release::Build;
use std::path::PathBuf;
use std::process::Stdio;

/// The released static program, built anew where it is out of date.
pub fn released_program() -> Result<PathBuf, String> {
    let build = match std::env::consts::ARCH {
        "aarch64" => Build::AARCH64,
        _ => Build::X86_64,
    };
    let status = build.command().stdin(Stdio::null()).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(format!("{} can't be built", build.triple));
    }
    Ok(place::program(build.triple))
}

/// The program named by `--program`, or the released one.
fn program(arguments: &mut Arguments) -> Result<PathBuf, String> {
    match arguments.texts("--program")?.pop() {
        Some(path) => Ok(PathBuf::from(path)),
        None => released_program(),
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
