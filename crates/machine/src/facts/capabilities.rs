//! The capabilities that real-time work needs, as effective for the reading process.

use serde::{Deserialize, Serialize};

/// A process's effective capabilities, as far as a loop needs them. Inside a user namespace the
/// kernel ignores the first two, whatever these bits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// Any policy, priority, nice value and affinity (CAP_SYS_NICE).
    pub sys_nice: bool,
    /// Locking any amount of memory (CAP_IPC_LOCK).
    pub ipc_lock: bool,
    /// Mounting, scheduler debug files and more (CAP_SYS_ADMIN).
    pub sys_admin: bool,
    /// Kernel event tracing (CAP_PERFMON).
    pub perfmon: bool,
}

impl Capabilities {
    /// From the hexadecimal mask in `CapEff`; bit numbers as in `linux/capability.h`.
    pub(super) fn from_mask(mask: u64) -> Self {
        let has = |bit: u32| mask & (1 << bit) != 0;
        Self {
            sys_nice: has(23),
            ipc_lock: has(14),
            sys_admin: has(21),
            perfmon: has(38),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capability_is_its_own_bit() {
        let none = Capabilities::default();
        assert_eq!(Capabilities::from_mask(0), none);
        let nice = Capabilities {
            sys_nice: true,
            ..none
        };
        assert_eq!(Capabilities::from_mask(0x0080_0000), nice);
        let lock = Capabilities {
            ipc_lock: true,
            ..none
        };
        assert_eq!(Capabilities::from_mask(0x4000), lock);
    }
}
