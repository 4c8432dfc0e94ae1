//! A reading of the counters, from which proofs are made.

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
    /// How long the workers' devices were at it.
    pub(crate) device_ns: u64,
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
