//! A recorder that stays next to a program: started by `wakepath record --service`, which then
//! becomes the program, or by the program itself. Both wait only for the recorder's report that it
//! is ready, and measure nothing.

mod beside;
mod explained;
mod from_within;
mod order;
mod rounds;
mod shown;
mod terms;

pub use beside::{keeper, leave, recorder};
pub use explained::explain_worst;
pub use from_within::from_within;
pub use order::ServiceOrder;
pub use shown::show;

use crate::command_line::Record;
use crate::criterion_options;
use crate::program_scenario::{command_of, scenario_name};
use order::ServiceRequest;
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use wakepath_console::Outcome;
use wakepath_measure::own_executable;
use wakepath_rt::service::{MOST_LOOPS, READY, SAID_WORDS, SLOTS};
use wakepath_rt::shared::SharedMemory;

/// Starts the recorder and becomes the program, of which this is the file; it comes back with an error alone.
pub fn run(arguments: &Record, file: &Path, directory: &Path) -> Outcome {
    let (program, rest) = arguments.command.split_first().ok_or("no program given")?;
    let criterion = criterion_options::line(&arguments.limits);
    let asked = ServiceRequest {
        program: scenario_name(file),
        command: command_of(file, rest)?,
        process: std::process::id(),
        keep: &arguments.keep,
        worst: arguments.worst,
        criterion: criterion.as_deref(),
        metrics: arguments.output.live.metrics.as_deref(),
        trusts_directory: arguments.output.trust_directory,
        traces: arguments.trace,
    };
    let order = asked.order()?;
    let place = order.place(directory)?;
    let memory = SharedMemory::create_with(MOST_LOOPS, SLOTS, SAID_WORDS)?;
    memory.open_to_all();
    let shared = memory.file();
    let shared = shared.as_fd();
    // For the recorder and for the program; this process starts nothing else.
    let flags = fcntl_getfd(shared)?;
    fcntl_setfd(shared, flags - FdFlags::CLOEXEC)?;
    let process = pidfd_open(getpid(), PidfdFlags::empty())?;
    start(&order, shared.as_raw_fd(), process, &place)?;
    wakepath_rt::affinity::widen()?;
    wakepath_programs::rights::give_up()?;
    let error = Command::new(file)
        .arg0(program)
        .args(rest)
        .env(
            wakepath_rt::recorded::VARIABLE,
            shared.as_raw_fd().to_string(),
        )
        .exec();
    Err(format!("{}: {error}", program.display()).into())
}

/// Starts the keeper as nobody's child, so that the program has no child that it does not know, and waits until its
/// recorder is ready.
fn start(
    order: &ServiceOrder,
    shared: i32,
    process: OwnedFd,
    directory: &Path,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut between = Command::new(own_executable())
        .args(["internal", "service-keeper", "--leave"])
        .arg(shared.to_string())
        .arg(serde_json::to_string(order)?)
        .arg(directory)
        .stdin(Stdio::from(process))
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()?;
    let said = between.stdout.take().ok_or("the recorder has no output")?;
    between.wait()?;
    let mut line = String::new();
    BufReader::new(said).read_line(&mut line)?;
    match line.trim_end() {
        READY => Ok(()),
        "" => Err("the recorder could not be started".into()),
        why => Err(why.to_owned().into()),
    }
}

/// The arguments by which a keeper or a recorder is started.
fn process_arguments(
    shared: i32,
    order: &ServiceOrder,
    directory: &Path,
) -> serde_json::Result<[OsString; 3]> {
    Ok([
        shared.to_string().into(),
        serde_json::to_string(order)?.into(),
        directory.into(),
    ])
}
