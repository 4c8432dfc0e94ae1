//! Counts individual tests in the output of cargo's test runner.

use std::collections::BTreeSet;
use std::ops::Add;

/// Numbers of passed, failed and skipped tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

/// The counts in the output of cargo's tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tests {
    /// Their numbers.
    pub counts: Counts,
    /// Tests that report they weren't run, with their reason.
    pub not_run: Vec<String>,
    /// The failed ones, with the beginning of their output.
    pub failed: Vec<String>,
}

impl Tests {
    /// The sum over all `test result:` lines. Ignored tests count as skipped; so does a test that
    /// reports "not run" (visible with `--show-output`), although the runner counts it as passed.
    pub fn of_cargo_test(output: &str) -> Self {
        let mut counts = Counts::default();
        let mut said = Vec::new();
        let mut failed: Vec<String> = Vec::new();
        let mut not_run = BTreeSet::new();
        let mut current: Option<(usize, &str)> = None;
        let mut failures = false;
        let mut runner = 0;
        let mut last_begun = "";
        for line in output.lines() {
            if let Some((name, rest)) = begun(line) {
                last_begun = name;
                if let Some(why) = ignored(rest) {
                    said.push(format!("{name}: {why}"));
                }
            } else if let Some(why) = ignored(line) {
                said.push(format!("{last_begun}: {why}"));
            } else if let Some(result) = line.strip_prefix("test result: ") {
                counts = counts + of_result(result);
                (runner, current, failures) = (runner + 1, None, false);
            } else if let Some(name) = section(line) {
                current = Some((runner, name));
                if failures {
                    failed.push(format!("FAILED {name}:"));
                }
            } else if matches!(line, "successes:" | "failures:") {
                (failures, current) = (line == "failures:", None);
            } else if let Some(test) = current {
                if line.to_ascii_lowercase().starts_with("not run") {
                    said.push(format!("{}: {}", test.1, reason(line)));
                    not_run.insert(test);
                } else if let Some(last) = failed.last_mut()
                    && failures
                    && last.len() < FAILURE_BYTES
                    && !line.trim().is_empty()
                {
                    last.push(' ');
                    last.push_str(line.trim());
                }
            }
        }
        // A test that fails after such a line is a failure; the runner doesn't count it as passed.
        let moved = (not_run.len() as u64).min(counts.passed);
        counts.passed -= moved;
        counts.skipped += moved;
        Self {
            counts,
            not_run: said,
            failed,
        }
    }
}

impl Tests {
    /// The names of those that failed.
    pub fn names_of_failed(&self) -> Vec<String> {
        let name = |said: &String| {
            let name = said.strip_prefix("FAILED ")?.split_whitespace().next()?;
            name.strip_suffix(':').map(str::to_owned)
        };
        self.failed.iter().filter_map(name).collect()
    }
}

/// Length after which no further line of a failed test is repeated: its message and not its log.
const FAILURE_BYTES: usize = 500;

/// The test whose output follows: `---- name stdout ----`, or `---- name ----` from a runner that
/// captures nothing.
fn section(line: &str) -> Option<&str> {
    let name = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    Some(name.strip_suffix(" stdout").unwrap_or(name))
}

/// The start of a test, and the rest of its line: `test name ... ok`.
fn begun(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ...")?;
    Some((name.trim_end(), rest.trim_start()))
}

/// The reason in `ignored (why)`, by which a test's runner reports that it wasn't run. Rust's own
/// runner prints `ignored, why` for tests marked as ignored in the source; those don't depend on
/// this machine.
fn ignored(result: &str) -> Option<&str> {
    result.strip_prefix("ignored (")?.strip_suffix(')')
}

fn reason(line: &str) -> &str {
    line["not run".len()..].trim_start_matches(':').trim_start()
}

/// From `ok. 3 passed; 0 failed; 1 ignored; …`.
fn of_result(result: &str) -> Counts {
    let of = |what: &str| {
        result
            .split([';', '.'])
            .filter_map(|part| part.trim().strip_suffix(what)?.trim().parse::<u64>().ok())
            .next()
            .unwrap_or(0)
    };
    Counts {
        passed: of("passed"),
        failed: of("failed"),
        skipped: of("ignored"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_several_test_programs_are_summed() {
        let output = "\
running 4 tests
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.1s
test result: FAILED. 2 passed; 5 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1s
";
        let Tests {
            counts, not_run, ..
        } = Tests::of_cargo_test(output);
        assert_eq!(
            counts,
            Counts {
                passed: 5,
                failed: 5,
                skipped: 1
            }
        );
        assert!(not_run.is_empty());
    }

    #[test]
    fn a_test_that_says_it_was_not_run_is_skipped_once_and_not_passed() {
        let output = "\
successes:

---- a_loop_under_fifo stdout ----
not run: no privilege
NOT RUN on ext4: no privilege

---- another stdout ----
all of it was run

successes:
    a_loop_under_fifo
    another

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out
";
        let Tests {
            counts, not_run, ..
        } = Tests::of_cargo_test(output);
        assert_eq!(
            counts,
            Counts {
                passed: 1,
                failed: 0,
                skipped: 1
            }
        );
        assert_eq!(
            not_run,
            [
                "a_loop_under_fifo: no privilege",
                "a_loop_under_fifo: on ext4: no privilege"
            ]
        );
    }

    #[test]
    fn a_failed_test_is_named_with_what_it_said() {
        let output = "\
successes:

---- well stdout ----
fine

successes:
    well

failures:

---- archive::a_size stdout ----

thread 'archive::a_size' panicked at crates/archive/tests/size.rs:12:5:
assertion failed: bytes < 3

failures:
    archive::a_size

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out
";
        assert_eq!(
            Tests::of_cargo_test(output).failed,
            [
                "FAILED archive::a_size: thread 'archive::a_size' panicked at \
              crates/archive/tests/size.rs:12:5: assertion failed: bytes < 3"
            ]
        );
    }

    #[test]
    fn failed_tests_are_known_by_name() {
        let output = "failures:\n\n---- a::b ----\nwas: late\n\n---- c stdout ----\n\n";
        let found = Tests::of_cargo_test(output);
        assert_eq!(found.names_of_failed(), ["a::b", "c"]);
    }

    #[test]
    fn a_test_that_its_runner_calls_ignored_for_a_reason_is_named_with_it() {
        let output = "\
test this_kernel::one      ... ignored (tracefs can't be mounted)
test this_kernel::another  ... some output
ignored (no right)
test this_kernel::third    ... ok
test result: ok. 1 passed; 0 failed; 3 ignored; 0 measured; 0 filtered out

failures:

---- this_kernel::fourth ----
panicked at x.rs:3:4: no
";
        let found = Tests::of_cargo_test(output);
        assert_eq!((found.counts.passed, found.counts.skipped), (1, 3));
        assert_eq!(
            found.not_run,
            [
                "this_kernel::one: tracefs can't be mounted",
                "this_kernel::another: no right"
            ]
        );
        assert_eq!(
            found.failed,
            ["FAILED this_kernel::fourth: panicked at x.rs:3:4: no"]
        );
    }

    #[test]
    fn equal_names_in_two_test_programs_are_two_tests() {
        let one =
            "---- same stdout ----\nnot run: x\ntest result: ok. 1 passed; 0 failed; 0 ignored\n";
        let counts = Tests::of_cargo_test(&one.repeat(2)).counts;
        assert_eq!(
            counts,
            Counts {
                passed: 0,
                failed: 0,
                skipped: 2
            }
        );
    }
}
