//! The released program, linked statically for each kind of machine, with proof that it is static
//! and that it starts.

use super::outcome::Outcome;
use crate::job::Job;
use crate::release::{Build, is_static, megabytes};
use crate::tools::{missing_program, missing_target};
use std::path::Path;
use std::process::Command;

/// Size limit of the program for x86-64 without debugging information, because it is copied to robots: its size and
/// some 5 %. It only ever goes down.
const LARGEST: u64 = 11_600_000;
/// The same for Arm.
const LARGEST_ARM: u64 = 15_000_000;

/// x86-64, as released.
pub fn x86_64(job: &Job) -> Outcome {
    let build = &Build::X86_64;
    let (mut command, program) = (build.command(), build.program());
    proven(job, build, &mut command, &program, Some(LARGEST))
}

/// 64-bit Arm: Raspberry Pi, Jetson. Not optimised: this shows that it links, is static and starts.
pub fn aarch64(job: &Job) -> Outcome {
    quickly(job, &Build::AARCH64)
}

/// 32-bit Arm: BeagleBone. As above.
pub fn armv7(job: &Job) -> Outcome {
    quickly(job, &Build::ARMV7)
}

/// Arm, as released, and its size.
pub fn released_arm(job: &Job) -> Outcome {
    let of = |build: &Build| {
        let (mut command, program) = (build.command(), build.program());
        proven(job, build, &mut command, &program, Some(LARGEST_ARM))
    };
    of(&Build::AARCH64).and(of(&Build::ARMV7))
}

fn quickly(job: &Job, build: &Build) -> Outcome {
    proven(
        job,
        build,
        &mut build.quick_command(),
        &build.quick_program(),
        None,
    )
}

/// Checks the size of a released program.
fn sized(program: &Path, limit: u64) -> Outcome {
    match std::fs::metadata(program) {
        Err(error) => Outcome::new(Some(format!("{}: {error}", program.display()))),
        Ok(of) => {
            let size = megabytes(of.len());
            let too_large = of.len() > limit;
            let failure = too_large.then(|| format!("above {}", megabytes(limit)));
            Outcome::new(failure).noting(format!("{} {size}", program.display()))
        }
    }
}

fn proven(
    job: &Job,
    build: &Build,
    command: &mut Command,
    program: &Path,
    size_limit: Option<u64>,
) -> Outcome {
    if let Some(why) = missing_target(build.triple) {
        return Outcome::not_run(why);
    }
    if let Some(why) = missing_program(build.programs()) {
        return Outcome::not_run(why);
    }
    let built = job.run(command);
    if built.failure.is_some() {
        return Outcome::new(built.failure);
    }
    let mut outcome = Outcome::new(is_static(program).err());
    if let Some(limit) = size_limit {
        outcome = outcome.and(sized(program, limit));
    }
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
                None => Command::new(program),
            };
            if emulator.is_some() {
                command.arg(program);
            }
            Outcome::new(job.run(command.args(*arguments)).failure)
        })
        .fold(outcome, Outcome::and),
    }
}
