//! A kernel's configuration, and the options that a guest would lack.
//!
//! Checked before anything boots. A kernel whose configuration isn't found is booted anyway.

mod found;
mod wanted;

pub(crate) use found::beside;
pub(crate) use wanted::{Asked, Lack, Weight, lacking, wanted};

use crate::kernel::Kernel;
use crate::{LabError, Result};
use std::collections::HashMap;
use std::fs;

/// A kernel's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Configuration {
    /// Options that are set, without `CONFIG_`, with their values: `y`, `m` or another word.
    set: HashMap<String, String>,
    /// Version of the kernel that it was written for, as in its second line.
    pub version: Option<(u32, u32)>,
    /// Its source.
    pub from: String,
}

/// Whether a kernel has an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// Built in.
    Yes,
    /// As a module.
    Module,
    /// Not set.
    No,
}

impl Configuration {
    /// The kernel's configuration, from a file or its image; none if neither has it.
    ///
    /// # Errors
    /// If one of its files can't be read.
    pub fn new(kernel: &Kernel) -> Result<Option<Self>> {
        if let Some(path) = &kernel.config {
            let text = fs::read(path).map_err(|error| LabError::io("read", path, error))?;
            let from = path.display().to_string();
            return Ok(Some(Self::parse(&String::from_utf8_lossy(&text), from)));
        }
        let path = &kernel.path;
        let image = fs::read(path).map_err(|error| LabError::io("read", path, error))?;
        let from = format!("the image {}", path.display());
        Ok(found::embedded(&image).map(|text| Self::parse(&text, from)))
    }

    /// Reads lines `CONFIG_NAME=VALUE`; an option that is not set is a comment there.
    pub fn parse(text: &str, from: String) -> Self {
        let set = text.lines().filter_map(|line| {
            let (name, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            Some((name.to_owned(), value.trim().to_owned()))
        });
        Self {
            set: set.collect(),
            version: found::version(text),
            from,
        }
    }

    /// Setting of an option.
    pub fn setting(&self, option: &str) -> Setting {
        match self.set.get(option).map(String::as_str) {
            None | Some("n") => Setting::No,
            Some("m") => Setting::Module,
            Some(_) => Setting::Yes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_built_in_a_module_or_not_there() {
        let text = "#\n# Automatically generated file; DO NOT EDIT.\n\
                    # Linux/x86 4.9.337 Kernel Configuration\n#\nCONFIG_64BIT=y\nCONFIG_UNIX=m\n\
                    # CONFIG_TMPFS is not set\nCONFIG_HZ=250\nCONFIG_LOCALVERSION=\"-a=b\"\n";
        let read = Configuration::parse(text, "a".into());
        assert_eq!(read.version, Some((4, 9)));
        assert_eq!(read.setting("64BIT"), Setting::Yes);
        assert_eq!(read.setting("HZ"), Setting::Yes);
        assert_eq!(read.setting("UNIX"), Setting::Module);
        assert_eq!(read.setting("TMPFS"), Setting::No);
        assert_eq!(read.setting("NET"), Setting::No);
    }
}
