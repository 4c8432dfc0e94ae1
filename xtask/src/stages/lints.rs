//! Checks the sources with rustfmt, clippy and rustdoc.

use super::outcome::Outcome;
use crate::job::Job;
use crate::tools::{cargo, clippy_driver};

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
    let finished = job.run(cargo(&arguments).arg("--").args(DENY_WARNINGS));
    Outcome::new(finished.failure)
}

const DENY_WARNINGS: [&str; 2] = ["-D", "warnings"];

/// Programs that share their name with no library, whose page would be overwritten.
const DOCUMENTED_PROGRAMS: [&str; 3] = ["wakepath-controller-host", "wakepath-ethercat", "xtask"];

/// An example among what is documented gives its dependencies the features that they have in tests.
const ANY_EXAMPLE: &str = "own_loop";

/// rustdoc warns of nothing, and the examples in the documentation run.
pub fn documentation(job: &Job) -> Outcome {
    let mut pages = cargo(&["doc", "--locked", "--workspace", "--all-features"]);
    pages.args(["--no-deps", "--lib", "--example", ANY_EXAMPLE]);
    // Its library has the name of the program's.
    pages.args(["--exclude", "wakepath-c"]);
    pages.args(DOCUMENTED_PROGRAMS.iter().flat_map(|of| ["--bin", of]));
    pages.env("RUSTDOCFLAGS", DENY_WARNINGS.join(" "));
    // As `cargo clippy` sets them: rustdoc then reads what clippy has checked, and nothing is checked again.
    if let Some(driver) = clippy_driver() {
        pages.env("RUSTC_WORKSPACE_WRAPPER", driver);
        let arguments = DENY_WARNINGS.map(|of| format!("{of}__CLIPPY_HACKERY__"));
        pages.env("CLIPPY_ARGS", arguments.concat());
    }
    let pages = job.run(&mut pages);
    let arguments = ["test", "--locked", "--workspace", "--all-features", "--doc"];
    let examples = job.run(&mut cargo(&arguments));
    let examples = match examples.failure {
        // A workspace without examples has none to fail.
        None if !examples.output.contains("; 0 failed") => Outcome::new(None),
        _ => Outcome::of_tests(&examples),
    };
    Outcome::new(pages.failure).and(examples)
}
