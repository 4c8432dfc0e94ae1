//! Parts of the machine that a load can disturb, as words of plans and proofs.
//!
//! The room `load` creates the disturbances.

/// A part of the machine or the kernel that a load keeps busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Disturbance {
    /// Arithmetic units, and with them run queues.
    Cpu,
    /// Caches up to the last level.
    Cache,
    /// The memory controller, shared by all CPUs.
    MemoryBandwidth,
    /// Kernel entries and exits.
    SystemCalls,
    /// Wake-ups and switches between processes.
    Scheduling,
    /// fork, exec and exit.
    ProcessCreation,
    /// Page faults, page tables and the invalidation of other CPUs' translations.
    MemoryMaps,
    /// Block devices and their file systems.
    Storage,
    /// The network stack and its SoftIRQs.
    Network,
    /// Timer interrupts.
    Timers,
    /// Memory that the kernel frees later, after a grace period (RCU).
    Rcu,
    /// Delivery of signals.
    Signals,
    /// The graphics processor and its interrupts.
    Gpu,
    /// Unknown: an arbitrary command, or a word of another version.
    #[cfg_attr(feature = "serde", serde(other))]
    Unknown,
}
