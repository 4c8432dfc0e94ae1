//! Starts this program, or the one that a job needs, as a worker.
//!
//! A process with threads isn't forked, and no code runs between fork and exec: a child makes its
//! own settings after exec.

use crate::counters::Counters;
use crate::plan::Assignment;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

/// The running program, even if its file was replaced or removed since.
pub(crate) const THIS_PROGRAM: &str = "/proc/self/exe";

/// The hidden verb of workers.
const WORKER: [&str; 2] = ["internal", "load-worker"];

/// In place of an assignment: exit at once with success.
pub(crate) const NOTHING: &str = "nothing";

fn worker_command(program: &Path, argument: &str) -> Command {
    let mut command = Command::new(program);
    command.arg0("wakepath").args(WORKER).arg(argument);
    command
}

/// Starts `assignment` in a separate process group. `output` is the counters for built-in work and
/// the null device for a program; error messages go to `errors`.
pub(crate) fn worker(
    assignment: &Assignment,
    input: Stdio,
    output: Stdio,
    errors: OwnedFd,
) -> io::Result<Child> {
    worker_of(assignment.job.program(), assignment, input, output, errors)
}

/// As [`worker`], by the program that answers that verb; the calling one need not be it.
pub(crate) fn worker_of(
    program: &Path,
    assignment: &Assignment,
    input: Stdio,
    output: Stdio,
    errors: OwnedFd,
) -> io::Result<Child> {
    let text = serde_json::to_string(assignment).map_err(io::Error::other)?;
    let mut command = worker_command(program, &text);
    command
        .stdin(input)
        .stdout(output)
        .stderr(errors)
        .process_group(0)
        .spawn()
}

/// Starts `assignment` in the process group of the calling worker, with its counters.
pub(crate) fn worker_of_a_worker(
    assignment: &Assignment,
    counters: &Counters,
) -> io::Result<Child> {
    let text = serde_json::to_string(assignment).map_err(io::Error::other)?;
    let output = counters.as_fd().try_clone_to_owned()?;
    worker_command(Path::new(THIS_PROGRAM), &text)
        .stdin(Stdio::null())
        .stdout(output)
        .spawn()
}

/// Executes this program to do nothing, and waits for it.
pub(crate) fn nothing() -> io::Result<ExitStatus> {
    worker_command(Path::new(THIS_PROGRAM), NOTHING)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
}
