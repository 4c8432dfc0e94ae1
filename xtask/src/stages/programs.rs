//! The test programs: built once, with all features, for every stage that runs some of them. One
//! build of the workspace instead of one for each selection of packages, whose features differ.

use super::outcome::Outcome;
use super::repeated;
use super::stalls::Stalls;
use crate::job::Job;
use crate::place;
use crate::tools::{cargo, wait_for_set_up};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The line of a package's manifest for tests that run real loops, loads or tracers, and so need
/// the machine's CPUs for themselves.
const MEASURES: &str = "measures-time = true";

/// The examples that tests of the command line record.
const EXAMPLES: [&str; 3] = ["own_loop", "driven_loop", "one_kilohertz"];

/// One test program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The package.
    pub package: String,
    /// Its target in the package.
    pub name: String,
    file: PathBuf,
    /// Cargo's working directory for it.
    directory: PathBuf,
}

impl Program {
    /// The test program of a cargo artefact, if it is one.
    fn new(artefact: &Value) -> Option<Self> {
        if artefact["reason"] != "compiler-artifact" || artefact["profile"]["test"] != true {
            return None;
        }
        let manifest = Path::new(artefact["manifest_path"].as_str()?);
        let directory = manifest.parent()?.to_owned();
        Some(Self {
            package: directory.file_name()?.to_str()?.to_owned(),
            name: artefact["target"]["name"].as_str()?.to_owned(),
            file: artefact["executable"].as_str()?.into(),
            directory,
        })
    }

    /// Whether it must have the CPUs for itself.
    pub fn measures_time(&self) -> bool {
        let manifest = std::fs::read_to_string(self.directory.join("Cargo.toml"));
        manifest.is_ok_and(|manifest| manifest.lines().any(|line| line == MEASURES))
    }

    /// Whether its tests start the program that users start.
    pub fn starts_the_program(&self) -> bool {
        self.package == "wakepath" && self.name == "program"
    }

    /// The command that runs it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.file);
        command.current_dir(&self.directory).args(arguments);
        command
    }

    /// Runs it.
    pub fn run(&self, job: &Job, arguments: &[&str]) -> Outcome {
        let mut command = self.command(arguments);
        self.outcome(job, command.arg("--show-output"))
    }

    /// Runs it by a command of [`Self::command`]; a failure names it.
    pub fn outcome(&self, job: &Job, command: &mut Command) -> Outcome {
        let watch = Stalls::watch();
        let finished = job.run(command);
        let stall = watch.end();
        let first = Outcome::of_test_program(&finished);
        repeated::doubted(first, command, &finished.output, stall)
            .named(&format!("{}/{}", self.package, self.name))
    }

    /// Whether it has this test, ignored or not.
    pub fn has(&self, job: &Job, test: &str) -> bool {
        let listed = job.run(&mut self.command(&["--list", "--exact", test]));
        let mut lines = listed.output.lines();
        lines.any(|line| line.strip_suffix(": test") == Some(test))
    }
}

/// All test programs, or the build's failure. The first stage that needs them builds them.
pub fn all(job: &Job) -> Result<&'static [Program], Outcome> {
    static BUILT: OnceLock<Result<Vec<Program>, Outcome>> = OnceLock::new();
    match BUILT.get_or_init(|| build(job)) {
        Ok(programs) => Ok(programs),
        Err(outcome) => Err(outcome.clone()),
    }
}

/// The test program of this name in a package.
pub fn named(job: &Job, package: &str, name: &str) -> Result<&'static Program, Outcome> {
    let mut programs = all(job)?.iter();
    let found = programs.find(|program| program.package == package && program.name == name);
    found.ok_or_else(|| Outcome::new(Some(format!("{package} has no test program {name}"))))
}

fn build(job: &Job) -> Result<Vec<Program>, Outcome> {
    let arguments = [
        "test",
        "--locked",
        "--no-run",
        "--workspace",
        "--all-features",
        // With `--bins` too, programs without tests would also be linked as tests.
        "--tests",
        "--message-format=json-render-diagnostics",
    ];
    let finished = job.run(&mut cargo(&arguments));
    if finished.failure.is_some() {
        return Err(Outcome::new(finished.failure));
    }
    // Named to `cargo test`, it would be built as a program of tests.
    let mut example = vec!["build", "--locked", "--workspace", "--all-features"];
    example.extend(EXAMPLES.iter().flat_map(|name| ["--example", name]));
    let built = job.run(&mut cargo(&example));
    if built.failure.is_some() {
        return Err(Outcome::new(built.failure));
    }
    // They were compiled while the packages for some tests were fetched.
    wait_for_set_up();
    let programs = read(&finished.output);
    if programs.is_empty() {
        Err(Outcome::new(Some("cargo names no test program".into())))
    } else {
        Ok(programs)
    }
}

fn read(output: &str) -> Vec<Program> {
    let artefacts = output.lines().filter(|line| line.starts_with('{'));
    let artefacts = artefacts.filter_map(|line| serde_json::from_str(line).ok());
    artefacts
        .filter_map(|artefact: Value| Program::new(&artefact))
        .collect()
}

/// A program that is built with the tests because some of them start it: not optimised as released.
pub fn beside_the_tests(job: &Job, name: &str) -> Result<PathBuf, Outcome> {
    all(job)?;
    let program = place::target().join("debug").join(name);
    if program.is_file() {
        Ok(program)
    } else {
        Err(Outcome::new(Some(format!(
            "{} was not built with the tests",
            program.display()
        ))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_told_from_libraries_and_words() {
        let output = r#"   Compiling wakepath-rt v0.1.0
{"reason":"compiler-artifact","manifest_path":"/x/crates/rt/Cargo.toml","target":{"name":"wakepath_rt"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","manifest_path":"/x/crates/rt/Cargo.toml","target":{"name":"guard"},"profile":{"test":true},"executable":"/x/target/debug/deps/guard-1"}
{"reason":"build-finished","success":true}
"#;
        let found = read(output);
        let names = found
            .iter()
            .map(|program| (program.package.as_str(), program.name.as_str()));
        assert_eq!(names.collect::<Vec<_>>(), [("rt", "guard")]);
        assert_eq!(found[0].directory, Path::new("/x/crates/rt"));
    }
}
