//! The CPUs that a thread may use, over time.

/// CPUs that a thread may use from an instant on: its affinity within its cpuset.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AllowedCpus {
    /// When this was first seen, in nanoseconds on `CLOCK_MONOTONIC`: the change was a little earlier.
    pub seen_ns: u64,
    /// Ascending.
    pub cpus: Vec<u16>,
}
