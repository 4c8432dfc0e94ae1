//! A run that a larger measurement orders from another process: one line of JSON in, one back.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
    /// Command line that repeats it alone, for the manifest.
    pub command: Vec<String>,
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
