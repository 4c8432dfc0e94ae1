//! Writes the emulator's plugin to a file for one run.
//!
//! It is embedded in this program, so that the laboratory needs neither an installation nor a
//! compiler.

use crate::{LabError, Result};
use std::fs;
use std::path::{Path, PathBuf};

const FOR_1: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin-1"));
const FOR_2: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin-2"));

/// From this version of the emulator on, the second version of its interface is needed.
const SECOND_INTERFACE: u32 = 9;
/// Its name in the directory that the emulator runs in.
const NAME: &str = "window-plugin.so";

/// A plugin for a guest; its file is gone when this is.
#[derive(Debug)]
pub struct Plugin {
    path: PathBuf,
}

impl Plugin {
    /// Writes the plugin for this version of the emulator, as in `qemu`, into the directory that
    /// the emulator will run in.
    ///
    /// # Errors
    /// [`LabError::NoPlugin`], or if the file can't be written.
    pub fn place(version: &str, directory: &Path) -> Result<Self> {
        let library = Self::library(version)?;
        let path = directory.join(NAME);
        fs::write(&path, library).map_err(|e| LabError::io("write", &path, e))?;
        Ok(Self { path })
    }

    /// The plugin's bytes for this version of the emulator.
    pub(crate) fn library(version: &str) -> Result<&'static [u8]> {
        let version = version.strip_prefix("QEMU ").unwrap_or_default();
        let major = version
            .split('.')
            .next()
            .and_then(|major| major.parse::<u32>().ok());
        let library = match major {
            Some(SECOND_INTERFACE..) => FOR_2,
            _ => FOR_1,
        };
        if library.is_empty() {
            Err(LabError::NoPlugin)
        } else {
            Ok(library)
        }
    }

    /// The emulator's arguments for the plugin.
    pub fn arguments() -> [String; 2] {
        ["-plugin".into(), format!("./{NAME}")]
    }

    /// For transitions and costs: names the guest's memory so that the plugin finds it in its
    /// process. The guest's memory doesn't change.
    pub fn memory_arguments(mib: u32) -> [String; 4] {
        [
            "-object".into(),
            format!("memory-backend-memfd,id=noted,size={mib}M"),
            "-machine".into(),
            "memory-backend=noted".into(),
        ]
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        // It is of no use to anybody, and does no harm either.
        let _ = fs::remove_file(&self.path);
    }
}
