//! Boot parameters as a second boot entry to try once.
//!
//! The plan lists the files to write. The working entry is never touched, and no boot loader's
//! program is run: its commands are printed.

mod entries;
mod extlinux;
mod files;
mod grub;
mod raspberry_pi;
mod uenv;

use serde::{Deserialize, Serialize};
use wakepath_machine::Root;

pub use files::{remove, write};

/// The boot loaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loader {
    /// GRUB with its own menu (Debian, Ubuntu).
    Grub,
    /// GRUB reading Boot Loader Specification entries (Fedora, RHEL).
    GrubWithEntries,
    /// systemd-boot.
    SystemdBoot,
    /// The Raspberry Pi's own.
    RaspberryPi,
    /// U-Boot or cboot with `extlinux.conf` (Jetson).
    Extlinux,
    /// U-Boot with `uEnv.txt` (BeagleBone).
    UEnv,
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFile {
    /// Its path.
    pub path: String,
    /// Its content.
    pub content: String,
    /// Its current content; none for a file that we create.
    pub before: Option<String>,
}

/// A second entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootChange {
    /// For which loader.
    pub loader: Loader,
    /// The files.
    pub files: Vec<NewFile>,
    /// Commands to boot it once.
    pub try_once: Vec<String>,
    /// What happens if it doesn't boot, and how to remove it.
    pub undo: String,
    /// Known risks with this boot loader on this machine.
    pub cautions: Vec<String>,
}

/// Reasons why there is no second entry.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BootError {
    /// None of the loaders' files are there.
    #[error(
        "no boot loader's files found below {0}: GRUB, systemd-boot, Raspberry Pi, extlinux, uEnv.txt"
    )]
    NoLoader(String),
    /// A file is not as expected.
    #[error("{path}: {why}")]
    Unfit {
        /// The file.
        path: String,
        /// The reason.
        why: String,
    },
    /// A parameter could break out of its line.
    #[error("the parameter `{0}` contains a character that a boot loader could interpret")]
    Parameter(String),
}

const TITLE: &str = "wakepath";

fn unfit(path: &str, why: impl Into<String>) -> BootError {
    BootError::Unfit {
        path: path.to_owned(),
        why: why.into(),
    }
}

/// Prepares a second entry for the loader that is found. It writes nothing.
///
/// # Errors
/// When no loader is found, or its files are not as expected.
pub fn prepare(root: &Root, parameters: &str) -> Result<BootChange, BootError> {
    let harmless =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '=' | ',' | '-' | '.' | '_' | ' ' | ':');
    if let Some(bad) = parameters
        .split(' ')
        .find(|word| !word.chars().all(harmless))
    {
        return Err(BootError::Parameter(bad.to_owned()));
    }
    let text = |path: &str| root.text(path).known().cloned();
    for folder in ["/boot/firmware", "/boot"] {
        let config = format!("{folder}/config.txt");
        let line = format!("{folder}/cmdline.txt");
        if let (Some(config), Some(line)) = (text(&config), text(&line)) {
            return raspberry_pi::prepare(root, folder, &config, &line, parameters);
        }
    }
    if let Some(file) = text("/boot/extlinux/extlinux.conf") {
        return extlinux::prepare(&file, parameters);
    }
    if let Some(file) = text("/boot/uEnv.txt") {
        return uenv::prepare(&file, parameters);
    }
    for folder in ["/boot/efi", "/efi", "/boot"] {
        if root.exists(&format!("{folder}/loader/loader.conf")) {
            return entries::prepare(root, folder, Loader::SystemdBoot, parameters);
        }
    }
    for config in ["/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"] {
        if let Some(file) = text(config) {
            return if file.contains("blscfg") {
                entries::prepare(root, "/boot", Loader::GrubWithEntries, parameters)
            } else {
                grub::prepare(config, &file, parameters)
            };
        }
    }
    Err(BootError::NoLoader("/boot".into()))
}
