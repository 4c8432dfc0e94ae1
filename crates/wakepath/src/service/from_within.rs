//! The recorder of a program that asked for it itself, by its loop's library: what that library started, which finds
//! its program, starts the keeper and is gone. One line on standard output says whether it is there, or why not.

use super::beside::stay;
use super::order::ServiceRequest;
use super::{READY, start};
use crate::command_line::Beside;
use rustix::io::{FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::process::{Pid, PidfdFlags, getppid, pidfd_open};
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::ExitCode;

type Failure = Box<dyn std::error::Error>;

/// Starts it for the process that started this one, whose memory is standard input.
pub fn from_within(arguments: &Beside) -> ExitCode {
    let (word, code) = match started(arguments) {
        Ok(()) => (READY.to_owned(), ExitCode::SUCCESS),
        Err(error) => (
            error.to_string().trim_end().replace('\n', "; "),
            ExitCode::FAILURE,
        ),
    };
    let _ = writeln!(std::io::stdout(), "{word}");
    code
}

fn started(arguments: &Beside) -> Result<(), Failure> {
    // Descriptors that the program has open, such as its bus and sockets, are not for processes
    // that outlive it.
    wakepath_rt::inherited::close_in_children();
    let is_real_time = wakepath_rt::attributes::get(0)?.is_real_time();
    stay()?;
    if is_real_time {
        // The CPUs of its loop are no place for a recorder.
        wakepath_rt::affinity::widen()?;
    }
    let program = Pid::from_raw(arguments.process.cast_signed()).ok_or("0 is not a process")?;
    let process = pidfd_open(program, PidfdFlags::empty());
    // ServiceRequest for afterwards: as long as it is the parent, its number is nobody else's.
    if getppid() != Some(program) {
        return Err("the program that is to be recorded has ended".into());
    }
    let (file, command) = started_as(arguments.process)?;
    let asked = ServiceRequest {
        program: crate::program_scenario::scenario_name(&file),
        command,
        process: arguments.process,
        keep: &arguments.keep,
        worst: arguments.worst,
        criterion: arguments.criterion.as_deref(),
        metrics: arguments.metrics.as_deref(),
        trusts_directory: arguments.trust_directory,
        traces: arguments.trace,
    };
    let order = asked.order()?;
    let place = order.place(&arguments.directory)?;
    // Standard input is the next process's own.
    let shared = fcntl_dupfd_cloexec(std::io::stdin(), 3)?;
    fcntl_setfd(&shared, FdFlags::empty())?;
    start(&order, shared.as_raw_fd(), process?, &place)
}

/// The program's file, and its command line with that in the first place.
fn started_as(process: u32) -> Result<(PathBuf, Vec<String>), Failure> {
    let words = std::fs::read(format!("/proc/{process}/cmdline"))?;
    let mut words: Vec<OsString> = words
        .split(|&byte| byte == 0)
        .map(|word| OsString::from_vec(word.to_owned()))
        .collect();
    // Each ends with a zero.
    words.pop();
    let file = std::fs::read_link(format!("/proc/{process}/exe"))
        .ok()
        .or_else(|| words.first().map(PathBuf::from))
        .ok_or("the program has neither a file nor a command line")?;
    let rest = words.iter().skip(1).map(|word| word.to_string_lossy());
    let first = file.to_string_lossy().into_owned();
    let command = std::iter::once(first).chain(rest.map(Into::into));
    Ok((file.clone(), command.collect()))
}
