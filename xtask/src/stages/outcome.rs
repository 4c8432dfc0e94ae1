//! Outcome of a stage.

use super::counts::{Counts, Tests};
use super::repeated::Doubt;
use crate::job::Finished;

/// Outcome of a stage, with individual tests if they can be counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Individual tests.
    pub counts: Counts,
    /// Whether nothing of it could run.
    pub not_run: bool,
    /// Failed or skipped parts with reasons; notable figures.
    pub notes: Vec<String>,
    /// Failed tests that are repeated when nothing else runs.
    pub doubts: Vec<Doubt>,
}

impl Outcome {
    /// Nothing could be run. It counts as one skipped.
    pub fn not_run(why: impl Into<String>) -> Self {
        Self {
            counts: Counts {
                skipped: 1,
                ..Counts::default()
            },
            not_run: true,
            notes: vec![why.into()],
            doubts: Vec::new(),
        }
    }

    /// One check that can't be counted further.
    pub fn new(failure: Option<String>) -> Self {
        let failed = u64::from(failure.is_some());
        Self {
            counts: Counts {
                passed: 1 - failed,
                failed,
                skipped: 0,
            },
            not_run: false,
            notes: failure.into_iter().collect(),
            doubts: Vec::new(),
        }
    }

    /// A run of cargo's tests. One that fails without a failed test (it did not compile) and one
    /// that ran no test both count as a failure.
    pub fn of_tests(finished: &Finished) -> Self {
        let Tests {
            mut counts,
            not_run,
            failed,
        } = Tests::of_cargo_test(&finished.output);
        let mut notes: Vec<String> = not_run
            .into_iter()
            .map(|test| format!("not run: {test}"))
            .chain(failed)
            .collect();
        let failure = match &finished.failure {
            None if counts == Counts::default() => Some("no test was run".to_owned()),
            other => other.clone(),
        };
        if let Some(failure) = failure {
            counts.failed = counts.failed.max(1);
            notes.push(failure);
        }
        Self {
            counts,
            not_run: false,
            notes,
            doubts: Vec::new(),
        }
    }

    /// A run of one test program, which might have no test.
    pub fn of_test_program(finished: &Finished) -> Self {
        match &finished.failure {
            None if Tests::of_cargo_test(&finished.output).counts == Counts::default() => {
                Self::default()
            }
            _ => Self::of_tests(finished),
        }
    }

    /// With this name before each remark.
    pub fn named(mut self, name: &str) -> Self {
        for note in &mut self.notes {
            *note = format!("{name}: {note}");
        }
        self
    }

    /// A failure if no test was run.
    pub fn of_some(self) -> Self {
        if self.counts == Counts::default() {
            self.and(Self::new(Some("no test was run".into())))
        } else {
            self
        }
    }

    /// Both together.
    pub fn and(mut self, other: Self) -> Self {
        self.counts = self.counts + other.counts;
        self.not_run &= other.not_run;
        self.notes.extend(other.notes);
        self.doubts.extend(other.doubts);
        self
    }

    /// With a test passed that failed at first, for the reason in `how`, and passed when repeated.
    pub fn with_repeated(mut self, test: &str, how: &str) -> Self {
        self.counts.failed = self.counts.failed.saturating_sub(1);
        self.counts.passed += 1;
        let failed = format!("FAILED {test}:");
        let said = format!("failed {how}: {test}: at first");
        for note in &mut self.notes {
            *note = note.replace(&failed, &said);
        }
        if !self.failed() {
            self.notes.retain(|note| !note.contains(": exit status: "));
        }
        self
    }

    /// With a figure or a remark.
    pub fn noting(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Whether anything failed.
    pub fn failed(&self) -> bool {
        self.counts.failed > 0
    }

    /// The word for it.
    pub fn word(&self) -> &'static str {
        match (self.failed(), self.not_run) {
            (true, _) => "FAILED",
            (false, true) => "not run",
            (false, false) => "passed",
        }
    }
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
    fn a_compile_error_and_a_run_without_tests_are_failures() {
        assert!(Outcome::of_tests(&finished("error[E0425]", Some("exit 101"))).failed());
        assert!(Outcome::of_tests(&finished("", None)).failed());
    }

    #[test]
    fn a_stage_of_which_a_part_ran_is_not_called_not_run() {
        let both = Outcome::not_run("no such tool").and(Outcome::new(None));
        assert_eq!(both.word(), "passed");
        assert_eq!(
            both.counts,
            Counts {
                passed: 1,
                failed: 0,
                skipped: 1
            }
        );
    }
}
