//! Runs failed tests again when nothing else runs, each alone.
//!
//! Once if the machine stalled during the first attempt, three times if it didn't. A test that then
//! passes every time counts as passed, and its first output is shown; one that fails again has
//! failed. A repetition that fails while the machine stalls again counts neither way.

use super::counts::Tests;
use super::outcome::Outcome;
use super::stalls::Stalls;
use crate::job::Job;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// From this on a stall is long enough to fail a test that measures time.
const STALL: Duration = Duration::from_millis(100);
/// How often a test must pass that failed without one. The tests of a room disturb one another and the
/// machine's neighbours all of them; a fault that shows in one of two runs is passed in one of eight.
const TIMES: usize = 3;
/// More failures than this in one program are no accident.
const MOST: usize = 8;
/// Most repetitions that stalls may spoil.
const SPOILT: usize = 3;

/// A failed test that is to be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// Its name.
    pub test: String,
    stall: Duration,
    program: OsString,
    directory: Option<PathBuf>,
    /// Variables of its program that are set, and those that are removed.
    variables: Vec<(OsString, Option<OsString>)>,
}

/// The outcome of `command` with `output`, whose failed tests are in doubt because of a stall of this
/// length while they ran.
pub fn doubted(mut first: Outcome, command: &Command, output: &str, stall: Duration) -> Outcome {
    let failed = Tests::of_cargo_test(output).names_of_failed();
    if failed.len() > MOST || failed.len() as u64 != first.counts.failed {
        return first;
    }
    let owned = |text: &std::ffi::OsStr| text.to_owned();
    let doubt = |test| Doubt {
        test,
        stall,
        program: command.get_program().to_owned(),
        directory: command.get_current_dir().map(Into::into),
        variables: command
            .get_envs()
            .map(|(name, value)| (name.to_owned(), value.map(owned)))
            .collect(),
    };
    first.doubts = failed.into_iter().map(doubt).collect();
    first
}

/// The outcome after its doubtful tests were repeated.
pub fn until_sure(job: &Job, mut outcome: Outcome) -> Outcome {
    for doubt in std::mem::take(&mut outcome.doubts) {
        if doubt.passes(job) {
            outcome = outcome.with_repeated(&doubt.test, &doubt.how());
        }
    }
    outcome
}

impl Doubt {
    /// How often it must pass.
    fn times(&self) -> usize {
        if self.stall >= STALL { 1 } else { TIMES }
    }

    /// How it failed and passed.
    fn how(&self) -> String {
        if self.stall >= STALL {
            format!(
                "while the machine stalled for {:.2} s, passed when repeated",
                self.stall.as_secs_f64()
            )
        } else {
            format!("once, passed {TIMES} times when repeated alone")
        }
    }

    /// Repeats it.
    fn passes(&self, job: &Job) -> bool {
        let (mut passed, mut spoilt) = (0, 0);
        while passed < self.times() {
            let watch = Stalls::watch();
            let again = job.run(&mut self.alone());
            let stalled = watch.end() >= STALL;
            if again.failure.is_none() && Tests::of_cargo_test(&again.output).counts.passed == 1 {
                passed += 1;
            } else if stalled && spoilt < SPOILT {
                spoilt += 1;
            } else {
                return false;
            }
        }
        true
    }

    /// The same program with the same variables, for one test.
    fn alone(&self) -> Command {
        let mut one = Command::new(&self.program);
        one.args(["--exact", &self.test, "--include-ignored"]);
        one.args(["--test-threads=1", "--show-output"]);
        if let Some(directory) = &self.directory {
            one.current_dir(directory);
        }
        for (name, value) in &self.variables {
            match value {
                Some(value) => one.env(name, value),
                None => one.env_remove(name),
            };
        }
        one
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    /// Outcome of a failed test that always passes from now on, or never.
    fn after(stall: Duration, passes_now: bool) -> (Outcome, PathBuf) {
        if passes_now {
            after_script(
                stall,
                "echo 'test result: ok. 1 passed; 0 failed; 0 ignored'",
            )
        } else {
            after_script(stall, "exit 101")
        }
    }

    /// Outcome of a failed test program that is this script, run in a separate directory.
    fn after_script(stall: Duration, script: &str) -> (Outcome, PathBuf) {
        static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("repeated-{}-{count}", std::process::id());
        let place = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&place).expect("a place");
        let job = Job::new(place.join("log"), Duration::from_secs(20)).expect("a log");
        let failed = "failures:\n\n---- late ----\nwas late\n\nfailures:\n    late\n\n\
                      test result: FAILED. 4 passed; 1 failed; 0 ignored\n";
        let program = place.join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a script");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, mode).expect("a mode");
        let finished = crate::job::Finished {
            output: failed.into(),
            failure: Some("exit status: 101".into()),
        };
        let first = Outcome::of_test_program(&finished);
        let mut command = Command::new(program);
        let doubted = doubted(first, command.current_dir(&place), failed, stall);
        assert!(doubted.failed());
        (until_sure(&job, doubted.named("a/program")), place)
    }

    #[test]
    fn a_failure_is_repeated_until_it_fails_again() {
        for (milliseconds, passes, failed) in [
            (20, true, 0),
            (20, false, 1),
            (300, true, 0),
            (300, false, 1),
        ] {
            let (outcome, place) = after(Duration::from_millis(milliseconds), passes);
            std::fs::remove_dir_all(place).expect("it is there");
            assert_eq!(outcome.counts.failed, failed, "{outcome:?}");
            assert_eq!(outcome.counts.passed, 5 - failed);
            let said = outcome.notes.iter().any(|note| note.contains("was late"));
            assert!(said, "{outcome:?}");
            let named = outcome
                .notes
                .iter()
                .any(|note| note.contains("when repeated"));
            assert_eq!(named, passes, "{outcome:?}");
        }
    }

    #[test]
    fn without_a_stall_one_more_failure_in_three_runs_is_enough() {
        let (outcome, place) = after_script(
            Duration::ZERO,
            "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; \
             [ \"$n\" != 2 ] && echo 'test result: ok. 1 passed; 0 failed; 0 ignored' || exit 101",
        );
        std::fs::remove_dir_all(place).expect("it is there");
        assert_eq!(outcome.counts.failed, 1, "{outcome:?}");
    }
}
