//! Options of the laboratory: the guests, and the host's resources for them.

use crate::topology::Topology;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use wakepath_archive::GuestAdditions;

/// The guests: each kernel with each variant. Together with seeds and a scenario this is sufficient
/// to repeat a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestsAsked {
    /// Kernels, as users name them, each followed by its own parameters after a space.
    pub kernels: Vec<String>,
    /// Further parameters of the kernels.
    pub variants: Vec<String>,
    /// Architecture of the guests.
    pub architecture: String,
    /// CPUs of each guest.
    pub cpus: u16,
    /// CPU topology, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Topology>,
    /// Commands that run first; a dash before one lets it fail.
    pub before: Vec<String>,
    /// Virtual nanoseconds that pass with each instruction.
    pub ns_per_instruction: u32,
    /// Memory of each guest in MiB.
    pub memory_mib: u32,
    /// Additions to each guest.
    #[serde(default, skip_serializing_if = "GuestAdditions::is_empty")]
    pub added: GuestAdditions,
}

/// Host resources for the guests; they don't affect the guests' counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostAsked {
    /// Guests that run at the same time; by default the number of CPUs of this host.
    pub beside: Option<u16>,
    /// Time limit of each guest on this host, with its unit.
    pub timeout: Option<String>,
    /// The wakepath that runs in the guests.
    pub program: Option<PathBuf>,
    /// The emulator's program.
    pub emulator: Option<PathBuf>,
}
