//! One running process of a load: how it is started, signalled and found to have ended.

use crate::capture::Capture;
use crate::counters::Counters;
use crate::disturbance::iperf3;
use crate::plan::{Assignment, Job, PORT, PlannedLoad, Work};
use crate::{launch, process_tree};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, pidfd_open,
    waitid, waitpid,
};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

/// Purpose of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    Worker { index: u32 },
    Program,
    HttpServer { slot: u32 },
    Iperf3Server { path: PathBuf, port: u16 },
}

impl Role {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Worker { index } => format!("worker {}", index + 1),
            Self::Program => "the program".into(),
            Self::HttpServer { .. } | Self::Iperf3Server { .. } => "its server".into(),
        }
    }
}

pub(super) struct Instance {
    pub(super) load: usize,
    pub(super) role: Role,
    pub(super) started: Instant,
    /// Start time of a program that has ended successfully and waits for its restart.
    pub(super) ended_at_start_of: Option<Instant>,
    pid: Pid,
    /// Process id, which is also the group's, in /proc's numbering.
    pub(super) proc_pid: i32,
    /// Readable when the process has ended; `None` before Linux 5.3.
    pub(super) pidfd: Option<OwnedFd>,
    /// The program's own report.
    pub(super) report: Option<Capture>,
}

/// How a process ended.
pub(super) struct Exit {
    pub(super) success: bool,
    pub(super) text: String,
}

/// Starts one process of `planned`, the load with the number `load`.
pub(super) fn start(
    planned: &PlannedLoad,
    load: usize,
    role: Role,
    port: Option<u16>,
    complaints: &Capture,
    counters: &Counters,
) -> io::Result<Instance> {
    let (slot, job) = match (&role, &planned.work) {
        (Role::Worker { index }, Work::BuiltIn(job)) => (planned.first_slot + index, job.clone()),
        (Role::HttpServer { slot }, _) => (*slot, Job::HttpServer),
        (Role::Iperf3Server { path, port }, _) => {
            let arguments = iperf3::server_arguments(*port);
            (
                planned.first_slot,
                Job::Program {
                    path: path.clone(),
                    arguments,
                    directory: None,
                },
            )
        }
        (_, Work::Program(program)) => {
            let port = port.unwrap_or_default().to_string();
            let arguments = program
                .arguments
                .iter()
                .map(|text| text.replace(PORT, &port));
            let (path, directory) = (program.path.clone(), program.directory.clone());
            (
                planned.first_slot,
                Job::Program {
                    path,
                    arguments: arguments.collect(),
                    directory,
                },
            )
        }
        (_, Work::BuiltIn(_)) => return Err(io::Error::other("a built-in load has no program")),
    };
    let writes_report = match &planned.work {
        Work::Program(program) => role == Role::Program && program.writes_stress_ng_report,
        Work::BuiltIn(_) => false,
    };
    let report = writes_report.then(Capture::new).transpose()?;
    let input = match &report {
        Some(report) => Stdio::from(report.descriptor()?),
        None => Stdio::null(),
    };
    let output = Stdio::from(counters.as_fd().try_clone_to_owned()?);
    let parent = getpid().as_raw_pid();
    let assignment = Assignment {
        parent,
        slot: Some(slot),
        cpus: planned.cpus.clone(),
        job,
    };
    let child = launch::worker(&assignment, input, output, complaints.descriptor()?)?;
    let pid = Pid::from_child(&child);
    Ok(Instance {
        load,
        role,
        started: Instant::now(),
        ended_at_start_of: None,
        pid,
        proc_pid: process_tree::as_proc_shows(pid.as_raw_pid()),
        pidfd: pidfd_open(pid, PidfdFlags::empty()).ok(),
        report,
    })
}

impl Instance {
    /// How it ended, if it has; the process stays readable in /proc until [`Instance::reap`].
    pub(super) fn exit(&self) -> Option<Exit> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.pid), options).ok()??;
        let text = match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => format!("exit status {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "an unknown status".into(),
        };
        Some(Exit {
            success: status.exit_status() == Some(0),
            text,
        })
    }

    pub(super) fn reap(&self) {
        let _ = waitpid(Some(self.pid), WaitOptions::NOHANG);
    }

    /// Sends `signal` to the process itself, which knows how to end its children.
    pub(super) fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _ = kill_process(self.pid, signal);
        }
    }
}
