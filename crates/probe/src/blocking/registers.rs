//! The registers that a stack is unwound from, in the kernel's numbers of this CPU.

/// Registers of the program when it entered the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers {
    /// Instruction.
    pub instruction: u64,
    /// Stack pointer.
    pub stack: u64,
    /// Frame pointer.
    pub frame: u64,
    /// Return address, on CPUs that have a register for it.
    pub link: u64,
}

#[cfg(target_arch = "x86_64")]
impl Registers {
    /// `PERF_REG_X86_BP`, `_SP` and `_IP`.
    pub(super) const MASK: u64 = 1 << 6 | 1 << 7 | 1 << 8;

    /// Values in the order of their numbers.
    pub(super) fn in_kernel_order(values: &[u64]) -> Option<Self> {
        let &[frame, stack, instruction] = values else {
            return None;
        };
        Some(Self {
            instruction,
            stack,
            frame,
            link: 0,
        })
    }
}

#[cfg(target_arch = "aarch64")]
impl Registers {
    /// `PERF_REG_ARM64_X29`, `_LR`, `_SP` and `_PC`.
    pub(super) const MASK: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

    /// Values in the order of their numbers.
    pub(super) fn in_kernel_order(values: &[u64]) -> Option<Self> {
        let &[frame, link, stack, instruction] = values else {
            return None;
        };
        Some(Self {
            instruction,
            stack,
            frame,
            link,
        })
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
impl Registers {
    /// None: the kernel follows the program's frame pointers.
    pub(super) const MASK: u64 = 0;

    pub(super) fn in_kernel_order(_: &[u64]) -> Option<Self> {
        None
    }
}
