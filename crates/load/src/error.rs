//! Errors of loads, each with the one line that the user needs.

use std::io;
use std::path::PathBuf;

/// Why loads could not start, or were not working.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The program of a load is not installed.
    #[error("load {load}: the program {program} is not installed; {remedy}")]
    MissingProgram {
        /// Name of the load.
        load: String,
        /// The program.
        program: String,
        /// The way out, such as "install the package fio".
        remedy: String,
    },
    /// The program of a load is only in a place where other users could have put it.
    #[error("load {load}: {found}")]
    DistrustedProgram {
        /// Name of the load.
        load: String,
        /// Its place, and the reason why it is rejected.
        found: wakepath_programs::NotFound,
    },
    /// No GPU can be used: why each interface has none.
    #[error("load gpu: {0}")]
    NoDevice(String),
    /// No program has an EtherCAT master.
    #[error("load ethercat: {0}")]
    NoMaster(wakepath_ethercat::NoProgram),
    /// A command load without a program.
    #[error("load command: the command is empty; give a program and its arguments")]
    EmptyCommand,
    /// A requested CPU that this process can't use.
    #[error("load {load}: CPU {cpu} can't be used here; usable: {usable}")]
    CpuUnavailable {
        /// Name of the load.
        load: String,
        /// The requested CPU.
        cpu: u16,
        /// Usable CPUs as a list such as "0-3".
        usable: String,
    },
    /// A working set named after a cache of unknown size.
    #[error(
        "load memory: the size of the {level} cache is not known on this machine; give the working \
         set in bytes"
    )]
    UnknownCache {
        /// "l1", "l2" or "last-level".
        level: &'static str,
    },
    /// Not even the smallest useful load fits.
    #[error("load {load}: {resource} allows only {available} bytes, but {needed} are needed")]
    TooLittleRoom {
        /// Name of the load.
        load: String,
        /// "a quarter of the available memory" or "a quarter of the free disk space".
        resource: &'static str,
        /// Bytes available for all loads.
        available: u64,
        /// Bytes needed.
        needed: u64,
    },
    /// An input or output error on a path.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A system call failed.
    #[error("{action}: {source}")]
    System {
        /// The action that failed, such as "start the load supervisor".
        action: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The supervisor ended or answered nonsense.
    #[error("the load supervisor failed: {0}")]
    Supervisor(String),
    /// Loads that did not do their work in time.
    #[error("{}", describe_idle(.0))]
    NotWorking(Vec<IdleLoad>),
}

/// A load that did nothing, and the reason if known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleLoad {
    /// Name of the load.
    pub name: String,
    /// Reason why it counts as not working.
    pub reason: String,
}

fn describe_idle(idle: &[IdleLoad]) -> String {
    let lines: Vec<String> = idle
        .iter()
        .map(|load| format!("load {} is not working: {}", load.name, load.reason))
        .collect();
    lines.join("; ")
}

impl LoadError {
    /// An error on `path`.
    pub(crate) fn io(path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self::Io {
            path: path.into(),
            source: source.into(),
        }
    }

    /// A failed system call.
    pub(crate) fn system(action: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System {
            action,
            source: source.into(),
        }
    }
}
