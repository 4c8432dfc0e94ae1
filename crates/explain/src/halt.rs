//! Halts of a loop ordered by something else: a signal, the freezer, a limit of memory. `path::halts` finds
//! them.

use crate::cause::Named;
use crate::fix::{self, Remedy};
use std::fmt;
use wakepath_timeline::Thread;

/// A signal reaches a thread by an interrupt or wakes it, and the thread stops within this time, in nanoseconds.
pub(crate) const TO_STOP_NS: u64 = 200_000;

/// A halt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Halt {
    /// Its kind.
    pub kind: HaltKind,
    /// The thread that ordered it, if seen.
    pub by: Option<Thread>,
    /// The thread that let the loop continue, if seen.
    pub ended_by: Option<Thread>,
}

/// A kind of halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HaltKind {
    /// A signal stopped it, or a debugger.
    Signal,
    /// Its control group was frozen.
    Freezer,
    /// The kernel made it wait in or after a page fault: for memory that others give back, or that is written to disk.
    Memory,
}

impl Halt {
    /// The word for it in scripts.
    pub(crate) fn kind(&self) -> &'static str {
        match self.kind {
            HaltKind::Signal => "stopped",
            HaltKind::Freezer => "frozen",
            HaltKind::Memory => "memory-wait",
        }
    }

    /// Without what changes from one time to the next.
    pub(crate) fn grouped(&self, group: &impl Fn(&Thread) -> Thread) -> Self {
        Self {
            kind: self.kind,
            by: self.by.as_ref().map(group),
            ended_by: self.ended_by.as_ref().map(group),
        }
    }

    pub(crate) fn remedy(&self) -> Remedy {
        let found = match &self.by {
            Some(by) => format!("find out why {} does it", by.name),
            None => "find out who does it".into(),
        };
        match self.kind {
            HaltKind::Signal => fix::NO_STOP.with(&["the loop's process", &found]),
            HaltKind::Freezer => fix::NO_FREEZE.with(&[&found]),
            HaltKind::Memory => fix::MEMORY_LIMIT.plain(),
        }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            HaltKind::Signal => "the loop was stopped by a signal or debugger",
            HaltKind::Freezer => {
                "the loop's control group was frozen (cgroup.freeze, docker pause)"
            }
            HaltKind::Memory => {
                "the kernel made the loop wait for memory (its group's memory.high, reclaim or pages to be written)"
            }
        })?;
        if let Some(by) = &self.by {
            let source = match self.kind {
                HaltKind::Signal => "from",
                _ => "by",
            };
            write!(f, ", {source} {}", Named(by))?;
        }
        if let Some(ended_by) = &self.ended_by {
            let how = match self.kind {
                HaltKind::Freezer => "thawed",
                _ => "continued",
            };
            write!(f, ", until {} {how} it", Named(ended_by))?;
        }
        Ok(())
    }
}
