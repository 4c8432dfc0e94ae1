//! What `watch` was asked for: its options as values, what is there already, a name for it all.

use crate::command_line::Watch;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;
use wakepath_archive::watch::Threads;
use wakepath_console::option_value::{self, InvalidValue, OptionError};
use wakepath_measure::watch::{GroupName, Target};
use wakepath_timeline::duration::length;
use wakepath_timeline::{Policy, ThreadName, decoded, plain_name};

/// The options that need reading.
pub(super) struct Terms {
    pub(super) duration: Option<Duration>,
    pub(super) cpus: Option<Vec<u16>>,
    pub(super) policy: Option<Policy>,
    pub(super) latency_ns: Option<u64>,
    pub(super) deadline_ns: Option<u64>,
    pub(super) stop_above_ns: Option<u64>,
    /// Of chains.
    pub(super) limit_ns: Option<u64>,
}

impl Terms {
    pub(super) fn read(arguments: &Watch) -> Result<Self, OptionError> {
        let stop_above_ns = option_value::time("--stop-above", arguments.stop_above.as_deref())?;
        let latency_ns = option_value::time("--latency", arguments.latency.as_deref())?;
        let deadline_ns = option_value::time("--deadline", arguments.deadline.as_deref())?;
        let limits = [
            ("--latency", &arguments.latency, latency_ns),
            ("--stop-above", &arguments.stop_above, stop_above_ns),
        ];
        let beyond = limits
            .into_iter()
            .find(|(.., ns)| deadline_ns.is_some() && *ns > deadline_ns);
        if let (Some((option, Some(given), _)), Some(deadline_ns)) = (beyond, deadline_ns) {
            let within = InvalidValue::BeyondDeadline(length(deadline_ns));
            return Err(OptionError::new(option, given, within));
        }
        Ok(Self {
            duration: option_value::time("--for", arguments.duration.as_deref())?
                .map(Duration::from_nanos),
            cpus: arguments
                .cpu
                .as_deref()
                .map(option_value::cpus)
                .transpose()?,
            policy: arguments
                .policy
                .as_deref()
                .map(option_value::policy)
                .transpose()?,
            latency_ns: latency_ns.or(stop_above_ns),
            deadline_ns,
            stop_above_ns,
            limit_ns: option_value::time("--limit", arguments.limit.as_deref())?,
        })
    }
}

/// The running target; `None` if a program will be started.
pub(super) fn there(
    arguments: &Watch,
    threads: &mut Threads,
) -> Result<Option<Target>, OptionError> {
    let (mut target, missing) = match (&arguments.pid[..], &arguments.comm, &arguments.cgroup) {
        ([], None, None) => return Ok(None),
        ([], None, Some(group)) => (
            Target::Grouped(GroupName::new(group)),
            OptionError::new("--cgroup", group, InvalidValue::NoSuchGroup),
        ),
        ([], Some(name), _) => (
            Target::Named(ThreadName::new(name.as_bytes())),
            OptionError::new("--comm", name.display(), InvalidValue::NoSuchName),
        ),
        (processes, ..) => {
            let is_gone = |of: &&u32| !Path::new(&format!("/proc/{of}")).exists();
            let gone = processes.iter().find(is_gone).unwrap_or(&processes[0]);
            let missing = OptionError::new("-p", gone, InvalidValue::NoProcess);
            if processes.iter().any(|of| is_gone(&of)) {
                return Err(missing);
            }
            (Target::processes(processes), missing)
        }
    };
    if target.look(threads, true) {
        Ok(Some(target))
    } else {
        Err(missing)
    }
}

/// The target's name, for directory and tables.
pub(super) fn name(arguments: &Watch) -> String {
    let group = arguments.cgroup.as_ref().map(OsString::from);
    let named = arguments.comm.as_ref().or(group.as_ref());
    let name = match (&arguments.pid[..], named, arguments.command.first()) {
        (pids @ [_, ..], ..) => {
            let mut names: Vec<Vec<u8>> = pids.iter().map(|pid| process_name(*pid)).collect();
            names.dedup();
            names.join(&b'+')
        }
        // Of a path its last part.
        (_, Some(name), _) => Path::new(name)
            .file_name()
            .unwrap_or(name)
            .as_bytes()
            .to_owned(),
        (.., Some(program)) => {
            let program = Path::new(program).file_name().unwrap_or(program);
            program.as_bytes().to_owned()
        }
        _ => Vec::new(),
    };
    plain_name(&decoded(&name))
}

fn process_name(pid: u32) -> Vec<u8> {
    std::fs::read(format!("/proc/{pid}/comm")).map_or_else(
        |_| pid.to_string().into(),
        |name| name.trim_ascii().to_owned(),
    )
}

/// CPUs that the threads may use.
pub(super) fn used(threads: &Threads) -> Vec<u16> {
    let mut cpus: Vec<u16> = threads.values().flat_map(|of| of.cpus.clone()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}
