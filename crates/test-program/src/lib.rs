//! A test program whose tests can say that they were not run: for want of a right, a program, a kernel
//! with tracefs. Rust's own test runner knows passed and failed only once a test has begun, and would
//! show such a test as passed. This one takes the same arguments, and prints `ignored` with the reason.
//!
//! A room with such tests sets `harness = false` for its test program, lists each module's tests with
//! [`tests!`] and runs them with [`program!`]. It is not for tests that need nothing but a CPU: `#[test]`
//! serves those. A `#[test]` in such a program would never run, so that the program refuses to.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::any::Any;
use std::cell::Cell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::ExitCode;

/// One test.
#[derive(Debug, Clone, Copy)]
pub struct Test {
    module: &'static str,
    name: &'static str,
    run: fn(),
    ignored: bool,
}

impl Test {
    /// A test of a module, which its runner leaves alone unless it is asked for ignored ones.
    pub const fn new(module: &'static str, name: &'static str, run: fn(), ignored: bool) -> Self {
        Self {
            module,
            name,
            run,
            ignored,
        }
    }

    /// Its name within its module.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its name as Rust's own runner writes it: without the program's.
    fn path(&self) -> String {
        match self.module.split_once("::") {
            Some((_, module)) => format!("{module}::{}", self.name),
            None => self.name.to_owned(),
        }
    }

    fn trial(self) -> Trial {
        Trial::ignorable_test(self.path(), move || outcome(self.run))
            .with_ignored_flag(self.ignored)
    }
}

/// Lists the tests of a module: `tests![one, another]`, those that are ignored after a semicolon.
#[macro_export]
macro_rules! tests {
    ($($test:ident),* $(,)? $(; $($ignored:ident),* $(,)?)?) => {
        /// The tests of this module.
        pub const TESTS: &[$crate::Test] = &[
            $($crate::Test::new(module_path!(), stringify!($test), $test, false),)*
            $($($crate::Test::new(module_path!(), stringify!($ignored), $ignored, true),)*)?
        ];
    };
}

/// The `main` of a test program, from its modules' lists.
#[macro_export]
macro_rules! program {
    ($($tests:expr),* $(,)?) => {
        fn main() -> std::process::ExitCode {
            $crate::run(concat!(env!("CARGO_MANIFEST_DIR"), "/tests"), &[$($tests),*])
        }
    };
}

/// Ends the test that calls this as not run, on whichever thread that rethrows to the test's.
pub fn not_run(why: impl Display) -> ! {
    // No panic: nothing is wrong, and nothing is to be printed.
    resume_unwind(Box::new(NotRun(why.to_string())))
}

struct NotRun(String);

thread_local! {
    static PLACE: Cell<Option<String>> = const { Cell::new(None) };
}

/// Runs what the arguments of this process ask for.
pub fn run(sources: &str, modules: &[&[Test]]) -> ExitCode {
    if let Some(unlisted) = attribute_in(Path::new(sources)) {
        eprintln!("{unlisted}: #[test] is never run here; name the test in its module's tests![…]");
        return ExitCode::FAILURE;
    }
    let arguments = Arguments::from_args();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PLACE.set(panic.location().map(ToString::to_string));
        before(panic);
    }));
    let tests = modules.iter().flat_map(|tests| tests.iter().copied());
    libtest_mimic::run(&arguments, tests.map(Test::trial).collect()).exit_code()
}

fn outcome(run: fn()) -> Result<Completion, Failed> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(()) => Ok(Completion::Completed),
        Err(thrown) => match thrown.downcast::<NotRun>() {
            Ok(not_run) => Ok(Completion::ignored_with(
                not_run.0.trim().replace('\n', " "),
            )),
            Err(panic) => {
                let place = PLACE.take().unwrap_or_default();
                Err(format!("panicked at {place}: {}", message(&*panic)).into())
            }
        },
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without words")
}

/// The first place below `folder` where a source says `#[test]`.
fn attribute_in(folder: &Path) -> Option<String> {
    let mut entries: Vec<_> = std::fs::read_dir(folder).ok()?.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    entries.iter().find_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return attribute_in(&path);
        }
        path.extension().filter(|extension| *extension == "rs")?;
        let text = std::fs::read_to_string(&path).ok()?;
        let line = text.lines().position(|line| line.trim() == "#[test]")?;
        Some(format!("{}:{}", path.display(), line + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `passed`, why it was ignored, or `failed` and why.
    fn word(run: fn()) -> String {
        match outcome(run) {
            Ok(Completion::Completed) => "passed".into(),
            Ok(Completion::Ignored { reason }) => reason.unwrap_or_default(),
            Err(failed) => format!("failed: {}", failed.message().unwrap_or_default()),
        }
    }

    #[test]
    fn what_was_not_run_is_neither_passed_nor_failed_and_says_why() {
        assert_eq!(word(|| not_run("needs\nroot")), "needs root");
        // Said on another thread, and handed on.
        let elsewhere = || {
            let thread = std::thread::spawn(|| not_run("no tracefs"));
            thread.join().unwrap_or_else(|thrown| resume_unwind(thrown))
        };
        assert_eq!(word(elsewhere), "no tracefs");
        assert_eq!(word(|| ()), "passed");
        let failed = word(|| panic!("one is not greater"));
        assert!(
            failed.contains("failed") && failed.contains("one is not"),
            "{failed}"
        );
    }

    #[test]
    fn an_attribute_that_nobody_would_run_is_found() {
        let folder = std::env::temp_dir().join(format!("attributes-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("deeper")).expect("a folder");
        std::fs::write(folder.join("a.rs"), "fn listed() {}\n").expect("a file");
        assert_eq!(attribute_in(&folder), None);
        std::fs::write(folder.join("deeper/b.rs"), "\n    #[test]\nfn lost() {}\n")
            .expect("a file");
        let found = attribute_in(&folder);
        std::fs::remove_dir_all(&folder).expect("the folder goes");
        assert!(found.is_some_and(|place| place.ends_with("deeper/b.rs:2")));
    }

    #[test]
    fn a_test_is_named_without_its_program() {
        let of = |module| Test::new(module, "one", || (), false).path();
        assert_eq!(of("probe::this_kernel"), "this_kernel::one");
        assert_eq!(of("guard"), "one");
    }
}
