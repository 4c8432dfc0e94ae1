//! What `watch` was asked for: its options as values, what is there already, a name for it all.

use crate::command_line::Watch;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;
use wakepath_archive::watch::Threads;
use wakepath_console::option_value::{self, InvalidValue, OptionError};
use wakepath_measure::watch::Target;
use wakepath_timeline::{Policy, ThreadName, decoded, plain_name};

/// The options that need reading.
pub(super) struct Terms {
    pub(super) duration: Option<Duration>,
    pub(super) cpus: Option<Vec<u16>>,
    pub(super) policy: Option<Policy>,
    pub(super) latency_ns: Option<u64>,
    pub(super) stop_above_ns: Option<u64>,
    /// Of chains.
    pub(super) limit_ns: Option<u64>,
}

impl Terms {
    pub(super) fn read(arguments: &Watch) -> Result<Self, OptionError> {
        let stop_above_ns = option_value::time("--stop-above", arguments.stop_above.as_deref())?;
        let latency_ns = option_value::time("--latency", arguments.latency.as_deref())?;
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
    let (mut target, missing) = match (arguments.pid, &arguments.comm) {
        (None, None) => return Ok(None),
        (Some(pid), _) => (
            Target::process(pid),
            OptionError::new("-p", pid, InvalidValue::NoProcess),
        ),
        (None, Some(name)) => (
            Target::Named(ThreadName::new(name.as_bytes())),
            OptionError::new("--comm", name.display(), InvalidValue::NoSuchName),
        ),
    };
    match target.look(threads, true) {
        true => Ok(Some(target)),
        false => Err(missing),
    }
}

/// The target's name, for directory and tables.
pub(super) fn name(arguments: &Watch) -> String {
    let name = match (arguments.pid, &arguments.comm, arguments.command.first()) {
        (Some(pid), ..) => std::fs::read(format!("/proc/{pid}/comm")).map_or_else(
            |_| pid.to_string().into(),
            |name| name.trim_ascii().to_owned(),
        ),
        (_, Some(name), _) => name.as_bytes().to_owned(),
        (.., Some(program)) => {
            let program = Path::new(program).file_name().unwrap_or(program);
            program.as_bytes().to_owned()
        }
        _ => Vec::new(),
    };
    plain_name(&decoded(&name))
}

/// CPUs that the threads may use.
pub(super) fn used(threads: &Threads) -> Vec<u16> {
    let mut cpus: Vec<u16> = threads.values().flat_map(|of| of.cpus.clone()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}
