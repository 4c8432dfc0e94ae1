//! Checks the sources with rustfmt, clippy and rustdoc.

use super::outcome::Outcome;
use crate::job::Job;
use crate::tools::cargo;

/// Checks that rustfmt changes nothing, inside and outside of the workspace.
pub fn format(job: &Job) -> Outcome {
    let workspace = job.run(&mut cargo(&["fmt", "--all", "--check"]));
    let beside = ["fleet", "fuzz", "gpu", "python"].map(|of| format!("{of}/Cargo.toml"));
    let format = ["fmt", "--all", "--check", "--manifest-path"];
    let beside = beside.map(|of| job.run(cargo(&format).arg(of)));
    let beside = beside.into_iter().map(|of| Outcome::new(of.failure));
    beside.fold(Outcome::new(workspace.failure), Outcome::and)
}

/// clippy finds nothing.
pub fn clippy(job: &Job) -> Outcome {
    let arguments = [
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--all-features",
    ];
    let finished = job.run(cargo(&arguments).args(["--", "-D", "warnings"]));
    Outcome::new(finished.failure)
}

/// rustdoc warns of nothing, and the examples in the documentation run.
pub fn documentation(job: &Job) -> Outcome {
    let arguments = [
        "doc",
        "--locked",
        "--workspace",
        "--all-features",
        "--no-deps",
    ];
    let pages = job.run(cargo(&arguments).env("RUSTDOCFLAGS", "-D warnings"));
    let arguments = ["test", "--locked", "--workspace", "--all-features", "--doc"];
    let examples = job.run(&mut cargo(&arguments));
    let examples = match examples.failure {
        // A workspace without examples has none to fail.
        None if !examples.output.contains("; 0 failed") => Outcome::new(None),
        _ => Outcome::of_tests(&examples),
    };
    Outcome::new(pages.failure).and(examples)
}
