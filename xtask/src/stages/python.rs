//! The Python package, compiled once and tried by pytest on each Python that has an environment for it
//! (`./test` makes those); its Rust by clippy.

use super::outcome::Outcome;
use crate::bench::released_program;
use crate::job::{Finished, Job};
use crate::tools::{missing_target, succeeds, wait_for_set_up};
use crate::{place, python};
use std::path::PathBuf;
use std::process::Command;

/// Builds it and runs its tests.
pub fn package(job: &Job) -> Outcome {
    wait_for_set_up();
    let pythons = pythons();
    if pythons.is_empty() {
        return Outcome::not_run("no Python with pytest here");
    }
    if let Some(why) = missing_target(&place::static_target()) {
        return Outcome::not_run(why);
    }
    let (mut build, compiled) = python::quick_build();
    if let Some(failure) = job.run(&mut build).failure {
        return Outcome::new(Some(failure));
    }
    let mut lints = python::command("clippy");
    lints
        .arg("--target-dir")
        .arg(place::target().join("python"));
    let lints = job.run(lints.args(["--", "-D", "warnings"]));
    let package = place::target().join("python/package");
    if let Err(error) = python::lay_out(&compiled, &package) {
        return Outcome::new(Some(error));
    }
    let program = match released_program(|build| job.carry_out(build)) {
        Ok(program) => program,
        Err(error) => return Outcome::new(Some(error)),
    };
    let tried = pythons.iter().map(|python| {
        let finished = job.run(
            Command::new(python)
                .args([
                    "-m",
                    "pytest",
                    "-q",
                    "-rs",
                    "-p",
                    "no:cacheprovider",
                    "python/tests",
                ])
                .current_dir(place::root())
                .env("PYTHONPATH", &package)
                .env("PYTHONDONTWRITEBYTECODE", "1")
                .env("WAKEPATH_BINARY", &program),
        );
        of_pytest(&finished).named(&version(python))
    });
    tried.fold(Outcome::new(lints.failure), Outcome::and)
}

/// The interpreters that can run the tests: those of the environments, or the one on the path.
fn pythons() -> Vec<PathBuf> {
    let environments = std::fs::read_dir(place::target().join("python-environments"));
    let mut found: Vec<PathBuf> = environments
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin/python"))
        .collect();
    found.sort();
    found.retain(has_pytest);
    if found.is_empty() {
        found.extend(["python3", "/usr/bin/python3"].map(PathBuf::from));
        found.retain(has_pytest);
        found.truncate(1);
    }
    found
}

fn has_pytest(python: &PathBuf) -> bool {
    let asked = "import pytest, sys; assert sys.version_info >= (3, 9)";
    succeeds(Command::new(python).args(["-c", asked]))
}

fn version(python: &PathBuf) -> String {
    let asked = "import platform; print('Python', platform.python_version())";
    let output = Command::new(python).args(["-c", asked]).output();
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    said.unwrap_or_else(|_| python.display().to_string())
}

/// The counts in pytest's output.
fn of_pytest(finished: &Finished) -> Outcome {
    let mut outcome = Outcome::default();
    for line in finished.output.lines() {
        if let Some(skipped) = line.strip_prefix("SKIPPED ") {
            let reason = skipped.split_once(": ").map_or(skipped, |(_, why)| why);
            outcome.notes.push(format!("not run: {reason}"));
        } else if line.starts_with("FAILED ") || line.starts_with("ERROR ") {
            outcome.notes.push(line.to_owned());
        } else if line.contains(" in ") && line.trim_end().ends_with('s') {
            let summary = line.trim_matches([' ', '=']).split(" in ").next();
            for part in summary.unwrap_or("").split(", ") {
                match part.split_once(' ') {
                    Some((count, "passed")) => outcome.counts.passed = number(count),
                    Some((count, "failed" | "error" | "errors")) => {
                        outcome.counts.failed += number(count);
                    }
                    Some((count, "skipped")) => outcome.counts.skipped = number(count),
                    _ => {}
                }
            }
        }
    }
    match &finished.failure {
        Some(failure) if !outcome.failed() => outcome.and(Outcome::new(Some(failure.clone()))),
        _ => outcome.of_some(),
    }
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(output: &str, failure: Option<&str>) -> Finished {
        Finished {
            output: output.into(),
            failure: failure.map(Into::into),
        }
    }

    #[test]
    fn what_passed_failed_and_was_not_run_is_counted_and_named() {
        let output = "..F.s   [100%]\n\
            SKIPPED [1] python/tests/test_runs.py:44: could not import 'numpy': No module named 'numpy'\n\
            FAILED python/tests/test_loop.py::test_a - assert 1 == 2\n\
            1 failed, 3 passed, 1 skipped in 2.01s\n";
        let outcome = of_pytest(&finished(output, Some("exit status: 1")));
        let counts = outcome.counts;
        assert_eq!((counts.passed, counts.failed, counts.skipped), (3, 1, 1));
        assert_eq!(
            outcome.notes,
            [
                "not run: could not import 'numpy': No module named 'numpy'",
                "FAILED python/tests/test_loop.py::test_a - assert 1 == 2"
            ]
        );
    }

    #[test]
    fn tests_that_did_not_begin_are_a_failure() {
        assert!(of_pytest(&finished("INTERNALERROR", Some("exit status: 3"))).failed());
        assert!(of_pytest(&finished("no tests ran in 0.01s\n", None)).failed());
    }
}
