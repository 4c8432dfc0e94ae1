//! A bootable kernel, and how its file is recognised.
//!
//! `kernel_name` names and fetches it.

use crate::architecture::Architecture;
use crate::unpacked::enters_directly;
use crate::{LabError, Result};
use std::path::{Path, PathBuf};

/// A kernel that can be booted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// Its file.
    pub path: PathBuf,
    /// The file that the emulator starts: the same, or the one unpacked from it.
    pub started: PathBuf,
    /// SHA-256 of its file, in hexadecimal.
    pub sha256: String,
    /// Package and version that it comes from.
    pub package: Option<String>,
    /// The kernel's configuration file, if found.
    pub config: Option<PathBuf>,
    /// Its `uname -r`, if its image contains it.
    pub release: Option<String>,
}

/// Offset of the pointer to a bzImage's version (x86/boot.rst, `kernel_version`), from its second
/// sector.
const VERSION_AT: usize = 0x20e;
const SECTOR: usize = 0x200;
/// Text before the release in an unpacked image (init/version.c of Linux).
const BANNER: &[u8] = b"Linux version ";

/// The release that an image contains.
pub(crate) fn release(image: &[u8]) -> Option<String> {
    let in_header = || {
        let at: [u8; 2] = image.get(VERSION_AT..VERSION_AT + 2)?.try_into().ok()?;
        let at = usize::from(u16::from_le_bytes(at));
        image.get(at.checked_add(SECTOR)?..).filter(|_| at > 0)
    };
    let in_banner = || {
        let found = image.windows(BANNER.len()).position(|w| w == BANNER)?;
        image.get(found + BANNER.len()..)
    };
    let (_, at, magic) = IMAGES[0];
    let is_packed = image
        .get(at..)
        .is_some_and(|bytes| bytes.starts_with(magic));
    let text = if is_packed { in_header() } else { in_banner() }?;
    let word = text
        .split(|byte| *byte == 0 || byte.is_ascii_whitespace())
        .next()?;
    let word = std::str::from_utf8(word).ok()?;
    let begins = word.starts_with(|c: char| c.is_ascii_digit());
    let plain = |c: char| c.is_ascii_alphanumeric() || ".+-_~".contains(c);
    (begins && word.len() < 100 && word.chars().all(plain)).then(|| word.to_owned())
}

/// Magic number of a bootable image of each architecture and its offset: Linux's Documentation,
/// x86/boot.rst (`HdrS`), arm64/booting.rst (`ARM\x64`), and arch/arm/boot/compressed/head.S
/// (0x016f2818).
pub(crate) const IMAGES: [(Architecture, usize, &[u8]); 3] = [
    (Architecture::X86_64, 0x202, b"HdrS"),
    (Architecture::Aarch64, 56, b"ARM\x64"),
    (Architecture::Armv7, 36, &0x016f_2818_u32.to_le_bytes()),
];

/// Refuses a file that is another architecture's kernel, or none: the emulator's error for both is
/// that the kernel is too old.
pub(crate) fn refuse_other(path: &Path, bytes: &[u8], architecture: Architecture) -> Result<()> {
    // A vmlinux that the emulator can enter directly.
    if architecture == Architecture::X86_64 && enters_directly(bytes) {
        return Ok(());
    }
    let has = |at: usize, magic: &[u8]| bytes.get(at..).is_some_and(|b| b.starts_with(magic));
    let found = IMAGES.iter().find(|(_, at, magic)| has(*at, magic));
    match found {
        Some((is, ..)) if *is == architecture => Ok(()),
        // An Arm kernel can be wrapped: gzip, uImage.
        None if architecture != Architecture::X86_64 => Ok(()),
        found => Err(LabError::KernelImage {
            path: path.to_owned(),
            is: match found {
                Some((is, ..)) => format!("a kernel for {is}"),
                None => "not a bzImage".to_owned(),
            },
            guest: architecture,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_tells_its_release_in_its_header_or_its_banner() {
        let mut packed = vec![0; 0x400];
        packed[0x202..0x206].copy_from_slice(b"HdrS");
        packed[VERSION_AT] = 0x80;
        packed[0x280..0x290].copy_from_slice(b"6.1.0-56-amd64 (");
        assert_eq!(release(&packed).as_deref(), Some("6.1.0-56-amd64"));
        packed[VERSION_AT + 1] = 0xff;
        assert_eq!(release(&packed), None, "its version lies behind its end");
        let image = b"....Linux version 4.9.337+ (me@here) (gcc) #1\n";
        assert_eq!(release(image).as_deref(), Some("4.9.337+"));
        assert_eq!(release(b"Linux version %s (%s)"), None);
        assert_eq!(release(b""), None);
    }
}
