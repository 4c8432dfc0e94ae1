//! `wakepath record --service`: starts the recorder, which stays beside the program, and becomes the program. It
//! waits for nothing but the recorder's word that all is there, and measures nothing.

mod beside;
mod shown;
mod terms;

pub use beside::{keeper, recorder};
pub use shown::show;

use super::{Outcome, exec, given, measured, record};
use crate::command_line::{Record, VERSION};
use crate::metrics::Listening;
use crate::terminal::tell;
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use wakepath_measure::own_executable;
use wakepath_rt::shared::SharedMemory;
use wakepath_scenario::units::parse_size;
use wakepath_service::{MOST_LOOPS, SAID_WORDS, SLOTS, Settings};

/// Less than this holds no minute of a fast loop.
const LEAST_KEPT: u64 = 16 << 20;
/// What the recorder says when everything is there.
const READY: &str = "ready";

/// What the recorder is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Order {
    settings: Settings,
    /// The program's file, for the segments' names of it.
    program: String,
    criterion: Option<String>,
    metrics: Option<String>,
    process: u32,
    trusts_directory: bool,
}

/// Starts the recorder and becomes the program; it comes back with an error alone.
pub fn run(arguments: &Record, directory: &Path) -> Outcome {
    let (program, rest) = arguments
        .command
        .split_first()
        .ok_or("no program is named")?;
    let file = match exec::to_start(program)? {
        Ok(file) => file,
        Err((code, why)) => {
            tell!("wakepath: {why}");
            return Ok(ExitCode::from(code));
        }
    };
    let command = record::words(&file, rest)?;
    let keep_bytes = parse_size(&arguments.keep)
        .map_err(|why| given::Refused::new("--keep", &arguments.keep, why))?;
    if keep_bytes < LEAST_KEPT {
        return Err(format!("--keep {}: give 16 MiB or more", arguments.keep).into());
    }
    let host = measured::host_cpus()?;
    if let Some(criterion) = &arguments.criterion {
        let table = record::criterion(criterion)?;
        measured::read_scenario(&record::judged_by(&table)?, "--criterion", &host)?;
    }
    if let Some(address) = &arguments.output.metrics {
        // The recorder takes it; that it can't is better known now.
        drop(Listening::at(address)?);
    }
    let trust = measured::trust(arguments.output.trust_directory);
    let place = wakepath_service::prepare(directory, trust)?;
    let order = Order {
        settings: Settings {
            keep_bytes,
            worst: arguments.worst.into(),
            command,
            version: VERSION.into(),
            resumes: false,
        },
        program: record::name_of(&file),
        criterion: arguments.criterion.clone(),
        metrics: arguments.output.metrics.clone(),
        process: std::process::id(),
        trusts_directory: arguments.output.trust_directory,
    };
    let memory = SharedMemory::create_with(MOST_LOOPS, SLOTS, SAID_WORDS)?;
    memory.open_to_all();
    let shared = memory.file();
    let shared = shared.as_fd();
    // For the recorder and for the program; this process starts nothing else.
    let flags = fcntl_getfd(shared)?;
    fcntl_setfd(shared, flags - FdFlags::CLOEXEC)?;
    start(&order, shared.as_raw_fd(), &place.path().canonicalize()?)?;
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
fn start(order: &Order, shared: i32, directory: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let process = pidfd_open(getpid(), PidfdFlags::empty())?;
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
fn told(shared: i32, order: &Order, directory: &Path) -> serde_json::Result<[OsString; 3]> {
    Ok([
        shared.to_string().into(),
        serde_json::to_string(order)?.into(),
        directory.into(),
    ])
}
