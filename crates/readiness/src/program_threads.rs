//! The threads of the program that a machine is inspected for: policies and CPUs, as the kernel shows them.
//! A thread chooses its own name.

use wakepath_machine::Root;
use wakepath_timeline::{CpuSet, ProcessStat, decoded};

/// `SCHED_FIFO`, `SCHED_RR` and `SCHED_DEADLINE` in `linux/sched.h`.
const FIFO: u32 = 1;
const ROUND_ROBIN: u32 = 2;
const DEADLINE: u32 = 6;

/// One thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramThread {
    /// Its number; the process's for the first thread.
    pub tid: u32,
    /// Its name, 15 bytes at most, chosen by itself.
    pub name: String,
    /// Policy number of `linux/sched.h`.
    pub policy: u32,
    /// Real-time priority under FIFO or RR; 0 for others.
    pub priority: u32,
    /// Nice value of an ordinary thread.
    pub nice: i32,
    /// The CPUs on which it may run.
    pub allowed: Option<CpuSet>,
    /// The CPU on which it ran last.
    pub last_cpu: Option<u16>,
}

impl ProgramThread {
    /// The threads of the process `pid`, in the order of their numbers. Those whose files can't be read are
    /// left out.
    pub fn all(root: &Root, pid: u32) -> Vec<Self> {
        let folder = format!("/proc/{pid}/task");
        let read = |tid: u32| Self::read(root, tid, &format!("{folder}/{tid}"));
        let threads: Vec<Self> = root
            .numbered(&folder, "")
            .into_iter()
            .filter_map(read)
            .collect();
        if threads.is_empty() {
            Self::read(root, pid, &format!("/proc/{pid}"))
                .into_iter()
                .collect()
        } else {
            threads
        }
    }

    fn read(root: &Root, tid: u32, folder: &str) -> Option<Self> {
        let text = root.text(&format!("{folder}/stat"));
        let stat = ProcessStat::parse(text.known()?.as_bytes())?;
        let status = root.text(&format!("{folder}/status"));
        let allowed = status.known().and_then(|status| {
            let line = status.lines();
            let mut line = line.filter_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            line.next()?.trim().parse().ok()
        });
        Some(Self {
            tid,
            name: decoded(stat.name()).into_owned(),
            policy: stat.number(41)?,
            priority: stat.number(40).unwrap_or(0),
            nice: stat.number(19).unwrap_or(0),
            allowed,
            last_cpu: stat.number(39),
        })
    }

    /// Whether its policy is FIFO, RR or DEADLINE.
    pub fn is_real_time(&self) -> bool {
        matches!(self.policy, FIFO | ROUND_ROBIN | DEADLINE)
    }

    /// Its priority under FIFO or RR.
    pub fn real_time_priority(&self) -> Option<u32> {
        matches!(self.policy, FIFO | ROUND_ROBIN).then_some(self.priority)
    }

    /// Its policy in words: `FIFO 80`, `OTHER nice 0`.
    pub fn policy_words(&self) -> String {
        let (priority, nice) = (self.priority, self.nice);
        match self.policy {
            0 => format!("OTHER nice {nice}"),
            FIFO => format!("FIFO {priority}"),
            ROUND_ROBIN => format!("RR {priority}"),
            3 => format!("BATCH nice {nice}"),
            5 => "IDLE".to_owned(),
            DEADLINE => "DEADLINE".to_owned(),
            other => format!("policy {other}"),
        }
    }

    /// The thread that the program's loop is taken to be: the one that comes first on a CPU, DEADLINE before the
    /// highest priority, or the first thread if all are ordinary.
    pub fn leading(threads: &[Self]) -> Option<&Self> {
        threads.iter().max_by_key(|thread| {
            let rank = (thread.policy == DEADLINE, thread.real_time_priority());
            (rank, std::cmp::Reverse(thread.tid))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(tid: u32, policy: u32, priority: u32) -> ProgramThread {
        ProgramThread {
            tid,
            name: "loop".into(),
            policy,
            priority,
            nice: 0,
            allowed: None,
            last_cpu: None,
        }
    }

    #[test]
    fn the_first_on_a_cpu_leads() {
        let leading = |threads: &[ProgramThread]| ProgramThread::leading(threads).unwrap().tid;
        assert_eq!(leading(&[thread(7, 0, 0), thread(8, 0, 0)]), 7);
        let mut threads = vec![thread(7, 0, 0), thread(8, FIFO, 10), thread(9, FIFO, 80)];
        assert_eq!(leading(&threads), 9);
        threads.push(thread(10, DEADLINE, 0));
        assert_eq!(leading(&threads), 10);
    }
}
