//! The processes of a machine: kernel or user, CPUs, priority. A process that ends while it is read
//! is left out. These files are hostile input: a process chooses its own name.

use serde::Serialize;
use wakepath_machine::{Reading, Root};
use wakepath_timeline::{CpuSet, ProcessStat, decoded};

/// `PF_KTHREAD` of the kernel's `include/linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;
/// `PF_NO_SETAFFINITY` of the same file.
const NOT_MOVABLE: u64 = 0x0400_0000;

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, 15 bytes at most, chosen by itself.
    pub name: String,
    /// Whether it is a thread of the kernel.
    pub of_kernel: bool,
    /// Whether the kernel lets nobody move it to another CPU.
    pub not_movable: bool,
    /// Whether a signal has stopped it.
    pub paused: bool,
    /// Whether it has ended, and only waits for its parent to notice.
    pub ended: bool,
    /// Real-time priority; 0 for an ordinary one.
    pub priority: u32,
    /// When it was started, in ticks since boot: with the number it names one process.
    pub started: u64,
    /// Page faults that were served without and with reading a disk.
    pub faults: (u64, u64),
    /// The CPUs on which it may run.
    pub allowed: Option<CpuSet>,
    /// Resident memory, locked memory, swapped memory, kB.
    pub memory_kib: (Option<u64>, Option<u64>, Option<u64>),
}

/// All processes that could be read.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    /// In the order of their numbers.
    pub all: Vec<Process>,
}

impl Processes {
    /// Reads `/proc/PID/stat` and `/proc/PID/status` of every process.
    pub fn read(root: &Root) -> Self {
        let all = root
            .numbered("/proc", "")
            .into_iter()
            .filter_map(|pid| Process::read(root, pid))
            .collect();
        Self { all }
    }

    /// The kernel's threads.
    pub fn of_kernel(&self) -> impl Iterator<Item = &Process> {
        self.all.iter().filter(|process| process.of_kernel)
    }

    /// Programs of one of these names. The kernel keeps 15 bytes of a name.
    pub fn running<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a Process> {
        self.all.iter().filter(move |process| {
            !process.of_kernel
                && names
                    .iter()
                    .any(|name| name.get(..15).unwrap_or(name) == process.name)
        })
    }

    /// The process of this number.
    pub fn numbered(&self, pid: u32) -> Option<&Process> {
        self.all.iter().find(|process| process.pid == pid)
    }
}

impl Process {
    /// Reads one; none if it is gone or its files can't be understood.
    pub fn read(root: &Root, pid: u32) -> Option<Self> {
        let stat = root.text(&format!("/proc/{pid}/stat"));
        let mut process = parse(pid, stat.known()?)?;
        let status = root.text(&format!("/proc/{pid}/status"));
        if let Reading::Known { value, .. } = &status {
            let field = |name: &str| {
                value
                    .lines()
                    .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
                    .map(str::trim)
            };
            let kib = |name| field(name)?.split_whitespace().next()?.parse().ok();
            process.allowed = field("Cpus_allowed_list").and_then(|list| list.parse().ok());
            process.memory_kib = (kib("VmRSS"), kib("VmLck"), kib("VmSwap"));
        }
        Some(process)
    }
}

impl Process {
    /// From the text of `/proc/PID/stat` (proc(5)) alone; none if it can't be understood.
    pub fn parse(pid: u32, text: &str) -> Option<Self> {
        parse(pid, text)
    }
}

fn parse(pid: u32, text: &str) -> Option<Process> {
    let stat = ProcessStat::parse(text.as_bytes())?;
    let flags: u64 = stat.number(9)?;
    Some(Process {
        pid,
        name: decoded(stat.name()).into_owned(),
        of_kernel: flags & KERNEL_THREAD != 0,
        not_movable: flags & NOT_MOVABLE != 0,
        paused: stat.state() == Some(b'T'),
        ended: stat.has_ended(),
        faults: (stat.number(10).unwrap_or(0), stat.number(12).unwrap_or(0)),
        started: stat.number(22).unwrap_or(0),
        priority: stat.number(40).unwrap_or(0),
        allowed: None,
        memory_kib: (None, None, None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_shift_the_fields() {
        let text = "7 (a) R 0 (b) S 2 0 0 0 -1 69238848 5 0 6 0 0 0 0 0 20 0 1 0 11 0 0 0 0 0 0 \
                    0 0 0 0 0 0 0 0 0 17 1 50 1 0 0 0";
        let process = parse(7, text).unwrap();
        assert_eq!(process.name, "a) R 0 (b");
        assert!(process.of_kernel && process.not_movable);
        assert_eq!((process.faults, process.started), ((5, 6), 11));
        assert_eq!(process.priority, 50);
        assert!(!process.paused && !process.ended);
        assert!(parse(7, &text.replace(") S", ") T")).unwrap().paused);
        assert!(parse(7, &text.replace(") S", ") Z")).unwrap().ended);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,200}") {
            let _ = parse(1, &text);
        }
    }
}
