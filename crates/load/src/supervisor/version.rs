//! Asks a program for its version, before any load runs.

use super::capture::Capture;
use crate::launch;
use crate::plan::{Assignment, Job, Program};
use rustix::process::getpid;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// The first line that the program prints about itself; `None` when it has no such option or
/// takes longer than two seconds.
pub(super) fn ask(program: &Program, cpus: &[u16]) -> Option<String> {
    let argument = program.version_argument.clone()?;
    let output = Capture::new().ok()?;
    let job = Job::Program {
        path: program.path.clone(),
        arguments: vec![argument],
        directory: program.directory.clone(),
    };
    let parent = getpid().as_raw_pid();
    let assignment = Assignment {
        parent,
        slot: None,
        cpus: cpus.to_vec(),
        job,
    };
    let standard_output = Stdio::from(output.descriptor().ok()?);
    let errors = output.descriptor().ok()?;
    let mut child = launch::worker(&assignment, Stdio::null(), standard_output, errors).ok()?;
    let deadline = Instant::now() + Duration::from_secs(2);
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > deadline {
            child.kill().ok()?;
            child.wait().ok()?;
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    output.first_line()
}
