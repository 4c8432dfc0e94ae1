//! Architectures of guests, and their names in other projects.
//!
//! Pure.

use std::fmt;

/// Architecture of a guest and of its programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// x86-64.
    X86_64,
    /// 64-bit Arm, such as a Raspberry Pi's.
    Aarch64,
    /// 32-bit Arm, such as a BeagleBone's.
    Armv7,
}

impl Architecture {
    /// All architectures.
    pub const ALL: [Self; 3] = [Self::X86_64, Self::Aarch64, Self::Armv7];

    /// Reads a name as [`fmt::Display`] writes it.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.to_string() == text)
    }

    /// This program's own.
    pub fn of_this_program() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::Aarch64),
            "arm" => Some(Self::Armv7),
            _ => None,
        }
    }

    /// Debian's name.
    pub fn of_debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
            Self::Armv7 => "armhf",
        }
    }

    /// Debian's name for a kernel of this architecture.
    pub(crate) fn of_kernels(self) -> &'static str {
        match self {
            Self::Armv7 => "armmp",
            other => other.of_debian(),
        }
    }

    /// Rust's name of the target that wakepath is released for.
    pub fn target(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-musl",
            Self::Aarch64 => "aarch64-unknown-linux-musl",
            Self::Armv7 => "armv7-unknown-linux-gnueabihf",
        }
    }

    /// Library directory of Debian's programs, below `/lib` and `/usr/lib`.
    pub(crate) fn libraries(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-linux-gnu",
            Self::Aarch64 => "aarch64-linux-gnu",
            Self::Armv7 => "arm-linux-gnueabihf",
        }
    }

    /// Bytes of the first, second and third level's data cache if the emulated machine's kernel
    /// knows none: those of the board with the emulated core. Loads need them for their size.
    pub fn caches_bytes(self) -> Option<[u64; 3]> {
        match self {
            // QEMU's CPU reports its own.
            Self::X86_64 => None,
            // Raspberry Pi 5: 64 KiB and 512 KiB for each core, 2 MiB for all
            // (Raspberry Pi documentation, processor BCM2712).
            Self::Aarch64 => Some([64 << 10, 512 << 10, 2 << 20]),
            // BeagleBone Black: 32 KiB and 256 KiB; no third level
            // (Texas Instruments, AM335x data sheet SPRS717).
            Self::Armv7 => Some([32 << 10, 256 << 10, 0]),
        }
    }

    /// The emulator's program.
    pub fn emulator(self) -> &'static str {
        match self {
            Self::X86_64 => "qemu-system-x86_64",
            Self::Aarch64 => "qemu-system-aarch64",
            Self::Armv7 => "qemu-system-arm",
        }
    }

    /// The package that holds it.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::X86_64 => "qemu-system-x86",
            Self::Aarch64 | Self::Armv7 => "qemu-system-arm",
        }
    }

    /// Packages with all that it reads, its own first.
    pub(crate) fn packages(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &["qemu-system-x86", "qemu-system-data", "seabios"],
            Self::Aarch64 | Self::Armv7 => &["qemu-system-arm", "qemu-system-data"],
        }
    }

    /// The kernel's name for the console.
    pub(crate) fn console(self) -> &'static str {
        match self {
            Self::X86_64 => "ttyS0",
            Self::Aarch64 | Self::Armv7 => "ttyAMA0",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::X86_64 => "x86-64",
            Self::Aarch64 => "aarch64",
            Self::Armv7 => "armv7",
        })
    }
}
