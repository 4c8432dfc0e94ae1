//! Tests that failed while the machine stood still are run once more, each alone: one that then
//! passes is counted as passed, and named with what it said at first. Where the machine ran on, a
//! failure is a failure, and so is one that comes twice.

use super::counts::Tests;
use super::outcome::Outcome;
use crate::job::Job;
use std::process::Command;
use std::time::Duration;

/// From this on a stall is long enough to fail a test that measures time.
const STALL: Duration = Duration::from_millis(100);
/// More failures than these are no accident.
const MOST: usize = 3;

/// What `first`, the outcome of `command` with `output`, becomes: repeated where that is fair.
pub fn after_a_stall(
    job: &Job,
    command: &Command,
    output: &str,
    first: Outcome,
    stall: Duration,
) -> Outcome {
    let failed = Tests::of_cargo_test(output).names_of_failed();
    if failed.is_empty()
        || failed.len() > MOST
        || failed.len() as u64 != first.counts.failed
        || stall < STALL
    {
        return first;
    }
    let passed_now = |name: &String| {
        let again = job.run(&mut alone(command, name));
        again.failure.is_none() && Tests::of_cargo_test(&again.output).counts.passed == 1
    };
    let repeated: Vec<String> = failed.into_iter().filter(passed_now).collect();
    first.with_repeated(&repeated, stall)
}

/// The same program with the same variables, for one test.
fn alone(command: &Command, test: &str) -> Command {
    let mut one = Command::new(command.get_program());
    one.args(["--exact", test, "--include-ignored"]);
    one.args(["--test-threads=1", "--show-output"]);
    if let Some(directory) = command.get_current_dir() {
        one.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => one.env(name, value),
            None => one.env_remove(name),
        };
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// A test program of one test, which fails while there is no file beside it and makes it.
    fn after(stall: Duration, passes_twice: bool) -> (Outcome, PathBuf) {
        let place = std::env::temp_dir().join(format!(
            "repeated-{}-{}-{passes_twice}",
            std::process::id(),
            stall.as_millis()
        ));
        std::fs::create_dir_all(&place).expect("a place");
        let job = Job::new(place.join("log"), Duration::from_secs(20)).expect("a log");
        let failed = "failures:\n\n---- late ----\nwas late\n\nfailures:\n    late\n\n\
                      test result: FAILED. 4 passed; 1 failed; 0 ignored\n";
        let passed = "test result: ok. 1 passed; 0 failed; 0 ignored";
        let script = match passes_twice {
            true => format!("echo '{passed}'"),
            false => "exit 101".into(),
        };
        let program = place.join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("a mode");
        let finished = crate::job::Finished {
            output: failed.into(),
            failure: Some("exit status: 101".into()),
        };
        let first = Outcome::of_test_program(&finished);
        let outcome = after_a_stall(&job, &Command::new(program), failed, first, stall);
        (outcome, place)
    }

    #[test]
    fn a_failure_is_repeated_only_where_the_machine_stood_still() {
        for (milliseconds, passes, failed) in [(20, true, 1), (300, false, 1), (300, true, 0)] {
            let (outcome, place) = after(Duration::from_millis(milliseconds), passes);
            std::fs::remove_dir_all(place).expect("it is there");
            assert_eq!(outcome.counts.failed, failed, "{outcome:?}");
            assert_eq!(outcome.counts.passed, 5 - failed);
            let said = outcome.notes.iter().any(|note| note.contains("was late"));
            assert!(said, "{outcome:?}");
        }
    }
}
