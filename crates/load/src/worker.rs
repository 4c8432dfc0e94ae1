//! The process `wakepath internal load-worker`: does one job until it is killed, and counts.

use crate::counters::{Counters, Slot};
use crate::cpus;
use crate::disturbance::{self, chase, ethercat, files, gpu, http_server, memory, messages};
use crate::ended::{self, Ended};
use crate::launch::NOTHING;
use crate::plan::{Assignment, Job};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use std::convert::Infallible;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use wakepath_ethercat::StartMaster;
use wakepath_programs::rights;

/// The process of a built-in load, for its work.
pub(crate) struct Worker<'a> {
    pub(crate) counters: &'a Counters,
    pub(crate) assignment: &'a Assignment,
    pub(crate) slot: u32,
}

impl Worker<'_> {
    pub(crate) fn counter(&self) -> &Slot {
        self.counters.slot(self.slot)
    }
}

/// Runs the worker described by `arguments` (those after the verb), with the program's EtherCAT master, if
/// it has one. It returns only if the work can't be done, with a line about it on standard error.
pub fn main(
    arguments: impl IntoIterator<Item = OsString>,
    master: Option<StartMaster>,
) -> ExitCode {
    let argument = arguments.into_iter().next().unwrap_or_default();
    if argument == NOTHING {
        return ExitCode::SUCCESS;
    }
    let Err(problem) = run(&argument.to_string_lossy(), master);
    ended::complain(&problem);
    ExitCode::FAILURE
}

fn run(argument: &str, master: Option<StartMaster>) -> Result<Infallible, Ended> {
    let assignment: Assignment =
        serde_json::from_slice(argument.as_bytes()).map_err(Ended::Assignment)?;
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(Ended::system("cannot ask for the parent's death signal"))?;
    // The parent might have died before the line above.
    if getppid().map(Pid::as_raw_pid) != Some(assignment.parent) {
        return Err(Ended::ParentGone);
    }
    cpus::pin(&assignment.cpus)?;
    // Raw frames on an interface are a capability's; the socket outlives it.
    let opened = match &assignment.job {
        Job::Ethercat { bus, .. } => bus.open()?,
        _ => None,
    };
    // A load needs none, and a program of others least of all.
    rights::give_up().map_err(Ended::system("cannot give up capabilities"))?;
    let counters = match assignment.slot {
        Some(slot) => Some((take_counters()?, slot)),
        None => None,
    };
    if let Job::Program {
        path,
        arguments,
        directory,
    } = &assignment.job
    {
        let mut command = Command::new(path);
        command.args(arguments);
        if let Some(directory) = directory {
            command.current_dir(directory);
        }
        if let Some((counters, slot)) = &counters {
            counters.slot(*slot).add(own_cpu_us());
        }
        return Err(Ended::file(path, command.exec()));
    }
    // So that `killall wakepath` only signals the measuring process, which then ends its loads.
    let _ = rustix::thread::set_name(c"wakepath-load");
    let (counters, slot) = counters.ok_or(Ended::NoSlot)?;
    let counter = counters.slot(slot);
    match &assignment.job {
        Job::Load { load, amount } => {
            let load =
                disturbance::named(load).ok_or_else(|| Ended::NoLoad { load: load.clone() })?;
            let worker = Worker {
                counters: &counters,
                assignment: &assignment,
                slot,
            };
            (load.run)(&worker, *amount)
        }
        &Job::Memory { bytes, chases } => {
            if chases {
                chase::run(counter, bytes)
            } else {
                memory::run(counter, bytes)
            }
        }
        Job::MessageReceiver { address } => messages::receive(counter, address),
        Job::MessageSender { address } => messages::send(address),
        Job::Files { directory, bytes } => files::run(counter, directory, *bytes),
        Job::Ethercat { period, bus, .. } => {
            let start = master.ok_or(Ended::NoMaster)?;
            ethercat::run(counter, bus, opened, *period, start)
        }
        Job::Gpu { path, arguments } => {
            gpu::run(counter, &assignment, path.clone(), arguments.clone())
        }
        Job::HttpServer => http_server::run(counter),
        Job::Program { .. } => unreachable!("replaced by exec above"),
    }
}

/// CPU time that this process has used so far, in microseconds.
fn own_cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let us = time.tv_sec as i64 * 1_000_000 + time.tv_nsec as i64 / 1000;
    u64::try_from(us).unwrap_or(0)
}

/// Maps the counters inherited as standard output and replaces them with the null device, so that
/// no stray print can reach them.
pub(crate) fn take_counters() -> Result<Counters, Ended> {
    let describe = Ended::system::<std::io::Error>("cannot take over the counters");
    let file = std::io::stdout()
        .as_fd()
        .try_clone_to_owned()
        .map_err(describe)?;
    let null = std::fs::File::options()
        .write(true)
        .open("/dev/null")
        .map_err(describe)?;
    rustix::stdio::dup2_stdout(&null).map_err(|error| describe(error.into()))?;
    Counters::map(file).map_err(|error| describe(error.into()))
}
