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

use arguments::Arguments;
use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <command>

  list                     the stages of the tests
  test [--only STAGE]...   run all stages, or only these
        [--deep]           the long ones too: kills, fuzzing, Arm as released
  bench peer               wakepath beside cyclictest
        [--rounds N] [--seconds S] [--cpu C] [--program PATH]
  bench rate               the highest rate that a loop keeps on this machine
        [--runs N] [--seconds S] [--cpu C] [--program PATH]
  bench first-verdict      from a fresh clone to the first verdict
        [--duration TIME]  the run's own length, as in `wakepath check --duration`
  bench flight             controller, plant and replay, beside RotorPy's same law
        [--without-rotorpy]
  bench fleet              exact quantiles of a fleet's samples, beside DuckDB and numpy
        [--samples N]...   by default a million, ten millions, a hundred millions
  bench recording          what logging and recording cost a loop whose disk or recorder fails, beside spdlog
        [--seconds S] [--program PATH]
  bench probe              what tracing costs a loop, beside plain tracefs and perf
        [--rounds N] [--seconds S] [--cpu C] [--program PATH]
  bench causes             causes of lateness injected at random, two in a program: how often they are named first
        [--programs N] [--cycles N] [--seed N] [--cpu C] [--kind NAME]... [--program PATH]
  docs [--check]           write the generated documents, or fail where they drifted
  experiments [--check]    write the page of published experiments anew, or hold the committed one against it
        [--program PATH]   takes an hour of CPU time, and goes on where it was cut off
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
            Some("first-verdict") => bench::first_verdict::run(arguments),
            Some("flight") => bench::flight::run(arguments),
            Some("fleet") => bench::fleet::run(arguments),
            Some("probe") => bench::probe::run(arguments),
            Some("causes") => bench::causes::run(arguments),
            Some("recording") => bench::recording::run(arguments),
            _ => Err(USAGE.into()),
        },
        Some("docs") => documents::run(arguments),
        Some("experiments") => experiments::run(arguments),
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
