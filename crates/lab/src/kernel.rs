//! A kernel that can be booted, and how a file is told to be one. How it is named and fetched is in
//! `kernel_name`.

use crate::architecture::Architecture;
use crate::{LabError, Result};
use std::path::{Path, PathBuf};

/// A kernel that can be booted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Its file.
    pub path: PathBuf,
    /// The file that the emulator starts: the same, or what is packed in it.
    pub started: PathBuf,
    /// SHA-256 of its file, in hexadecimal.
    pub sha256: String,
    /// Package and version that it comes from.
    pub package: Option<String>,
    /// What it was configured with, in a file `config-RELEASE`, where that is known.
    pub config: Option<PathBuf>,
}

/// What a bootable image of each architecture has, and where: Linux's Documentation, x86/boot.rst
/// (`HdrS`), arm64/booting.rst (`ARM\x64`), and arch/arm/boot/compressed/head.S (0x016f2818).
pub(crate) const IMAGES: [(Architecture, usize, &[u8]); 3] = [
    (Architecture::X86_64, 0x202, b"HdrS"),
    (Architecture::Aarch64, 56, b"ARM\x64"),
    (Architecture::Armv7, 36, &0x016f_2818_u32.to_le_bytes()),
];

/// Refuses a file that is another architecture's kernel, or none at all: the emulator calls both a
/// kernel that is too old.
pub(crate) fn refuse_other(path: &Path, bytes: &[u8], architecture: Architecture) -> Result<()> {
    let has = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|b| b.starts_with(magic));
    let found = IMAGES.iter().find(|(_, at, magic)| has(*at, magic));
    match found {
        Some((is, ..)) if *is == architecture => Ok(()),
        // An Arm kernel may be wrapped: gzip, uImage.
        None if architecture != Architecture::X86_64 => Ok(()),
        found => Err(LabError::KernelImage {
            path: path.to_owned(),
            is: match found {
                Some((is, ..)) => format!("a kernel for {is}"),
                None => "no bzImage".to_owned(),
            },
            guest: architecture,
        }),
    }
}
