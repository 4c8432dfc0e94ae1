//! The stages of the tests, in the order in which they run: cheap ones first, those that measure
//! time last, and never two at once.

mod concurrency;
mod counts;
mod documents;
mod fuzzing;
mod lints;
mod outcome;
mod peer;
mod runner;
mod static_builds;
mod suites;

use crate::arguments::Arguments;
use crate::job::Job;
use crate::table;
use outcome::Outcome;
use std::process::ExitCode;
use std::time::Duration;

/// One stage.
pub struct Stage {
    /// Its name, as in `--only`.
    pub name: &'static str,
    /// What it shows.
    about: &'static str,
    /// The longest that it may take.
    limit: Duration,
    run: fn(&Job) -> Outcome,
}

const fn stage(
    name: &'static str,
    about: &'static str,
    minutes: u64,
    run: fn(&Job) -> Outcome,
) -> Stage {
    Stage {
        name,
        about,
        limit: Duration::from_secs(minutes * 60),
        run,
    }
}

const STAGES: &[Stage] = &[
    stage("format", "rustfmt changes nothing", 2, lints::format),
    stage(
        "clippy",
        "clippy finds nothing, tests and benchmarks included",
        15,
        lints::clippy,
    ),
    stage(
        "tests",
        "unit and integration tests, all features",
        25,
        suites::tests,
    ),
    stage(
        "default-features",
        "the same without optional features",
        10,
        suites::default_features,
    ),
    stage(
        "alone",
        "tests that need the machine's memory for themselves",
        10,
        suites::alone,
    ),
    stage(
        "documentation",
        "rustdoc warns of nothing; its examples run",
        10,
        lints::documentation,
    ),
    stage(
        "documents",
        "generated documents are those committed",
        10,
        documents::check,
    ),
    stage(
        "loom",
        "the ring, under every order of its memory accesses",
        10,
        concurrency::loom,
    ),
    stage(
        "miri",
        "undefined behaviour in the ring and the vocabulary",
        15,
        concurrency::miri,
    ),
    stage(
        "32-bit",
        "what only computes passes on 32 bits, the loop's library too",
        15,
        suites::narrow,
    ),
    stage(
        "static-x86_64",
        "static program for x86-64, started",
        15,
        static_builds::x86_64,
    ),
    stage(
        "static-aarch64",
        "static program for 64-bit Arm, started",
        15,
        static_builds::aarch64,
    ),
    stage(
        "static-armv7",
        "static program for 32-bit Arm, started",
        15,
        static_builds::armv7,
    ),
    stage(
        "fuzz",
        "random scenarios and recordings (30 s each), journals and kernel files (12 s each)",
        10,
        fuzzing::fuzz,
    ),
    stage(
        "system",
        "the released program, as its users start it",
        25,
        suites::system,
    ),
    stage(
        "lab",
        "stock and RT kernels in virtual time, twice the same",
        15,
        suites::lab,
    ),
    stage(
        "peer",
        "wakepath beside cyclictest, in short",
        5,
        peer::smoke,
    ),
];

/// Lists the stages.
pub fn list() -> ExitCode {
    let rows: Vec<Vec<String>> = STAGES
        .iter()
        .map(|stage| vec![stage.name.into(), stage.about.into()])
        .collect();
    print!("{}", table::aligned(&rows, &[]));
    ExitCode::SUCCESS
}

/// Runs all stages, or those named by `--only`.
pub fn test(mut arguments: Arguments) -> Result<ExitCode, String> {
    let only = arguments.texts("--only")?;
    arguments.end()?;
    for name in &only {
        if !STAGES.iter().any(|stage| stage.name == name) {
            return Err(format!(
                "there is no stage {name:?}; `cargo xtask list` lists them"
            ));
        }
    }
    let chosen = |stage: &&Stage| only.is_empty() || only.iter().any(|name| name == stage.name);
    runner::run(&STAGES.iter().filter(chosen).collect::<Vec<_>>())
}
