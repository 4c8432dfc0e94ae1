//! Pauses programs, and moves them between control groups.
//!
//! Each is identified by its number, name and start time together; another one with the same number
//! is left alone.

use crate::{SettingError, System};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use wakepath_readiness::{Process, Processes};

/// Time limit for the program's threads to act on a signal.
const PATIENCE: Duration = Duration::from_secs(2);
/// Programs start others while they are moved; those started inherit the new group.
const PASSES: usize = 8;

/// The very process.
pub(crate) fn the_one(
    system: &System,
    pid: u32,
    name: &str,
    started: u64,
) -> Result<Process, SettingError> {
    Process::read(&system.root(), pid)
        .filter(|process| process.name == name && process.started == started)
        .ok_or_else(|| SettingError::gone("program", name, pid))
}

/// Pauses or resumes a program, and waits until it has stopped or continued.
pub(crate) fn pause(
    system: &System,
    pid: u32,
    name: &str,
    started: u64,
    paused: bool,
) -> Result<(), SettingError> {
    if !system.is_host() {
        return Err(SettingError::OnlyATree("programs"));
    }
    let told = |error| SettingError::io(format!("{name} ({pid})"), error);
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let raw = raw.ok_or(SettingError::NoProcess(pid))?;
    // Opened before it is inspected, so that the signal goes to the inspected process.
    let descriptor = pidfd_open(raw, PidfdFlags::empty()).map_err(told)?;
    the_one(system, pid, name, started)?;
    let signal = if paused { Signal::STOP } else { Signal::CONT };
    pidfd_send_signal(&descriptor, signal).map_err(told)?;
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        if the_one(system, pid, name, started)?.paused == paused {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Err(SettingError::SignalNotTaken {
        name: name.to_owned(),
        pid,
    })
}

/// The programs in a group, without the kernel's threads.
pub(crate) fn in_group(system: &System, group: &str) -> Result<BTreeSet<u32>, SettingError> {
    let read = system.root().text(&format!("{group}/cgroup.procs"));
    let Some(list) = read.known() else {
        return Err(SettingError::Unread(read.to_string()));
    };
    let of_kernel: BTreeSet<u32> = Processes::read(&system.root())
        .of_kernel()
        .map(|thread| thread.pid)
        .collect();
    Ok(list
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .filter(|pid| !of_kernel.contains(pid))
        .collect())
}

/// Moves every program from one group to another; returns those that the kernel refuses.
pub(crate) fn move_all(system: &System, from: &str, to: &str) -> Result<(), SettingError> {
    let file = format!("{to}/cgroup.procs");
    let mut refused = Vec::new();
    for _ in 0..PASSES {
        refused.clear();
        let here = in_group(system, from)?;
        if here.is_empty() {
            return Ok(());
        }
        for pid in here {
            if let Err(why) = system.write(&file, &pid.to_string())
                // A process that has ended by now needs no moving.
                && Process::read(&system.root(), pid).is_some_and(|process| !process.ended)
            {
                refused.push((pid, why));
            }
        }
    }
    let count = refused.len();
    match refused.into_iter().next() {
        None => Ok(()),
        Some((pid, first)) => Err(SettingError::ProgramsStay {
            count,
            pid,
            first: Box::new(first),
        }),
    }
}

/// The group of a process in one hierarchy, `/` at its top: `/proc/PID/cgroup` of cgroups(7).
pub(crate) fn group_of(system: &System, pid: u32, hierarchy: &str) -> Result<String, SettingError> {
    let read = system.root().text(&format!("/proc/{pid}/cgroup"));
    let Some(text) = read.known() else {
        return Err(SettingError::Unread(read.to_string()));
    };
    let controller = hierarchy.strip_prefix("/sys/fs/cgroup").unwrap_or_default();
    let found = text.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, group) = (parts.next()?, parts.next()?);
        let own = match controller.trim_start_matches('/') {
            "" => controllers.is_empty(),
            name => controllers.split(',').any(|one| one == name),
        };
        own.then(|| group.to_owned())
    });
    found.ok_or_else(|| SettingError::NoGroup {
        pid,
        hierarchy: hierarchy.to_owned(),
    })
}
