//! `cargo xtask`: tests, benchmarks, generated documents and releases.
//!
//! It installs nothing: `./test` sets up what a stage needs, and a stage without its tools reports
//! that it was not run.

mod arguments;
mod bench;
mod descendants;
mod documents;
mod experiments;
mod job;
mod place;
mod python;
mod release;
mod stages;
mod table;
mod tools;
mod words;

use arguments::Arguments;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <command>

  list                     the stages of the tests
  test [--only STAGE]...   run all stages, or only these
        [--deep]           the long ones too: kills, fuzzing, Arm as released
  bench peer               wakepath compared with cyclictest
        [--rounds N] [--seconds S] [--cpu C] [--program PATH]
  bench rate               the highest rate that a loop keeps on this machine
        [--runs N] [--seconds S] [--cpu C] [--program PATH]
  bench hunt               branches an hour of `lab hunt`, guided and random
        [--kernel K] [--for TIME] [--seeds N] [--jobs N] [--program PATH]
        [--until FUNCTION] [--module M] [--modules DIR] [--calls FILE] [--programs N]
  bench first-verdict      from a fresh clone to the first verdict
        [--duration TIME]  the run's own length, as in `wakepath check --duration`
  bench flight             controller, plant and replay, compared with RotorPy's same law
        [--without-rotorpy]
  bench fleet              exact quantiles of a fleet's samples, compared with DuckDB and numpy
        [--samples N]...   by default a million, ten millions, a hundred millions
  bench recording          cost of logging and recording for a loop whose disk or recorder fails, compared with spdlog
        [--seconds S] [--program PATH]
  bench probe              cost of tracing for a loop, compared with plain tracefs and perf
        [--rounds N] [--seconds S] [--cpu C] [--program PATH]
  bench causes             causes of lateness injected at random, two in a program: how often they are named first
        [--programs N] [--cycles N] [--seed N] [--cpu C] [--kind NAME]... [--program PATH]
  bench chains             the same causes in a thread of a chain of three, each kind in the middle and at the end
        [--cycles N] [--seed N] [--cpu C] [--kind NAME]... [--program PATH]
  bench healthy            healthy programs, watched: false causes and fixes
        [--seconds S] [--program PATH]
  docs [--check]           write the generated documents, or fail if they drifted
  experiments [--check]    write the page of published experiments, or compare the committed one with it
        [--program PATH]   takes an hour of CPU time, and resumes if it was interrupted
  budgets                  words of each page that people write, and of how many it can have
  words                    phrases of translated English in pages and printed strings, with better ones
  release                  static programs, archives, packages, wheels, installer, check sums
        [--only TARGET]... [--into DIRECTORY]
        [--alone gpu|fleet]              the program for a GPU or a fleet, and nothing else
        [--program PATH] [--host PATH]   packed as they are, instead of built
        [--version V]      another than the workspace's, to try upgrades
        [--quickly]        hardly compressed, to be tried";

fn main() -> ExitCode {
    let mut arguments = Arguments::of_this_process();
    let outcome = match arguments.word().as_deref() {
        Some("list") => arguments.end().map(|()| stages::list()),
        Some("test") => stages::test(arguments),
        Some("bench") => match arguments.word().as_deref() {
            Some("peer") => bench::peer::run(arguments),
            Some("rate") => bench::rate::run(arguments),
            Some("hunt") => bench::hunt::run(arguments),
            Some("first-verdict") => bench::first_verdict::run(arguments),
            Some("flight") => bench::flight::run(arguments),
            Some("fleet") => bench::fleet::run(arguments),
            Some("probe") => bench::probe::run(arguments),
            Some("causes") => bench::causes::run(arguments),
            Some("chains") => bench::causes::chains::run(arguments),
            Some("healthy") => bench::healthy::run(arguments),
            Some("recording") => bench::recording::run(arguments),
            _ => Err(USAGE.into()),
        },
        Some("docs") => documents::run(arguments),
        Some("experiments") => experiments::run(arguments),
        Some("budgets") => arguments.end().and_then(|()| documents::budgets::run()),
        Some("words") => words::run(arguments),
        Some("release") => release::run(arguments),
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
