//! What `watch` was asked for: its options as values, what is there already, a name for it all.

use crate::command_line::Watch;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;
use wakepath_archive::watch::Threads;
use wakepath_console::given::{self, Refused, Unfit};
use wakepath_machine::{Facts, Root};
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
    pub(super) fn read(arguments: &Watch) -> Result<Self, Refused> {
        let stop_above_ns = given::time("--stop-above", arguments.stop_above.as_deref())?;
        let latency_ns = given::time("--latency", arguments.latency.as_deref())?;
        Ok(Self {
            duration: given::time("--for", arguments.duration.as_deref())?
                .map(Duration::from_nanos),
            cpus: arguments.cpu.as_deref().map(given::cpus).transpose()?,
            policy: arguments.policy.as_deref().map(given::policy).transpose()?,
            latency_ns: latency_ns.or(stop_above_ns),
            stop_above_ns,
            limit_ns: given::time("--limit", arguments.limit.as_deref())?,
        })
    }
}

/// The running target; `None` if a program will be started.
pub(super) fn there(arguments: &Watch, threads: &mut Threads) -> Result<Option<Target>, Refused> {
    let (mut target, missing) = match (arguments.pid, &arguments.comm) {
        (None, None) => return Ok(None),
        (Some(pid), _) => (
            Target::process(pid),
            Refused::new("-p", pid, Unfit::NoProcess),
        ),
        (None, Some(name)) => (
            Target::Named(ThreadName::new(name.as_bytes())),
            Refused::new("--comm", name.display(), Unfit::NoSuchName),
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

/// Refuses CPUs that this machine does not have.
pub fn on_line(cpus: &[u16]) -> Result<(), Refused> {
    let facts = Facts::read(&Root::host());
    let Some(online) = facts.varying.cpu_time.online.known() else {
        return Ok(());
    };
    match cpus.iter().find(|&&cpu| !online.contains(cpu)) {
        Some(cpu) => Err(Refused::new("--cpu", cpu, Unfit::NotOnline(online.clone()))),
        None => Ok(()),
    }
}

/// CPUs that the threads may use.
pub(super) fn used(threads: &Threads) -> Vec<u16> {
    let mut cpus: Vec<u16> = threads.values().flat_map(|of| of.cpus.clone()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}
