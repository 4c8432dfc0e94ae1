//! The two architectures that a guest may have, and what each is called by whom. Pure.

use std::fmt;

/// Architecture of a guest and of its programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// x86-64.
    X86_64,
    /// 64-bit Arm, such as a Raspberry Pi's.
    Aarch64,
}

impl Architecture {
    /// Reads `x86-64` or `aarch64`, as [`fmt::Display`] writes them.
    pub fn parse(text: &str) -> Option<Self> {
        let mut all = [Self::X86_64, Self::Aarch64].into_iter();
        all.find(|one| one.to_string() == text)
    }

    /// Debian's word.
    pub fn of_debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// The emulator's program.
    pub(crate) fn emulator(self) -> &'static str {
        match self {
            Self::X86_64 => "qemu-system-x86_64",
            Self::Aarch64 => "qemu-system-aarch64",
        }
    }

    /// The package that holds it.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Self::X86_64 => "qemu-system-x86",
            Self::Aarch64 => "qemu-system-arm",
        }
    }

    /// Packages with all that it reads, its own first.
    pub(crate) fn packages(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &["qemu-system-x86", "qemu-system-data", "seabios"],
            Self::Aarch64 => &["qemu-system-arm", "qemu-system-data"],
        }
    }

    /// Where the kernel finds the console.
    pub(crate) fn console(self) -> &'static str {
        match self {
            Self::X86_64 => "ttyS0",
            Self::Aarch64 => "ttyAMA0",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::X86_64 => "x86-64",
            Self::Aarch64 => "aarch64",
        })
    }
}
