//! The proof that a load did its work, as it goes into the record, and the reading of the counters
//! from which it is made.

use crate::disturbed::Disturbance;
use serde::{Deserialize, Serialize};

/// What one load did over a stretch of time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadProof {
    /// Name of the load, such as `memory` or `stress-ng`.
    pub name: String,
    /// What it disturbs.
    pub disturbs: Vec<Disturbance>,
    /// What `work_done` counts: "rounds", "MiB", "messages", "CPU seconds" and so on.
    pub unit: String,
    /// Work that succeeded within `seconds`.
    pub work_done: f64,
    /// Length of the stretch in seconds.
    pub seconds: f64,
    /// `work_done / seconds`.
    pub per_second: f64,
    /// Worker processes, or copies of the program.
    pub workers: u32,
    /// Workers whose own count did not advance; always 0 for programs.
    pub idle_workers: u32,
    /// CPUs that it could use, ascending.
    pub cpus: Vec<u16>,
    /// Whether those include a CPU of the measured loop.
    pub shares_a_measured_cpu: bool,
    /// CPU time of all its processes in seconds, in steps of the kernel's clock tick (10 ms as a
    /// rule).
    pub cpu_seconds: f64,
    /// Bytes that its processes read and wrote: through system calls, or to and from storage,
    /// whichever is more.
    pub io_bytes: u64,
    /// Working set of one worker of a memory load.
    pub working_set_bytes: Option<u64>,
    /// The installed program that did the work.
    pub program: Option<String>,
    /// What it printed as its version.
    pub version: Option<String>,
    /// Command line that ran, for programs.
    pub command_line: Option<String>,
    /// How often it was started again after it ended by itself, since the phase began.
    pub restarts: u64,
    /// Whether it ended by itself in a way that it should not.
    pub died_early: bool,
    /// The last exit of one of its processes, such as "exit status 0" or "signal 9".
    pub exit: Option<String>,
    /// What the program itself reported at its end; empty before the loads are stopped.
    pub reported: Vec<Reported>,
    /// Where it differs from what was asked, such as a smaller working set.
    pub notes: Vec<String>,
    /// Whether it did its work: only then is the phase valid.
    pub working: bool,
    /// Why not.
    pub reason: Option<String>,
}

/// One figure that a program reported about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reported {
    /// What it is about, such as a stressor's name.
    pub name: String,
    /// How much, over the program's whole life.
    pub amount: f64,
    /// Of what, such as "bogo operations".
    pub unit: String,
    /// The program's own figure per second of real time.
    pub per_second: f64,
}

/// The counters of all loads at one moment. Two of them make proofs.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// Nanoseconds since the loads were started.
    pub at_ns: u64,
    pub(crate) loads: Vec<LoadCounts>,
}

impl Snapshot {
    /// Name, amount and unit of the work done so far, for each load, for a live view.
    pub fn work_done(&self) -> impl Iterator<Item = (&str, f64, &str)> {
        self.loads
            .iter()
            .map(|load| (load.name.as_str(), load.amount(), load.unit.as_str()))
    }
}

/// The counters of one load at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LoadCounts {
    pub(crate) name: String,
    pub(crate) unit: String,
    /// Counter steps in one unit.
    pub(crate) steps: u64,
    /// Counts of the workers; empty for programs, whose work is their CPU time.
    pub(crate) workers: Vec<u64>,
    pub(crate) cpu_us: u64,
    pub(crate) io_bytes: u64,
    pub(crate) restarts: u64,
    pub(crate) ended: bool,
}

impl LoadCounts {
    /// Work in the load's unit.
    pub(crate) fn amount(&self) -> f64 {
        let steps = if self.workers.is_empty() {
            self.cpu_us
        } else {
            self.workers.iter().sum::<u64>()
        };
        steps as f64 / self.steps as f64
    }
}
