//! A run that a larger measurement orders from another process: one line of JSON in, one back.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use wakepath_archive::Invocation;

/// The order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOrder {
    /// The run.
    pub run: OrderedRun,
    /// Its place in the larger measurement.
    pub part: RunPart,
}

/// A run, with nothing left to resolve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedRun {
    /// The scenario's text, with what the command line changes in it, its length, and the files that it names.
    pub scenario: String,
    /// Its file or name, for messages.
    pub source: String,
    /// Run directory.
    pub directory: PathBuf,
    /// Whether another user may own that directory.
    pub trust_directory: bool,
    /// Address of its live OpenMetrics.
    pub metrics: Option<String>,
    /// The command that repeats it alone.
    pub invocation: Invocation,
}

/// A watch of a program that a larger measurement orders: the options of `wakepath watch`, with nothing left
/// to resolve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WatchOrder {
    /// Process that orders it, and whose death ends it in order.
    pub parent: i32,
    /// How long it watches, as it is typed.
    pub duration: String,
    /// Run directory.
    pub directory: PathBuf,
    /// The program and its arguments.
    pub program: Vec<OsString>,
}

impl WatchOrder {
    /// The words that repeat it alone.
    pub fn words(&self) -> Vec<String> {
        let own = ["wakepath", "watch", "--for", &self.duration, "--"].map(str::to_owned);
        let program = self.program.iter();
        let program = program.map(|word| word.to_string_lossy().into_owned());
        own.into_iter().chain(program).collect()
    }
}

/// Place of a run in a larger measurement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPart {
    /// Its name, such as `round 3 of 10`.
    pub name: String,
    /// Process that orders it, and whose death ends it in order.
    pub parent: i32,
    /// Milliseconds that come after it.
    pub then_ms: u64,
    /// Whether it shows the live view.
    pub is_shown: bool,
}

/// The answer, once the run has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunReply {
    /// It is recorded; its own state says whether it is complete.
    Ended,
    /// It was refused, or failed.
    Failed {
        /// The reason in one line.
        why: String,
    },
}
