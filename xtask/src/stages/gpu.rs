//! Tests and lints of the workspace of `wakepath-gpu`, and the load `gpu` with it.
//!
//! Nothing of the board's program depends on it. Runs on all devices of this machine; those of Mesa
//! and PoCL run on the CPU.

use super::outcome::Outcome;
use super::programs;
use crate::job::Job;
use crate::place;
use crate::tools::{cargo, wait_for_set_up};

/// Tests and clippy.
pub fn workspace(job: &Job) -> Outcome {
    wait_for_set_up();
    let of = |verb: &str| {
        let mut command = cargo(&[verb, "--locked", "--manifest-path", "gpu/Cargo.toml"]);
        command.arg("--target-dir").arg(target());
        command
    };
    let lints = job.run(of("clippy").args(["--all-targets", "--", "-D", "warnings"]));
    let tests = job.run(of("test").args(["--no-fail-fast", "--", "--show-output"]));
    Outcome::of_tests(&tests).and(Outcome::new(lints.failure))
}

/// The load's tests, with the program that [`workspace`] built.
pub fn load(job: &Job) -> Outcome {
    let build = ["build", "--locked", "--manifest-path", "gpu/Cargo.toml"];
    let built = job.run(cargo(&build).arg("--target-dir").arg(target()));
    if built.failure.is_some() {
        return Outcome::new(built.failure);
    }
    let program = match programs::named(job, "load", "load") {
        Ok(program) => program,
        Err(outcome) => return outcome,
    };
    let mut command = program.command(&["gpu::", "--ignored", "--show-output"]);
    command.env("PATH", place::path_with(&target().join("debug")));
    program.outcome(job, &mut command).of_some()
}

fn target() -> std::path::PathBuf {
    place::target().join("gpu")
}
