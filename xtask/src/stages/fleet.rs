//! The workspace of `wakepath-fleet`, which nothing of the board's program waits for: its tests and
//! its lints, in a build directory of its own.

use super::outcome::Outcome;
use crate::job::Job;
use crate::place;
use crate::tools::cargo;
use std::process::Command;

/// Tests and clippy.
pub fn workspace(job: &Job) -> Outcome {
    let tests = job.run(of("test").args(["--no-fail-fast", "--", "--show-output"]));
    let lints = job.run(of("clippy").args(["--all-targets", "--", "-D", "warnings"]));
    Outcome::of_tests(&tests).and(Outcome::of(lints.failure))
}

fn of(verb: &str) -> Command {
    let mut command = cargo(&[verb, "--locked", "--workspace"]);
    command.args(["--manifest-path", "fleet/Cargo.toml", "--target-dir"]);
    command.arg(place::target().join("fleet"));
    command
}
