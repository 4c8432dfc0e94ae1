//! Entry point of a loop's process.
//!
//! Makes sure that its parent lives, opens the inherited shared memory, and runs the loop. It
//! parses no command line.

use crate::process;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs::File;
use wakepath_ethercat::StartMaster;
use wakepath_rt::shared::SharedMemory;

type Failure = Box<dyn std::error::Error>;

/// Runs the loop's process. `parent` is the process that it dies with, `shared` the number of the
/// inherited descriptor of the shared memory, `master` the EtherCAT master of the program, if it has one. The
/// order comes on standard input.
///
/// # Errors
/// If the parent is gone, the memory is foreign, or nobody reads the answers.
pub fn run_as_child(parent: i32, shared: i32, master: Option<StartMaster>) -> Result<(), Failure> {
    if !die_with(parent) {
        return Err("the measuring process is gone".into());
    }
    // The memory must outlive the threads and the guard's handler: it lives as long as the process.
    let memory = Box::leak(Box::new(shared_memory(shared)?));
    // A controller's output must not mix with the two processes' messages: the true standard output
    // is kept here, and its number leads to standard error.
    let answers = File::from(rustix::io::dup(std::io::stdout())?);
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    Ok(process::run(
        memory,
        std::io::stdin().lock(),
        answers,
        master,
    )?)
}

/// In the child: make the kernel kill it when its parent dies. Returns false when the parent was
/// dead already.
pub fn die_with(parent: i32) -> bool {
    hear_of_death(parent, Signal::KILL)
}

/// As [`die_with`], for a child that listens for SIGTERM and ends in order then.
pub fn end_with(parent: i32) -> bool {
    hear_of_death(parent, Signal::TERM)
}

fn hear_of_death(parent: i32, signal: Signal) -> bool {
    let set = set_parent_process_death_signal(Some(signal)).is_ok();
    set && is_child_of(parent)
}

/// Whether `parent` is still this process's parent.
pub fn is_child_of(parent: i32) -> bool {
    rustix::process::getppid().is_some_and(|actual| actual.as_raw_nonzero().get() == parent)
}

/// The memory of an inherited descriptor, opened again so that no raw descriptor is owned.
///
/// # Errors
/// If there is no such descriptor or the memory is of another version.
pub fn shared_memory(descriptor: i32) -> Result<SharedMemory, Failure> {
    let file = File::options()
        .read(true)
        .write(true)
        .open(format!("/proc/self/fd/{descriptor}"))?;
    Ok(SharedMemory::open(file.into())?)
}
