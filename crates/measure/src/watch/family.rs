//! A process and its descendants. Of one that was started here all are found, also those whose parent ended before
//! anyone looked: the kernel makes them children of this process.

use super::target::numbered;
use rustix::process::{Pid, WaitOptions, getpid, set_child_subreaper, waitpid};
use std::collections::BTreeSet;
use std::fs;
use wakepath_timeline::ProcessStat;

/// Processes that are watched together.
#[derive(Debug)]
pub struct Family {
    members: BTreeSet<u32>,
    started: Option<Started>,
}

/// A family whose first process is a child of this one.
#[derive(Debug)]
struct Started {
    /// Its first process, whose end is another's to wait for.
    first: u32,
    /// Children of this process that are none of the family.
    others: BTreeSet<u32>,
}

/// From now on orphaned descendants become children of this process, if the kernel can do that; returns the children
/// that it has already.
pub(super) fn adopt_orphans() -> BTreeSet<u32> {
    let _ = set_child_subreaper(Some(getpid()));
    let own = std::process::id();
    let children = processes().into_iter().filter(|of| of.parent == own);
    children.map(|of| of.number).collect()
}

impl Family {
    /// Of processes that are there already.
    pub(super) fn new(numbers: &[u32]) -> Self {
        Self {
            members: numbers.iter().copied().collect(),
            started: None,
        }
    }

    /// Of a child of this process, which has these others.
    pub(super) fn started(first: u32, others: BTreeSet<u32>) -> Self {
        Self {
            members: BTreeSet::from([first]),
            started: Some(Started { first, others }),
        }
    }

    /// Its members that were there when it last grew.
    pub(super) fn processes(&self) -> impl Iterator<Item = u32> {
        self.members.iter().copied()
    }

    /// Adds new children of its members, and theirs; takes out who is gone.
    pub(super) fn grow(&mut self) {
        let (ended, alive): (Vec<_>, Vec<_>) = processes().into_iter().partition(|of| of.has_ended);
        if let Some(Started { first, others }) = &self.started {
            let own = std::process::id();
            let is_adopted = |of: &&Process| {
                of.parent == own && of.number != *first && !others.contains(&of.number)
            };
            let orphans = alive.iter().filter(is_adopted);
            self.members.extend(orphans.map(|of| of.number));
            for Process { number, .. } in ended.iter().filter(is_adopted) {
                let _ = waitpid(Pid::from_raw(number.cast_signed()), WaitOptions::NOHANG);
            }
        }
        loop {
            let before = self.members.len();
            for of in &alive {
                if self.members.contains(&of.parent) {
                    self.members.insert(of.number);
                }
            }
            if self.members.len() == before {
                break;
            }
        }
        self.members
            .retain(|member| alive.iter().any(|of| of.number == *member));
    }
}

/// A process, from its `stat`.
struct Process {
    number: u32,
    parent: u32,
    /// Whether it only waits for its parent to take note of its end.
    has_ended: bool,
}

fn processes() -> Vec<Process> {
    let read = |number: u32| {
        let stat = fs::read(format!("/proc/{number}/stat")).ok()?;
        let stat = ProcessStat::parse(&stat)?;
        Some(Process {
            number,
            parent: stat.number(4)?,
            has_ended: stat.has_ended(),
        })
    };
    numbered("/proc").into_iter().filter_map(read).collect()
}
