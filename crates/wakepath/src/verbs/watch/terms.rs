//! What `watch` was asked for: its options as values, what is there already, a name for it all.

use crate::command_line::Watch;
use crate::verbs::exec;
use crate::verbs::given_time::given_time;
use std::path::Path;
use std::time::Duration;
use wakepath_machine::{Facts, Root};
use wakepath_measure::watch::{Target, Threads, plain};
use wakepath_timeline::Policy;

type Failure = Box<dyn std::error::Error>;

/// The options that need reading.
pub(super) struct Terms {
    pub(super) duration: Option<Duration>,
    pub(super) cpus: Option<Vec<u16>>,
    pub(super) policy: Option<Policy>,
    pub(super) latency_ns: Option<u64>,
}

impl Terms {
    pub(super) fn read(arguments: &Watch) -> Result<Self, Failure> {
        Ok(Self {
            duration: given_time("--for", arguments.duration.as_deref())?.map(Duration::from_nanos),
            cpus: arguments.cpu.as_deref().map(exec::cpus).transpose()?,
            policy: arguments.policy.as_deref().map(exec::policy).transpose()?,
            latency_ns: given_time("--latency", arguments.latency.as_deref())?,
        })
    }
}

/// What is there already to be watched; `None` where a program is to be started.
pub(super) fn there(arguments: &Watch, threads: &mut Threads) -> Result<Option<Target>, String> {
    let (mut target, missing) = match (arguments.pid, &arguments.comm) {
        (None, None) => return Ok(None),
        (Some(pid), _) => (
            Target::Process(pid),
            format!("-p {pid}: there is no such process"),
        ),
        (None, Some(name)) => (
            Target::Named(name.clone()),
            format!("--comm {name}: no process or thread has this name"),
        ),
    };
    match target.look(threads, true) {
        true => Ok(Some(target)),
        false => Err(missing),
    }
}

/// What is watched, as a name for directory and tables.
pub(super) fn name(arguments: &Watch) -> String {
    let name = match (arguments.pid, &arguments.comm, arguments.command.first()) {
        (Some(pid), ..) => std::fs::read_to_string(format!("/proc/{pid}/comm"))
            .map_or_else(|_| pid.to_string(), |name| name.trim().to_owned()),
        (_, Some(name), _) => name.clone(),
        (.., Some(program)) => Path::new(program)
            .file_name()
            .unwrap_or(program)
            .to_string_lossy()
            .into_owned(),
        _ => String::new(),
    };
    plain(&name)
}

/// Refuses CPUs that this machine does not have.
pub(super) fn on_line(cpus: &[u16]) -> Result<(), String> {
    let facts = Facts::read(&Root::host());
    let Some(online) = facts.varying.cpu_time.online.known() else {
        return Ok(());
    };
    match cpus.iter().find(|&&cpu| !online.contains(cpu.into())) {
        Some(cpu) => Err(format!(
            "--cpu {cpu}: CPU {online} are on-line; give some of them"
        )),
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
