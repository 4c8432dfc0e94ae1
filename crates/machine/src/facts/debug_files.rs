//! Whether the kernel's debug files can be read. Mounting them would change the machine, so that
//! is left to its owner.

use serde::{Deserialize, Serialize};

use crate::{Reading, Root};

/// The state of `/sys/kernel/debug`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DebugFiles {
    /// Mounted and readable.
    Readable,
    /// There, but only for root.
    Denied,
    /// The directory is there and empty.
    NotMounted,
    /// The kernel has no debug files.
    Absent,
    /// Not looked at, or in a way this version does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

impl DebugFiles {
    pub(super) fn read(root: &Root) -> Self {
        match root.names("/sys/kernel/debug") {
            Reading::Known { value, .. } if value.is_empty() => Self::NotMounted,
            Reading::Known { .. } => Self::Readable,
            Reading::Denied { .. } => Self::Denied,
            Reading::Absent { .. } => Self::Absent,
            _ => Self::Unknown,
        }
    }

    /// Way to make them readable, in one line.
    pub fn remedy(self) -> Option<&'static str> {
        match self {
            Self::Readable | Self::Unknown => None,
            Self::Denied => Some("run as root to read /sys/kernel/debug"),
            Self::NotMounted => Some("sudo mount -t debugfs debugfs /sys/kernel/debug"),
            Self::Absent => Some("a kernel with CONFIG_DEBUG_FS=y"),
        }
    }
}
