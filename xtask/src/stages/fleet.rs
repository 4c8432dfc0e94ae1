//! The workspace of `wakepath-fleet`, which nothing of the board's program waits for: its tests and
//! its lints, in a build directory of its own. Boards are network namespaces with an sshd each.

use super::outcome::Outcome;
use crate::bench::released_program;
use crate::job::Job;
use crate::place;
use crate::tools::{cargo, wait_for_set_up};
use std::process::Command;

/// Tests and clippy.
pub fn workspace(job: &Job) -> Outcome {
    let lints = job.run(of("clippy").args(["--all-targets", "--", "-D", "warnings"]));
    tests(job, &[]).and(Outcome::of(lints.failure))
}

/// 500 runs on 20 boards, links cut, controllers killed.
pub fn night(job: &Job) -> Outcome {
    tests(job, &["night::", "--ignored"])
}

fn tests(job: &Job, arguments: &[&str]) -> Outcome {
    wait_for_set_up();
    let program = match released_program(|build| job.carry_out(build)) {
        Ok(program) => program,
        Err(error) => return Outcome::of(Some(error)),
    };
    let mut command = of("test");
    command.env("WAKEPATH_BINARY", program);
    // Unpacked, where it is not installed: `./test` sees to that.
    let unpacked = place::target().join("openssh");
    let sshd = unpacked.join("usr/sbin/sshd");
    if sshd.is_file() {
        let libraries = format!("usr/lib/{}-linux-gnu", std::env::consts::ARCH);
        command.env("WAKEPATH_SSHD", sshd);
        command.env("LD_LIBRARY_PATH", unpacked.join(libraries));
    }
    command.args(["--no-fail-fast", "--", "--show-output"]);
    Outcome::of_tests(&job.run(command.args(arguments)))
}

fn of(verb: &str) -> Command {
    let mut command = cargo(&[verb, "--locked", "--workspace"]);
    command.args(["--manifest-path", "fleet/Cargo.toml", "--target-dir"]);
    command.arg(place::target().join("fleet"));
    command
}
