//! The lock-free ring under loom's memory model, and under Miri.

use super::outcome::Outcome;
use crate::job::Job;
use crate::place;
use crate::tools::{cargo, nightly, succeeds, wait_for_set_up};

/// Every order of the ring's memory accesses, up to loom's bounds.
pub fn loom(job: &Job) -> Outcome {
    let arguments = [
        "test",
        "--locked",
        "--release",
        "--package",
        "wakepath-rt",
        "--lib",
        "ring",
    ];
    let mut command = cargo(&arguments);
    // In another directory: the flag would force a rebuild of everything else.
    command
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_TARGET_DIR", place::target().join("loom"));
    Outcome::of_tests(&job.run(&mut command))
}

/// Undefined behaviour in the ring, as far as Miri executes it. The pure crates deny unsafe code.
pub fn miri(job: &Job) -> Outcome {
    wait_for_set_up();
    if !succeeds(&mut nightly(&["miri", "--version"])) {
        return Outcome::not_run("no nightly toolchain with Miri is available");
    }
    let setup = job.run(&mut in_miri(&["miri", "setup"]));
    if let Some(failure) = setup.failure {
        return Outcome::not_run(format!("Miri could not be set up ({failure})"));
    }
    let ring = ["miri", "test", "--package", "wakepath-rt", "--lib", "ring"];
    Outcome::of_tests(&job.run(&mut in_miri(&ring)))
}

/// Miri is a thousand times slower than the machine, so random tests take few cases, and its
/// isolation would hide the clock and the temporary files that tests use.
fn in_miri(arguments: &[&str]) -> std::process::Command {
    let mut command = nightly(arguments);
    command
        .env("CARGO_TARGET_DIR", place::target().join("miri"))
        .env("MIRIFLAGS", "-Zmiri-disable-isolation")
        .env("PROPTEST_CASES", "2");
    command
}
