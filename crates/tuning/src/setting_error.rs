//! Reasons why one setting can't be read, set, or restored.
//!
//! `apply` handles the other settings.

use std::io;
use wakepath_timeline::CpuSetError;

/// Why a setting can't be read or set. One line, which names the file, program or thread.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// The value is unknown, with the reading's reason.
    #[error("{0}")]
    Unread(String),
    /// The kernel refused.
    #[error("{what}: {source}")]
    Io {
        /// The file, program or thread.
        what: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A recorded tree has neither threads nor programs.
    #[error("a tree has no {0}")]
    OnlyATree(&'static str),
    /// The program or thread that was meant has ended.
    #[error("the {kind} {name} ({pid}) has gone")]
    Gone {
        /// `program` or `thread`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// Its former number.
        pid: u32,
    },
    /// A number that no process or thread can have.
    #[error("{0} is not a process ID")]
    NoProcess(u32),
    /// The program still runs, or stays paused, after the signal.
    #[error("{name} ({pid}) ignores the signal")]
    SignalNotTaken {
        /// Its name.
        name: String,
        /// Its number.
        pid: u32,
    },
    /// The kernel would not move some programs.
    #[error("{count} programs stay: {pid}: {first}")]
    ProgramsStay {
        /// Their number.
        count: usize,
        /// The first of them.
        pid: u32,
        /// Why it stays.
        first: Box<SettingError>,
    },
    /// The process is in no group of that hierarchy.
    #[error("/proc/{pid}/cgroup names no group of {hierarchy}")]
    NoGroup {
        /// The process.
        pid: u32,
        /// Mount point of the hierarchy.
        hierarchy: String,
    },
    /// The kernel does not report the thread's CPUs.
    #[error("/proc/{0}/status names no CPUs")]
    NoCpus(u32),
    /// No interrupt has this device any more.
    #[error("{0} no longer has an interrupt")]
    InterruptGone(String),
    /// The device has several interrupts, and none has the number that was meant.
    #[error("several interrupts of {device}, none is {number}")]
    InterruptAmbiguous {
        /// The device.
        device: String,
        /// The number that was meant.
        number: u32,
    },
    /// Not a file that tuning is allowed to write, whatever a journal lists.
    #[error("{0}: not a kernel setting")]
    NotTheKernels(String),
    /// The path leaves the directory at which the machine's files start.
    #[error("{path}: leads out of {top}")]
    LeadsOut {
        /// The path.
        path: String,
        /// The directory.
        top: String,
    },
    /// The value isn't a set of CPUs.
    #[error(transparent)]
    Cpus(#[from] CpuSetError),
    /// One call can't name this CPU.
    #[error("CPU {0} is too high for one call")]
    BeyondCall(u16),
    /// The value read back differs from the one written.
    #[error("wrote {wrote}, read back {read}")]
    NotInEffect {
        /// The value written.
        wrote: String,
        /// The value read back.
        read: String,
    },
    /// Another program has changed it since.
    #[error("set to {0} by another program since; left unchanged")]
    SetByOthers(String),
}

impl SettingError {
    pub(crate) fn io(what: impl ToString, source: impl Into<io::Error>) -> Self {
        Self::Io {
            what: what.to_string(),
            source: source.into(),
        }
    }

    pub(crate) fn gone(kind: &'static str, name: &str, pid: u32) -> Self {
        Self::Gone {
            kind,
            name: name.to_owned(),
            pid,
        }
    }
}
