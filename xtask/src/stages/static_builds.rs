//! The released program, linked statically for each kind of machine, with proof that it is static
//! and that it starts.

use super::outcome::Outcome;
use crate::job::Job;
use crate::release::{Build, is_static};
use crate::tools::{missing_program, missing_target};
use std::process::Command;

/// x86-64.
pub fn x86_64(job: &Job) -> Outcome {
    proven(job, &Build::X86_64)
}

/// 64-bit Arm: Raspberry Pi, Jetson.
pub fn aarch64(job: &Job) -> Outcome {
    proven(job, &Build::AARCH64)
}

/// 32-bit Arm: BeagleBone.
pub fn armv7(job: &Job) -> Outcome {
    proven(job, &Build::ARMV7)
}

fn proven(job: &Job, build: &Build) -> Outcome {
    if let Some(why) = missing_target(build.triple) {
        return Outcome::not_run(why);
    }
    if let Some(why) = missing_program(build.programs()) {
        return Outcome::not_run(why);
    }
    let built = job.run(&mut build.command());
    if built.failure.is_some() {
        return Outcome::of(built.failure);
    }
    let program = build.program();
    let outcome = Outcome::of(is_static(&program).err());
    match build.emulator() {
        Some(emulator) if missing_program(&[emulator]).is_some() => outcome.and(Outcome::not_run(
            format!("built, but not started: no {emulator} here"),
        )),
        emulator => [
            &["--version"][..],
            &["scenario", "list"],
            &["scenario", "check", "quick"],
        ]
        .iter()
        .map(|arguments| {
            let mut command = match emulator {
                Some(emulator) => Command::new(emulator),
                None => Command::new(&program),
            };
            if emulator.is_some() {
                command.arg(&program);
            }
            Outcome::of(job.run(command.args(*arguments)).failure)
        })
        .fold(outcome, Outcome::and),
    }
}
