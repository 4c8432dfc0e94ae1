//! The state of a watch, apart from its trace.
//!
//! It is in a file while the watch runs, which is removed when the run is recorded. Together with
//! the trace it turns a watch that was killed into a run.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;
use wakepath_directory::Directory;
use wakepath_timeline::{AllowedCpus, Policy, plain_name};

use crate::{FactsTaken, TracingSetUp, read_legible};

/// Name of the file in the run directory.
const FILE_NAME: &str = "watch.json";
/// Its name while it is written.
const PARTIAL: &str = "watch.json.partial";

/// Reasons why a watch's state can't be stored, read or removed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The file can't be written, read or removed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It does not hold a watch.
    #[error("{}: {source}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// The parser's error.
        source: serde_json::Error,
    },
}

/// One watched thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Number of its process.
    pub process: u32,
    /// Its name when it was last looked at, which it chose itself.
    pub name: String,
    /// Policy when it was last read, or the reason why it is unknown.
    pub policy: Result<Policy, PolicyUnread>,
    /// Its earlier policies.
    pub earlier_policies: Vec<Policy>,
    /// Its CPUs, all that it was allowed at any time.
    pub cpus: Vec<u16>,
    /// Those that it was allowed, by time.
    pub allowed: Vec<AllowedCpus>,
    /// Whether it started during the watch.
    pub is_new: bool,
    /// Whether it is gone.
    pub ended: bool,
}

/// The kernel's reason why a thread's policy is unknown. Stored as text, because another process
/// reads it if the watch was killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(transparent)]
#[error("{0}")]
pub struct PolicyUnread(pub String);

/// All observed threads, by number.
pub type Threads = BTreeMap<u32, Thread>;

/// Which of a program's own probes (USDT) bound its cycles and sections.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marked {
    /// The probes at which a cycle begins and ends, as a person names them.
    pub cycle: Option<String>,
    /// Names of the sections, in the order of their marks.
    pub sections: Vec<String>,
}

/// One watch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    /// Name of the watched program.
    pub name: String,
    /// When it began.
    pub started: SystemTime,
    /// Latency above which an activation is late, in nanoseconds, if given.
    pub latency_ns: Option<u64>,
    /// Time from its due time within which a cycle is to end, in nanoseconds, if given.
    pub deadline_ns: Option<u64>,
    /// Policy that the program should have, if given.
    pub policy: Option<Policy>,
    /// CPUs whose events are recorded.
    pub cpus: Vec<u16>,
    /// Clock of all times.
    pub clock_source: String,
    /// How the trace is set up.
    pub set_up: TracingSetUp,
    /// The machine, before and after.
    pub facts: Vec<FactsTaken>,
    /// Notes for the reader.
    pub notes: Vec<String>,
    /// The program's own probes to record.
    #[serde(default)]
    pub marked: Marked,
    /// First process of a program that was started.
    pub first: Option<u32>,
    /// The observed threads.
    pub threads: Threads,
    /// Functions of callbacks of ROS 2.
    #[serde(default)]
    pub functions: Vec<CallbackFunction>,
}

/// The function of a callback.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackFunction {
    /// The callback's process.
    pub process: u32,
    /// The callback's address there.
    pub handle: u64,
    /// When it began for the first time, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// The function.
    pub name: String,
}

impl Session {
    /// Writes it atomically: a kill leaves the previous version.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn keep(&self, directory: &Directory) -> Result<(), SessionError> {
        let bytes = serde_json::to_vec(self).map_err(form(directory))?;
        directory
            .put(FILE_NAME, &bytes)
            .map_err(io(directory, FILE_NAME))
    }

    /// Reads it, with each text reduced to one line; `None` if no watch was cut short.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn left_in(directory: &Directory) -> Result<Option<Self>, SessionError> {
        let bytes = directory
            .read(FILE_NAME)
            .map_err(io(directory, FILE_NAME))?;
        let session = bytes.map(|bytes| read_legible(&bytes));
        session.transpose().map_err(form(directory))
    }

    /// Removes it and any partial copy, once the run is recorded.
    ///
    /// # Errors
    /// If it can't be removed.
    pub fn forget(directory: &Directory) -> Result<(), SessionError> {
        for name in [PARTIAL, FILE_NAME] {
            directory.remove(name).map_err(io(directory, name))?;
        }
        Ok(())
    }

    /// Name of the run: if the program started another in its place, that one's.
    pub fn run_name(&self) -> String {
        let first = self.first.and_then(|first| self.threads.get(&first));
        first.map_or_else(|| self.name.clone(), |first| plain_name(&first.name))
    }
}

fn io(directory: &Directory, name: &str) -> impl FnOnce(io::Error) -> SessionError {
    let path = directory.path_of(name);
    |source| SessionError::Io { path, source }
}

fn form(directory: &Directory) -> impl FnOnce(serde_json::Error) -> SessionError {
    let path = directory.path_of(FILE_NAME);
    |source| SessionError::Form { path, source }
}
