//! The threads of the watched program, from /proc: found again and again while it is watched, since
//! they come and go. A thread that lives between two looks is not seen.

use super::family::{self, Family};
use super::group_name::GroupName;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use wakepath_archive::watch::{PolicyUnread, Thread, Threads};
use wakepath_programs::{NotFound, rights};
use wakepath_rt::{attributes, clock};
use wakepath_timeline::duration::length;
use wakepath_timeline::{AllowedCpus, CpuSet, Policy, ThreadName, decoded};

/// The target of a watch.
pub enum Target {
    /// Processes that were there already, with all that they start or have started.
    Processes(Family),
    /// All processes in a control group and in those below it.
    Grouped(GroupName),
    /// All processes and threads of a name.
    Named(ThreadName),
    /// A program started here, with all that it starts.
    Started {
        /// It.
        child: Child,
        /// How it ended, once it has.
        ended: Option<ExitStatus>,
        /// It, and all that it starts: a launcher may end long before what it launched.
        family: Family,
        /// Its hard RLIMIT_RTTIME when it was last seen, in µs.
        real_time_us: Option<u64>,
        /// Looks in a row that found nothing of it.
        looks_without: u32,
    },
}

/// Consecutive looks without any process before a program counts as gone. One is not enough: a process that forks and
/// ends while `/proc` is read hides its child from that look.
const LOOKS_WITHOUT: u32 = 2;

/// Where a program that is started here prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printing {
    /// The CPUs that it would use without a watch.
    AsUsual,
    /// All of it to standard error: standard output is for a script that reads what was seen.
    Aside,
}

/// How long a program may take to end when it is asked to.
const END_PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take the kernel to end one that was killed, which may wait for a device.
const KILL_PATIENCE: Duration = Duration::from_secs(1);

/// Why the program to be watched can't be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// None was named.
    #[error("no program given")]
    NotNamed,
    /// It is not where programs are looked for.
    #[error(transparent)]
    NotFound(#[from] NotFound),
    /// The system refused.
    #[error("{}: {source}", program.display())]
    Refused {
        /// The program.
        program: OsString,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Target {
    /// Processes that are there already, such as a launcher, and their children.
    pub fn processes(numbers: &[u32]) -> Self {
        Self::Processes(Family::new(numbers))
    }

    /// Starts a program with its arguments. What watches needs capabilities, what is watched is
    /// given none.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn start(command: &[OsString], printing: Printing) -> Result<Self, StartError> {
        let (program, rest) = command.split_first().ok_or(StartError::NotNamed)?;
        let file = wakepath_programs::to_start(program)?;
        let mut start = Command::new(file);
        start.arg0(program).args(rest);
        if printing == Printing::Aside {
            start.stdout(std::io::stderr());
        }
        let others = family::adopt_orphans();
        let child = rights::without(|| start.spawn());
        let child = child.flatten().map_err(|source| StartError::Refused {
            program: program.clone(),
            source,
        })?;
        Ok(Self::Started {
            family: Family::started(child.id(), others),
            child,
            ended: None,
            real_time_us: None,
            looks_without: 0,
        })
    }

    /// Looks at it again; whether anything of it is left.
    pub fn look(&mut self, threads: &mut Threads, is_first: bool) -> bool {
        // Of a program that is started here everything is new.
        let is_new = !is_first && !matches!(self, Self::Started { .. });
        let mut alive = BTreeSet::new();
        for (process, thread) in self.numbers() {
            alive.insert(thread);
            match threads.get_mut(&thread) {
                Some(known) => refresh(known, thread),
                None => {
                    if let Some(mut new) = read(process, thread) {
                        new.is_new = is_new;
                        threads.insert(thread, new);
                    }
                }
            }
        }
        for (number, thread) in threads.iter_mut() {
            thread.ended |= !alive.contains(number);
        }
        match self {
            Self::Started {
                child,
                ended,
                real_time_us,
                looks_without,
                ..
            } => {
                let has_left = ended.is_none() || !alive.is_empty();
                *looks_without = if has_left { 0 } else { *looks_without + 1 };
                if ended.is_none() {
                    *real_time_us = real_time_limit(child.id()).or(*real_time_us);
                    *ended = child.try_wait().ok().flatten();
                }
                *looks_without < LOOKS_WITHOUT
            }
            _ => !alive.is_empty(),
        }
    }

    /// The first process of a program that was started here.
    pub fn first(&self) -> Option<u32> {
        match self {
            Self::Started { child, .. } => Some(child.id()),
            _ => None,
        }
    }

    /// Ends a program that was started here with all that it started: first as Ctrl-C in a terminal does, since that
    /// is how programs of robots are ended every day, then harder.
    pub fn end(&mut self) {
        let Self::Started {
            child,
            ended,
            family,
            ..
        } = self
        else {
            return;
        };
        let mut left = || {
            family.grow();
            if ended.is_none() {
                *ended = child.try_wait().ok().flatten();
            }
            family.processes().collect::<Vec<u32>>()
        };
        let steps = [
            (Signal::INT, END_PATIENCE),
            (Signal::TERM, END_PATIENCE),
            (Signal::KILL, KILL_PATIENCE),
        ];
        for (signal, patience) in steps {
            if has_ended(signal, patience, &mut left) {
                return;
            }
        }
    }

    /// How a program that was started here ended, if it failed.
    pub fn ended_badly(&self) -> Option<String> {
        let Self::Started {
            ended: Some(status),
            real_time_us,
            ..
        } = self
        else {
            return None;
        };
        match (status.success(), status.signal()) {
            (true, _) => None,
            (_, Some(signal)) if signal == Signal::XCPU.as_raw() => Some(
                "the program was ended by SIGXCPU: it used up RLIMIT_CPU, or ran for longer than RLIMIT_RTTIME at a \
                 real-time priority without sleeping; prlimit shows both"
                    .into(),
            ),
            (_, Some(signal)) => {
                let limit_us = real_time_us.filter(|_| signal == Signal::KILL.as_raw());
                let why = limit_us.map_or_else(String::new, |us| {
                    let limit = length(us.saturating_mul(1_000));
                    format!(
                        ". The kernel sends it, among other reasons, if the program runs for longer than its hard \
                         RLIMIT_RTTIME of {limit} at a real-time priority without sleeping (prlimit shows the limit)"
                    )
                });
                Some(format!("the program was ended by signal {signal}{why}"))
            }
            _ => Some(format!("the program ended with {status}")),
        }
    }

    /// Process and thread numbers at this moment.
    fn numbers(&mut self) -> Vec<(u32, u32)> {
        match self {
            Self::Processes(family) => of_family(family),
            Self::Grouped(group) => in_group(group),
            Self::Named(name) => {
                let own = std::process::id();
                let processes = numbered("/proc")
                    .into_iter()
                    .filter(|&process| process != own);
                let named = processes.flat_map(|process| {
                    let whole = name_of(process, process) == Some(*name);
                    let mut threads = threads_of(process);
                    threads.retain(|&(_, thread)| whole || name_of(process, thread) == Some(*name));
                    threads
                });
                named.collect()
            }
            Self::Started { family, .. } => of_family(family),
        }
    }
}

/// Threads of the processes in a group, but for this one's.
fn in_group(group: &GroupName) -> Vec<(u32, u32)> {
    let own = std::process::id();
    let processes = numbered("/proc").into_iter().filter(|of| *of != own);
    let inside = processes.filter(|process| {
        let groups = fs::read(format!("/proc/{process}/cgroup"));
        groups.is_ok_and(|groups| group.holds(&decoded(&groups)))
    });
    inside.flat_map(threads_of).collect()
}

/// Threads of a family, with the processes that it has now.
fn of_family(family: &mut Family) -> Vec<(u32, u32)> {
    family.grow();
    family.processes().flat_map(threads_of).collect()
}

/// Sends processes a signal; whether they have all ended within this time, or as soon as those left ignore it.
fn has_ended(signal: Signal, patience: Duration, left: &mut impl FnMut() -> Vec<u32>) -> bool {
    for process in left() {
        send(process, signal);
    }
    let begun = Instant::now();
    loop {
        let left = left();
        if left.is_empty() {
            return true;
        }
        if begun.elapsed() >= patience || left.iter().all(|process| ignores(*process, signal)) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process ignores a signal, as what a script starts in the background ignores SIGINT.
fn ignores(process: u32, signal: Signal) -> bool {
    let status = fs::read(format!("/proc/{process}/status")).unwrap_or_default();
    let status = decoded(&status);
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal.as_raw() - 1) & 1 == 1)
}

/// One that has ended by now needs no signal.
fn send(process: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(process.cast_signed()) {
        let _ = kill_process(pid, signal);
    }
}

fn read(process: u32, thread: u32) -> Option<Thread> {
    let name = name_of(process, thread)?.to_string();
    let status = fs::read(format!("/proc/{process}/task/{thread}/status")).ok()?;
    let status = decoded(&status);
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let list: CpuSet = list.parse().ok()?;
    Some(Thread {
        process,
        name,
        policy: policy_of(thread),
        earlier_policies: Vec::new(),
        cpus: list.numbers().to_vec(),
        allowed: vec![AllowedCpus {
            seen_ns: clock::monotonic_ns(),
            cpus: list.numbers().to_vec(),
        }],
        is_new: false,
        ended: false,
    })
}

/// Looks again at what may change.
fn refresh(known: &mut Thread, thread: u32) {
    // A program that is being started has its starter's name at first.
    let now = read(known.process, thread);
    let Some(now) = now else { return };
    if let (Ok(before), Ok(after)) = (&known.policy, &now.policy)
        && before != after
        && !known.earlier_policies.contains(before)
    {
        known.earlier_policies.push(*before);
    }
    if now.policy.is_ok() {
        known.policy = now.policy;
    }
    let before = known.allowed.last().map(|of| &of.cpus);
    if before != Some(&now.cpus) {
        known.allowed.extend(now.allowed);
    }
    for cpu in now.cpus {
        if !known.cpus.contains(&cpu) {
            known.cpus.push(cpu);
        }
    }
    known.cpus.sort_unstable();
    known.name = now.name;
}

/// The hard RLIMIT_RTTIME of a process, in µs; `None` if it has none.
fn real_time_limit(process: u32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
    let mut lines = limits.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max realtime timeout"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn policy_of(thread: u32) -> Result<Policy, PolicyUnread> {
    attributes::get(thread.cast_signed()).map_err(|error| PolicyUnread(error.to_string()))
}

pub(crate) fn threads_of(process: u32) -> Vec<(u32, u32)> {
    let threads = numbered(&format!("/proc/{process}/task"));
    threads
        .into_iter()
        .map(|thread| (process, thread))
        .collect()
}

pub(super) fn numbered(directory: &str) -> Vec<u32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

fn name_of(process: u32, thread: u32) -> Option<ThreadName> {
    let bytes = fs::read(format!("/proc/{process}/task/{thread}/comm")).ok()?;
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    Some(ThreadName::new(bytes))
}
