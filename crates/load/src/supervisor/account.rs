//! Sums up the resources of a load's processes.
//!
//! The kernel passes a dead child's CPU time and bytes to the parent that waits for it, so the
//! total is the living ones plus the recorded dead.

use super::instance::Instance;
use crate::process_tree::{self, Process};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::collections::{HashMap, HashSet};

/// CPU time and bytes of one load.
#[derive(Debug, Default)]
pub(super) struct Account {
    banked_ticks: u64,
    banked_bytes: u64,
    living_ticks: u64,
    living_bytes: u64,
    /// Bytes of each living process at the last look: an ordinary user cannot read them any more
    /// once it has ended, and then they are a lower bound.
    seen_bytes: HashMap<i32, u64>,
}

impl Account {
    /// Records the resources of the ended process `pid`, which the kernel is about to forget.
    pub(super) fn bank(&mut self, pid: i32) {
        if let Some(process) = process_tree::process(pid) {
            self.banked_ticks += process.ticks;
            let seen = self.seen_bytes.remove(&pid).unwrap_or(0);
            self.banked_bytes += process_tree::io_bytes(pid).max(seen);
        }
    }

    pub(super) fn cpu_us(&self) -> u64 {
        let ticks = self.banked_ticks + self.living_ticks;
        ticks.saturating_mul(1_000_000) / rustix::param::clock_ticks_per_second().max(1)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.banked_bytes + self.living_bytes
    }
}

/// Brings `accounts` (one for each load) up to date from all `descendants` of the supervisor, and
/// buries orphans that nobody else waits for.
pub(super) fn keep(
    accounts: &mut [&mut Account],
    instances: &[Instance],
    descendants: &[Process],
    own: i32,
) {
    let alive: HashSet<i32> = descendants.iter().map(|process| process.pid).collect();
    for account in accounts.iter_mut() {
        (account.living_ticks, account.living_bytes) = (0, 0);
        account.seen_bytes.retain(|pid, _| alive.contains(pid));
    }
    let groups: HashMap<i32, usize> = instances
        .iter()
        .filter(|instance| instance.ended_at_start_of.is_none())
        .map(|instance| (instance.proc_pid, instance.load))
        .collect();
    for (process, load) in attribute(&groups, descendants) {
        let orphan_to_bury = process.state == b'Z' && process.parent == own;
        if orphan_to_bury && !groups.contains_key(&process.pid) {
            accounts[load].bank(process.pid);
        } else {
            accounts[load].living_ticks += process.ticks;
            let bytes = process_tree::io_bytes(process.pid);
            let seen = accounts[load].seen_bytes.entry(process.pid).or_default();
            *seen = bytes.max(*seen);
            accounts[load].living_bytes += bytes;
        }
    }
    for process in descendants {
        let orphan_to_bury = process.state == b'Z' && process.parent == own;
        if orphan_to_bury && !groups.contains_key(&process.pid) {
            let pid = Pid::from_raw(process_tree::as_we_signal(process.pid));
            let _ = pid.map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
        }
    }
}

/// The load of each process: that of its ancestor among the instances, or of its process group if
/// the ancestor is dead. Other processes belong to no load.
fn attribute<'a>(
    groups: &HashMap<i32, usize>,
    descendants: &'a [Process],
) -> Vec<(&'a Process, usize)> {
    let mut loads: HashMap<i32, usize> = HashMap::new();
    let mut attributed = Vec::with_capacity(descendants.len());
    for process in descendants {
        let load = groups
            .get(&process.pid)
            .or_else(|| loads.get(&process.parent))
            .or_else(|| groups.get(&process.group))
            .copied();
        if let Some(load) = load {
            loads.insert(process.pid, load);
            attributed.push((process, load));
        }
    }
    attributed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32, group: i32) -> Process {
        Process {
            pid,
            parent,
            group,
            state: b'S',
            ticks: 1,
            start: 0,
        }
    }

    #[test]
    fn a_process_belongs_to_its_ancestors_load_or_to_its_groups() {
        let groups = HashMap::from([(10, 0), (20, 1)]);
        let descendants = [
            process(10, 1, 10),
            process(11, 10, 99), // child in a group of its own
            process(20, 1, 20),
            process(30, 1, 20), // orphan that kept its group
            process(40, 1, 40), // neither
        ];
        let loads: Vec<_> = attribute(&groups, &descendants)
            .iter()
            .map(|&(process, load)| (process.pid, load))
            .collect();
        assert_eq!(loads, [(10, 0), (11, 0), (20, 1), (30, 1)]);
    }
}
