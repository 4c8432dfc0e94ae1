//! The mark of a run in virtual time.
//!
//! Its times count instructions of an emulated CPU, not time that passed on a machine. Whatever
//! reads such a run must say that.

use std::io::Read;

use serde::{Deserialize, Serialize};
use wakepath_directory::Directory;

use crate::durable::open;
use crate::error::{ArchiveError, Result};

/// Name of the file in which the emulator's host describes the emulator. It is written before the
/// run is finished, and is part of the manifest from then on.
pub const EMULATOR_NAME: &str = "emulator.json";

/// The virtual time of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualTime {
    /// Virtual nanoseconds that pass with each instruction executed.
    pub ns_per_instruction: u32,
    /// Seed of every random number of the guest.
    pub seed: u64,
    /// CPUs of the guest.
    pub cpus: u16,
    /// The longest turn of one of several CPUs, in virtual nanoseconds: they run one after the
    /// other, each while the others wait. None with one CPU, or if turns have no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ns: Option<u64>,
    /// The emulator; missing in a guest and in a log that never reached the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulator: Option<Emulator>,
}

/// The emulator and its inputs, which are sufficient to reproduce the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emulator {
    /// Its own name and version.
    pub version: String,
    /// Its command line, as separate words.
    pub arguments: Vec<String>,
    /// Name of the kernel, as the user gave it, and of its variant.
    pub kernel: String,
    /// SHA-256 of the kernel's file, in hexadecimal.
    pub kernel_sha256: String,
    /// Package and version that the kernel's file comes from, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_package: Option<String>,
    /// SHA-256 of the initramfs, in hexadecimal.
    pub initramfs_sha256: String,
    /// Commands that ran in the guest before, as the user gave them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// The guest's additions.
    #[serde(default, skip_serializing_if = "GuestAdditions::is_empty")]
    pub added: GuestAdditions,
    /// Wall-clock start on the host, RFC 3339 in UTC; the run's own start is virtual.
    pub started: String,
}

/// A guest's options other than kernel, programs and scenario, as the user gave them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuestAdditions {
    /// Directory of kernel modules; if none, those of the kernel's package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modules_from: Option<String>,
    /// Kernel modules to load first, each name followed by its parameters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// Files and directories of the host, as `HOST=GUEST`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Values to write into files of the guest's kernel, as `PATH=VALUE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// The disk, as `latency=TIME,rate=SIZE/s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk: Option<String>,
}

impl GuestAdditions {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The host's description of the emulator, if it has written one.
pub(crate) fn emulator_of(directory: &Directory) -> Result<Option<Emulator>> {
    let path = directory.path_of(EMULATOR_NAME);
    let Some(mut file) = open(directory, EMULATOR_NAME, "read")? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|e| ArchiveError::io("read", &path, e))?;
    match serde_json::from_slice(&bytes) {
        Ok(emulator) => Ok(Some(emulator)),
        Err(error) => Err(ArchiveError::NotRecognised {
            path,
            expected: "description of an emulator",
            why: error.to_string(),
        }),
    }
}
