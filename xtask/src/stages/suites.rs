//! The suites of cargo's own test runner. `--show-output` makes a test's "not run" visible, so that
//! it is counted as skipped.

use super::outcome::Outcome;
use crate::job::Job;
use crate::place;
use crate::tools::{cargo, missing_target};

/// All crates with all features; the command's system tests are a stage of their own.
pub fn tests(job: &Job) -> Outcome {
    let rooms = [
        "test",
        "--locked",
        "--no-fail-fast",
        "--workspace",
        "--all-features",
    ];
    let rooms = [
        &rooms[..],
        &["--exclude", "wakepath", "--lib", "--bins", "--tests"],
    ]
    .concat();
    let command = [
        "test",
        "--locked",
        "--no-fail-fast",
        "--package",
        "wakepath",
        "--bins",
    ];
    suite(job, &rooms).and(suite(job, &command))
}

/// The crates that have optional features, without them.
pub fn default_features(job: &Job) -> Outcome {
    let crates = ["wakepath-rt", "wakepath-statistics", "wakepath-timeline"];
    let mut arguments = vec!["test", "--locked", "--no-fail-fast", "--lib", "--tests"];
    arguments.extend(crates.iter().flat_map(|name| ["--package", name]));
    suite(job, &arguments)
}

/// Tests that read their own process's memory and so can't share it with other tests.
pub fn alone(job: &Job) -> Outcome {
    let outcomes = ALONE.iter().map(|(package, program, test)| {
        let arguments = ["test", "--locked", "--package", package, "--test", program];
        let only = [
            "--",
            "--ignored",
            "--exact",
            "--test-threads=1",
            "--show-output",
        ];
        Outcome::of_tests(&job.run(cargo(&arguments).args(only).arg(test)))
    });
    outcomes.fold(Outcome::default(), Outcome::and)
}

/// The tests of `alone`: package, test program, test.
const ALONE: &[(&str, &str, &str)] = &[
    (
        "wakepath-archive",
        "archive",
        "size::six_million_samples_are_finished_and_read_within_300_mb",
    ),
    (
        "wakepath-report",
        "report",
        "page::size::ten_conditions_of_600_000_cycles_make_a_small_page_in_little_memory",
    ),
];

/// The program in which users' libraries run.
const HOST: &str = "wakepath-controller-host";

/// The released program as its users start it, one test after the other.
pub fn system(job: &Job) -> Outcome {
    let target = place::static_target();
    if let Some(why) = missing_target(&target) {
        return Outcome::not_run(why);
    }
    // A static program can't load a user's library; this one beside it can.
    let host = ["build", "--locked", "--release", "--package", HOST];
    if let Some(failure) = job.run(&mut cargo(&host)).failure {
        return Outcome::of(Some(failure));
    }
    let arguments = [
        "test",
        "--locked",
        "--no-fail-fast",
        "--release",
        "--target",
        &target,
    ];
    let mut command = cargo(&arguments);
    command.env("PATH", place::path_with(&place::target().join("release")));
    command.args(["--package", "wakepath", "--test", "*", "--"]);
    Outcome::of_tests(&job.run(command.args(["--test-threads=1", "--show-output"])))
}

/// The laboratory, with a real emulator and Debian's kernels: guests boot for minutes.
pub fn lab(job: &Job) -> Outcome {
    let target = place::static_target();
    if let Some(why) = missing_target(&target) {
        return Outcome::not_run(why);
    }
    let arguments = ["test", "--locked", "--release", "--target", &target];
    let mut command = cargo(&arguments);
    command.args(["--package", "wakepath", "--test", "lab", "--"]);
    command.args(["--ignored", "--test-threads=1", "--show-output"]);
    Outcome::of_tests(&job.run(&mut command))
}

/// On 32 bits: what needs no C compiler compiles, and the crates that only compute pass their
/// tests.
pub fn narrow(job: &Job) -> Outcome {
    const TARGET: &str = "i686-unknown-linux-musl";
    if let Some(why) = missing_target(TARGET) {
        return Outcome::not_run(why);
    }
    // What lies below the archive, whose zstd needs a C compiler for the target: the whole program
    // on 32 bits is the business of the stage for 32-bit Arm.
    let rooms = ["wakepath-flight", "wakepath-load", "wakepath-machine"];
    let mut check = cargo(&["check", "--locked", "--target", TARGET]);
    check.args(rooms.iter().flat_map(|name| ["--package", name]));
    let check = job.run(&mut check);
    let crates = [
        "wakepath-rt",
        "wakepath-scenario",
        "wakepath-statistics",
        "wakepath-timeline",
        "wakepath-verdict",
    ];
    let mut arguments = vec![
        "test",
        "--locked",
        "--no-fail-fast",
        "--lib",
        "--target",
        TARGET,
    ];
    arguments.extend(crates.iter().flat_map(|name| ["--package", name]));
    Outcome::of(check.failure).and(suite(job, &arguments))
}

fn suite(job: &Job, arguments: &[&str]) -> Outcome {
    Outcome::of_tests(&job.run(cargo(arguments).args(["--", "--show-output"])))
}
