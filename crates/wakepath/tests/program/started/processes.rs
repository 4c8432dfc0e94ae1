//! Finding processes and threads in /proc by their mark, their role and their scheduling. It reads only the
//! kernel's data, never wakepath's output.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;

/// The role of a process of wakepath.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Loop,
    Recorder,
    Probe,
    LoadSupervisor,
    LoadWorker,
    EthercatRing,
}

impl Role {
    fn verb(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Recorder => "recorder",
            Self::Probe => "probe",
            Self::LoadSupervisor => "load-supervisor",
            Self::LoadWorker => "load-worker",
            Self::EthercatRing => "ethercat-ring",
        }
    }
}

/// One thread as the kernel shows it in /proc/PID/task/TID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub name: String,
    /// Number of the policy: field 41 of `stat`, proc_pid_stat(5).
    pub policy: i64,
    /// Field 19.
    pub nice: i64,
    /// Field 40; 0 for policies that are not real-time.
    pub real_time_priority: i64,
    /// `Cpus_allowed_list` of `status`.
    pub cpus: String,
}

/// Live processes that carry this mark in their environment, parents or not.
pub fn marked(mark: &str) -> Vec<i32> {
    let wanted = format!("WAKEPATH_TEST={mark}");
    all()
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
                environment
                    .split(|&byte| byte == 0)
                    .any(|entry| entry == wanted.as_bytes())
            })
        })
        .collect()
}

/// The marked processes of a role.
pub fn of_role(mark: &str, role: Role) -> Vec<i32> {
    let marked = marked(mark).into_iter();
    marked
        .filter(|pid| {
            let words = words(*pid);
            words.iter().any(|word| word == "internal") && words.iter().any(|w| w == role.verb())
        })
        .collect()
}

/// The command line of a process.
pub fn words(pid: i32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line.split(|&byte| byte == 0);
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// Sends a signal; a process that is gone already needs none.
pub fn kill(pid: i32, signal: Signal) {
    let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
}

/// The threads of a process.
pub fn tasks_of(pid: i32) -> Vec<Task> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter();
    let paths = entries.flatten().flatten().map(|entry| entry.path());
    paths
        .filter_map(|path| {
            let stat = fs::read_to_string(path.join("stat")).ok()?;
            let status = fs::read_to_string(path.join("status")).ok()?;
            let (name, rest) = stat.split_once('(')?.1.rsplit_once(") ")?;
            let fields: Vec<&str> = rest.split(' ').collect();
            let field = |number: usize| fields.get(number - 3)?.trim().parse::<i64>().ok();
            let cpus = status
                .lines()
                .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
            Some(Task {
                name: name.into(),
                policy: field(41)?,
                nice: field(19)?,
                real_time_priority: field(40)?,
                cpus: cpus.trim().into(),
            })
        })
        .collect()
}

fn all() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
