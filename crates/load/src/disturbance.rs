//! What loads disturb; one file for each load. The files say what a load does and counts; starting
//! and judging it is done elsewhere.

use serde::{Deserialize, Serialize};

pub(crate) mod bonnie;
pub(crate) mod command;
pub(crate) mod cpu;
pub(crate) mod files;
pub(crate) mod fio;
pub(crate) mod glmark2;
pub(crate) mod hackbench;
pub(crate) mod http_server;
pub(crate) mod iperf3;
pub(crate) mod memory;
pub(crate) mod messages;
pub(crate) mod network;
pub(crate) mod processes;
pub(crate) mod stress_ng;
pub(crate) mod timers;
pub(crate) mod wget;

/// A part of the machine or the kernel that a load keeps busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disturbance {
    /// Arithmetic units, and with them run queues.
    Cpu,
    /// Caches that are no larger than the last level.
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
    /// Delivery of signals.
    Signals,
    /// The graphics processor and its interrupts.
    Gpu,
    /// Not known: an arbitrary command.
    Unknown,
}
