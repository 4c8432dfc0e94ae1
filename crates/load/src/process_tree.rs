//! Reads processes from /proc: their ancestors and resource use.
//!
//! It signals nothing.

use std::collections::HashMap;
use std::fs;
use wakepath_timeline::{ProcessStat, decoded};

/// One process, as far as the loads need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// Process group.
    pub(crate) group: i32,
    /// `Z`ombie, `R`unning, `S`leeping, ...
    pub(crate) state: u8,
    /// CPU time in clock ticks: its own and that of children it waited for.
    pub(crate) ticks: u64,
    /// Clock tick of its start, counted from boot; with the pid it names a process forever.
    pub(crate) start: u64,
}

fn parse(pid: i32, stat: &[u8]) -> Option<Process> {
    let stat = ProcessStat::parse(stat)?;
    let ticks = (14..=17)
        .map(|field| stat.number::<i64>(field))
        .sum::<Option<i64>>()?;
    Some(Process {
        pid,
        parent: stat.number(4)?,
        group: stat.number(5)?,
        state: stat.state()?,
        ticks: u64::try_from(ticks).unwrap_or(0),
        start: stat.number(22)?,
    })
}

/// The process with `pid` in /proc's numbering, if it exists.
pub(crate) fn process(pid: i32) -> Option<Process> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The calling process's id in /proc's numbering, which can differ from getpid inside a PID
/// namespace.
pub(crate) fn own_pid() -> Option<i32> {
    fs::read_link("/proc/self").ok()?.to_str()?.parse().ok()
}

/// The /proc number of the process with `pid` in our own numbering. They differ inside a PID
/// namespace that could not mount its own /proc.
pub(crate) fn as_proc_shows(pid: i32) -> i32 {
    translate(
        |seen| numbers(seen).is_some_and(|(_, own)| own == pid),
        pid,
        |seen| seen,
    )
}

/// The reverse of [`as_proc_shows`].
pub(crate) fn as_we_signal(pid: i32) -> i32 {
    translate(
        |seen| seen == pid,
        pid,
        |seen| numbers(seen).map_or(0, |(_, own)| own),
    )
}

fn translate(is_it: impl Fn(i32) -> bool, same: i32, answer: impl Fn(i32) -> i32) -> i32 {
    let own = own_pid().unwrap_or(0);
    if own == rustix::process::getpid().as_raw_pid() {
        return same;
    }
    let seen = descendants(own).into_iter().map(|process| process.pid);
    seen.into_iter().find(|&seen| is_it(seen)).map_or(0, answer)
}

/// Process id in /proc's and in the innermost namespace's numbering.
fn numbers(pid: i32) -> Option<(i32, i32)> {
    let status = fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = decoded(&status);
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    let numbers: Vec<i32> = line.split_ascii_whitespace().flat_map(str::parse).collect();
    Some((*numbers.first()?, *numbers.last()?))
}

/// Ids of all processes that /proc shows.
pub(crate) fn all() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// All descendants of `root`, parents before their children, zombies included.
pub(crate) fn descendants(root: i32) -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    let mut wanted = vec![root];
    // The kernel lists children only with CONFIG_PROC_CHILDREN; otherwise look at everyone's parent.
    if children(root).is_none() {
        let everyone: Vec<Process> = all().into_iter().filter_map(process).collect();
        let mut by_parent: HashMap<i32, Vec<Process>> = HashMap::new();
        for process in everyone {
            by_parent.entry(process.parent).or_default().push(process);
        }
        while let Some(parent) = wanted.pop() {
            for child in by_parent.remove(&parent).unwrap_or_default() {
                wanted.push(child.pid);
                found.push(child);
            }
        }
        return found;
    }
    while let Some(parent) = wanted.pop() {
        for child in children(parent).unwrap_or_default() {
            if let Some(process) = process(child) {
                wanted.push(child);
                found.push(process);
            }
        }
    }
    found
}

/// Children of all threads of `pid`; `None` if the kernel does not list them.
fn children(pid: i32) -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        let list = fs::read_to_string(task.path().join("children")).ok()?;
        children.extend(
            list.split_ascii_whitespace()
                .filter_map(|pid| pid.parse::<i32>().ok()),
        );
    }
    Some(children)
}

/// Bytes that `pid` and the children it waited for transferred: by read and write calls, or to and
/// from storage (asynchronous and mapped I/O shows only there), whichever is more.
pub(crate) fn io_bytes(pid: i32) -> u64 {
    fs::read_to_string(format!("/proc/{pid}/io")).map_or(0, |text| parse_io(&text))
}

fn parse_io(text: &str) -> u64 {
    let value = |wanted: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(wanted)?.strip_prefix(": "));
        line.and_then(|number| number.trim().parse::<u64>().ok())
            .unwrap_or(0)
    };
    let by_calls = value("rchar").saturating_add(value("wchar"));
    by_calls.max(value("read_bytes").saturating_add(value("write_bytes")))
}

/// Value of `name` in the environment with which `pid` was started, if readable.
pub(crate) fn environment_value(pid: i32, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut entries = environment.split(|&byte| byte == 0);
    let value = entries.find_map(|entry| {
        std::str::from_utf8(entry)
            .ok()?
            .strip_prefix(name)?
            .strip_prefix('=')
    })?;
    Some(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_name_with_blanks_and_parentheses_shifts_no_field() {
        let stat = b"42 (a ) b) S 7 40 40 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 1 0 5555 1 2";
        let expected = Process {
            pid: 42,
            parent: 7,
            group: 40,
            state: b'S',
            ticks: 100,
            start: 5555,
        };
        assert_eq!(parse(42, stat), Some(expected));
    }

    #[test]
    fn transferred_bytes_are_the_larger_of_calls_and_storage() {
        let io = "rchar: 10\nwchar: 5\nsyscr: 1\nsyscw: 1\nread_bytes: 0\nwrite_bytes: 4096\n";
        assert_eq!(parse_io(io), 4096);
        assert_eq!(parse_io("rchar: 10\nwchar: 5\n"), 15);
    }

    #[test]
    fn a_grandchild_is_found_below_its_parent() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 30 & wait"])
            .spawn()
            .unwrap();
        let shell_pid = i32::try_from(shell.id()).unwrap();
        let mut found = Vec::new();
        for _ in 0..200 {
            found = descendants(own_pid().unwrap());
            if found.iter().any(|process| process.parent == shell_pid) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let sleep = found
            .iter()
            .find(|process| process.parent == shell_pid)
            .copied()
            .unwrap();
        assert!(found.iter().any(|process| process.pid == shell_pid));
        let sleep_pid = rustix::process::Pid::from_raw(sleep.pid).unwrap();
        rustix::process::kill_process(sleep_pid, rustix::process::Signal::KILL).unwrap();
        shell.kill().unwrap();
        shell.wait().unwrap();
    }
}
