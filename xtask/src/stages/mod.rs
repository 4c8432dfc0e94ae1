//! The stages of the tests.
//!
//! Stages that compile or compute run first, in parallel rows; next those that mostly wait for
//! loops, with builds at the lowest priority at the same time; last those that measure time, one
//! after the other, alone on the machine.

mod causes;
mod concurrency;
mod counts;
mod crates;
mod documents;
mod elsewhere;
mod fleet;
mod fuzzing;
mod gpu;
mod lints;
mod outcome;
mod packages;
mod peer;
mod programs;
mod python;
mod repeated;
mod runner;
mod schema;
mod stalls;
mod static_builds;
mod suites;
mod words;

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
    /// Description for the list.
    about: &'static str,
    /// The stages that it shares the machine with.
    place: Place,
    /// Its time limit.
    limit: Duration,
    run: fn(&Job) -> Outcome,
}

/// The stages that a stage shares the machine with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In the first row: uses the workspace's own build directory.
    First,
    /// In the second row, at the same time as the first: has its own build directory or profile, or
    /// little to build.
    Beside,
    /// In a third row, or in any row that has finished: has a separate build directory.
    Either,
    /// After the rows, in sequence: mostly waits, and tolerates a busy machine.
    Waiting,
    /// At the same time, in a row of its own: one test at a time, whose loop needs its CPU for itself.
    OneAtATime,
    /// At the same time, at the lowest priority: little but a build.
    Filling,
    /// With nothing, after all these: time is measured, or memory.
    Alone,
    /// As [`Self::Alone`], and with `--deep` only.
    Deep,
}

/// Time limit of a stage in minutes.
const fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(minutes * 60)
}

use Place::{Alone, Beside, Deep, Either, Filling, First, OneAtATime, Waiting};

#[rustfmt::skip] // One line for each stage.
const STAGES: &[Stage] = &[
    Stage { name: "format", about: "rustfmt changes nothing", place: First, limit: minutes(10), run: lints::format },
    Stage { name: "tests", about: "unit and integration tests, all features", place: First, limit: minutes(30), run: suites::tests },
    Stage { name: "documents", about: "generated documents are those committed, the others within their words", place: First, limit: minutes(30), run: documents::check },
    Stage { name: "words", about: "pages and printed strings are plain English", place: First, limit: minutes(1), run: words::check },
    Stage { name: "clippy", about: "clippy finds nothing, tests and benchmarks included", place: First, limit: minutes(15), run: lints::clippy },
    Stage { name: "schema", about: "ajv and check-jsonschema read scenarios as the schema's tests do", place: First, limit: minutes(10), run: schema::validators },
    Stage { name: "documentation", about: "rustdoc warns of nothing; its examples run", place: First, limit: minutes(15), run: lints::documentation },
    Stage { name: "default-features", about: "tests of what has optional features, without them", place: First, limit: minutes(10), run: suites::default_features },
    Stage { name: "static-x86_64", about: "static program for x86-64 as released: started, its size limited", place: Beside, limit: minutes(20), run: static_builds::x86_64 },
    Stage { name: "lab", about: "stock and RT kernels in virtual time, twice the same", place: Beside, limit: minutes(40), run: suites::lab },
    Stage { name: "miri", about: "undefined behaviour in the ring", place: Either, limit: minutes(20), run: concurrency::miri },
    Stage { name: "loom", about: "the ring, under every order of its memory accesses", place: Either, limit: minutes(15), run: concurrency::loom },
    Stage { name: "python", about: "the Python package, by pytest on each Python that is here", place: Either, limit: minutes(15), run: python::package },
    Stage { name: "fleet", about: "tests and lints of wakepath-fleet, a workspace of its own, without engine and buckets", place: Either, limit: minutes(20), run: fleet::workspace },
    Stage { name: "gpu", about: "tests and lints of wakepath-gpu, a workspace of its own", place: Either, limit: minutes(10), run: gpu::workspace },
    Stage { name: "commands", about: "the released program's command line, and users' controllers", place: Waiting, limit: minutes(30), run: suites::commands },
    Stage { name: "another-machine", about: "tests that read facts of the machine, under another host name and kernel and on one CPU", place: Waiting, limit: minutes(5), run: elsewhere::another_machine },
    Stage { name: "system", about: "the released program, as its users start it", place: Waiting, limit: minutes(30), run: suites::system },
    Stage { name: "by-itself", about: "the released program's loops that need their CPU for themselves, one at a time", place: OneAtATime, limit: minutes(30), run: suites::by_itself },
    Stage { name: "static-aarch64", about: "static program for 64-bit Arm, started", place: Filling, limit: minutes(30), run: static_builds::aarch64 },
    Stage { name: "static-armv7", about: "static program for 32-bit Arm, started", place: Filling, limit: minutes(30), run: static_builds::armv7 },
    Stage { name: "32-bit", about: "what only computes passes on 32 bits, the loop's library too", place: Filling, limit: minutes(30), run: suites::narrow },
    Stage { name: "machine", about: "rooms whose tests run real loops, loads and tracers", place: Alone, limit: minutes(30), run: suites::machine },
    Stage { name: "gpu-load", about: "the load of a GPU, on simulated devices if there is no real one", place: Alone, limit: minutes(5), run: gpu::load },
    Stage { name: "alone", about: "tests that need the machine's memory for themselves", place: Alone, limit: minutes(10), run: suites::alone },
    Stage { name: "peer", about: "short comparison of wakepath with cyclictest", place: Alone, limit: minutes(5), run: peer::smoke },
    Stage { name: "kills", about: "some 350 kills of processes of runs, watches and tunings, counted", place: Deep, limit: minutes(60), run: suites::kills },
    Stage { name: "planted", about: "thousands of runs with one trouble planted in any segment, and disks of 60 sizes: none passes, counted", place: Deep, limit: minutes(30), run: suites::planted },
    Stage { name: "languages", about: "loops in Rust, C++ and Python at once for ten minutes, one killed, one stopped; samples counted", place: Deep, limit: minutes(15), run: suites::languages },
    Stage { name: "ethercat", about: "process data exchanged at 1 kHz for ten minutes, each exchange accounted for", place: Deep, limit: minutes(15), run: suites::ethercat },
    Stage { name: "experiments", about: "each published experiment in its short form, on this machine", place: Deep, limit: minutes(60), run: suites::experiments },
    Stage { name: "causes", about: "causes of lateness injected into 203 programs, two in each: named first, and their time charged to them", place: Deep, limit: minutes(60), run: causes::campaign },
    Stage { name: "repetition", about: "200 runs each of a stock and an RT kernel while 16 busy programs run, one digest", place: Deep, limit: minutes(240), run: suites::repetition },
    Stage { name: "verdicts", about: "how often a verdict is wrong where misses depend on each other, up to a million due times", place: Deep, limit: minutes(40), run: suites::verdicts },
    Stage { name: "sweeps", about: "simulates the accepted ones of a million random task sets; a sweep on a Dask cluster", place: Deep, limit: minutes(20), run: suites::sweeps },
    Stage { name: "played-sets", about: "each proved pair of features of a task set under each policy, 20 000 random sets played", place: Deep, limit: minutes(90), run: suites::played_sets },
    Stage { name: "coverage", about: "how often printed bounds hold, over 50 families of series with a known law", place: Deep, limit: minutes(30), run: suites::coverage },
    Stage { name: "fleet-questions", about: "wakepath-fleet with its engine and buckets, and a Spark cluster with an executor killed", place: Deep, limit: minutes(60), run: fleet::questions },
    Stage { name: "service", about: "100 million cycles of a service, a day of 1 kHz, in bounded memory and room", place: Deep, limit: minutes(20), run: suites::service },
    Stage { name: "fleet-night", about: "500 runs on 20 boards in namespaces, links cut, controllers killed; each accounted for; a place in labgrid", place: Deep, limit: minutes(60), run: fleet::night },
    Stage { name: "fuzz", about: "random scenarios, recordings, seals, imports, journals and kernel files, led by coverage, for 34 minutes", place: Deep, limit: minutes(50), run: fuzzing::fuzz },
    Stage { name: "released-arm", about: "static programs for Arm as released: started, its size limited", place: Deep, limit: minutes(30), run: static_builds::released_arm },
    Stage { name: "packages", about: "packages, wheel and installer, tried in a clean root; every crate packed", place: Deep, limit: minutes(20), run: packages::of_this_machine },
    Stage { name: "released-packages", about: "a release's artefacts for three machines, Arm in the emulator", place: Deep, limit: minutes(150), run: packages::as_released },
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

/// Runs all stages, with `--deep` the long ones too, or those given by `--only`.
pub fn test(mut arguments: Arguments) -> Result<ExitCode, String> {
    let only = arguments.texts("--only")?;
    let deep = arguments.flag("--deep");
    arguments.end()?;
    for name in &only {
        if !STAGES.iter().any(|stage| stage.name == name) {
            return Err(format!(
                "there is no stage {name:?}; `cargo xtask list` lists them"
            ));
        }
    }
    let chosen = |stage: &&Stage| {
        if only.is_empty() {
            deep || stage.place != Deep
        } else {
            only.iter().any(|name| name == stage.name)
        }
    };
    runner::run(&STAGES.iter().filter(chosen).collect::<Vec<_>>())
}
