//! A recorder's inputs: the loops' criteria, the segments' descriptions, the receiver of live
//! figures.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wakepath_archive::RunStarted;
use wakepath_measure::LiveFigures;
use wakepath_scenario::Criterion;
use wakepath_timeline::{Overrun, Policy};

/// Limits of the recording, and the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Most bytes of all segments.
    pub keep_bytes: u64,
    /// Worst cycles of each loop.
    pub worst: usize,
    /// The program's command line.
    pub command: Vec<String>,
    /// Version of the recorder.
    pub version: String,
    /// Whether a recorder of this very program was there before and died.
    pub resumes: bool,
    /// Whether the kernel's events around the worst cycles are kept.
    #[serde(default)]
    pub traces: bool,
}

/// A new loop.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Its name, in one line.
    pub name: String,
    /// Its period in nanoseconds.
    pub period_ns: u64,
    /// Behaviour when its work runs into the next due time.
    pub overrun: Overrun,
    /// The policy of its thread, read back.
    pub policy: Policy,
    /// The CPUs of its thread.
    pub cpus: Vec<u16>,
    /// All that is in effect for its thread.
    pub effective: Value,
}

/// How a segment describes itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// Its first event.
    pub start: RunStarted,
    /// The phase of its scenario.
    pub phase: String,
    /// Facts about the machine.
    pub facts: Value,
}

/// Reason for a failure in one line: the error of the code that interprets scenarios.
pub type Refusal = Box<dyn std::error::Error>;

/// Criteria for loops, and descriptions of their segments.
pub trait Terms {
    /// This loop's criterion.
    ///
    /// # Errors
    /// If it has none, the reason in one line.
    fn criterion(&self, found: &Found) -> Result<Criterion, Refusal>;
    /// Describes a segment of `cycles` cycles.
    ///
    /// # Errors
    /// If that fails, the reason in one line.
    fn describe(&self, found: &Found, cycles: u64) -> Result<Described, Refusal>;
}

/// Receives the loops' live figures.
pub trait Live {
    /// A loop's current figures.
    fn is_at(&mut self, name: &str, figures: &LiveFigures);
}
