//! Runs tests that read facts of the machine as if on another machine.
//!
//! With another host name, another kernel, one CPU. A test that depends on the machine it was
//! written on fails here.

use super::outcome::Outcome;
use super::programs::{self, Program};
use crate::job::Job;
use crate::place;
use rustix::process::geteuid;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Names that no real host or kernel has.
const HOST: &str = "made-up-host";
const RELEASE: &str = "0.0.0-made-up";
const VERSION: &str = "#1 SMP PREEMPT_DYNAMIC made up";

/// Rooms that read facts.
const ROOMS: [&str; 3] = ["machine", "readiness", "tuning"];
/// Tests of the command that hold a recorded machine against this one.
const NAMES: [&str; 3] = [
    "command_line::tiers::a_pin_can_not",
    "command_line::compare::",
    "command_line::runs::",
];

/// It compares the release with uname's, which no file can replace.
const UNAME: [&str; 2] = [
    "--skip",
    "this_machine::the_release_is_the_one_that_uname_reports",
];

/// In separate namespaces: the host's name, and files mounted over those of /proc.
const ELSEWHERE: &str = "set -e; files=$1; cpu=$2; shift 2; \
    cat \"$files/hostname\" > /proc/sys/kernel/hostname; \
    for name in osrelease version; do mount --bind \"$files/$name\" /proc/sys/kernel/$name; done; \
    exec taskset -c \"$cpu\" \"$@\"";

/// Runs them.
pub fn another_machine(job: &Job) -> Outcome {
    if !geteuid().is_root() {
        return Outcome::not_run("only root can give itself another host name and kernel");
    }
    let programs = match programs::all(job) {
        Ok(programs) => programs,
        Err(outcome) => return outcome,
    };
    let files = place::target().join("elsewhere");
    let written = fs::create_dir_all(&files).and_then(|()| {
        fs::write(files.join("hostname"), HOST)?;
        fs::write(files.join("osrelease"), format!("{RELEASE}\n"))?;
        fs::write(files.join("version"), format!("{VERSION}\n"))
    });
    if let Err(error) = written {
        return Outcome::new(Some(format!("{}: {error}", files.display())));
    }
    let first = sched_getaffinity(None).ok();
    let first = first.and_then(|set| (0..CpuSet::MAX_CPU).find(|&cpu| set.is_set(cpu)));
    let cpu = first.unwrap_or(0).to_string();
    let run = |program: &Program, arguments: &[&str]| {
        let mut command = elsewhere(&files, &cpu, &program.command(arguments));
        program.outcome(job, command.arg("--show-output"))
    };
    let rooms = programs
        .iter()
        .filter(|program| ROOMS.contains(&&*program.package));
    let outcomes = rooms.map(|program| run(program, &UNAME));
    let outcome = outcomes.fold(Outcome::default(), Outcome::and);
    let command = programs
        .iter()
        .filter(|program| program.starts_the_program());
    let outcomes = command.flat_map(|program| NAMES.map(|name| run(program, &[name])));
    outcomes.fold(outcome, Outcome::and).of_some()
}

/// The command, to run there.
fn elsewhere(files: &Path, cpu: &str, of: &Command) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(["--uts", "--mount", "sh", "-c", ELSEWHERE, "sh"])
        .arg(files)
        .arg(cpu)
        .arg(of.get_program())
        .args(of.get_args());
    if let Some(directory) = of.get_current_dir() {
        command.current_dir(directory);
    }
    command
}
