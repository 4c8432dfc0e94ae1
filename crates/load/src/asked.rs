//! Runs a program for a short answer, such as its version, before any load runs.
//!
//! The process gives up its rights first, as a load's own does, and has a time limit.

use crate::capture::Capture;
use crate::launch;
use crate::plan::{Assignment, Job};
use rustix::process::{Pid, Signal, getpid, kill_process_group};
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Its answer.
pub(crate) struct Said {
    pub(crate) status: ExitStatus,
    pub(crate) output: Capture,
    pub(crate) errors: Capture,
}

/// Output of `path` with `arguments`, started by `launcher`, which answers `internal load-worker`.
/// `None` if it takes longer than `patience`; its process group is then killed.
pub(crate) fn ask(
    launcher: &Path,
    path: &Path,
    arguments: &[String],
    directory: Option<&Path>,
    cpus: &[u16],
    patience: Duration,
) -> io::Result<Option<Said>> {
    let (output, errors) = (Capture::new()?, Capture::new()?);
    let assignment = Assignment {
        parent: getpid().as_raw_pid(),
        slot: None,
        cpus: cpus.to_vec(),
        job: Job::Program {
            path: path.to_owned(),
            arguments: arguments.to_vec(),
            directory: directory.map(Path::to_owned),
        },
    };
    let to = Stdio::from(output.descriptor()?);
    let mut child = launch::worker_of(
        launcher,
        &assignment,
        Stdio::null(),
        to,
        errors.descriptor()?,
    )?;
    let deadline = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(Said {
                status,
                output,
                errors,
            }));
        }
        if Instant::now() > deadline {
            kill_process_group(Pid::from_child(&child), Signal::KILL)?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
