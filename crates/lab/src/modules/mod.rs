//! Kernel modules that a guest loads before anything else: which they are, in which order, and their
//! bytes, unpacked here so that no guest does it at an emulated CPU's pace. It loads none.

mod file;
mod tree;

pub(crate) use tree::Tree;

use std::path::PathBuf;
use wakepath_guest::cpio::{Entry, Kind};
use wakepath_guest::order::OrderedModule;

/// Directory of a guest's modules.
const PLACE: &str = "lab/modules";

/// Reasons to reject requested modules.
#[derive(Debug, thiserror::Error)]
pub enum ModuleFault {
    /// The directory has none.
    #[error(
        "holds no kernel modules{}: give what `make modules_install` made, or /lib/modules/RELEASE",
        release.as_ref().map(|release| format!(" of {release}")).unwrap_or_default()
    )]
    NoTree {
        /// The kernel's release, if known.
        release: Option<String>,
    },
    /// None of that name.
    #[error("holds no module {name}{}", for_whom(needed_by.as_deref()))]
    NotThere {
        /// Its name.
        name: String,
        /// The module that depends on it.
        needed_by: Option<String>,
    },
    /// Modules that depend on each other.
    #[error("its modules depend on each other in a circle, {name} among them")]
    Circle {
        /// One of them.
        name: String,
    },
    /// Unknown compression, or damaged.
    #[error("can't be unpacked as {as_what}")]
    Packed {
        /// By its name.
        as_what: &'static str,
    },
    /// Not an ELF file with a module's description.
    #[error("no kernel module: it says nothing of itself (section .modinfo)")]
    NoModule,
    /// For another kernel.
    #[error("a module for the kernel {is}, the guest's is {guest}")]
    OtherKernel {
        /// The module's target.
        is: String,
        /// The guest's release.
        guest: String,
    },
    /// `--module` with nothing in it.
    #[error("--module {given:?}: give a module's name, followed by its parameters")]
    Name {
        /// The given text.
        given: String,
    },
    /// Nowhere to look.
    #[error(
        "modules of {kernel} were requested ({names}), and it is not a package: give their directory with \
         `--modules DIR`"
    )]
    Nowhere {
        /// The kernel as it was called.
        kernel: String,
        /// The modules.
        names: String,
    },
}

fn for_whom(needed_by: Option<&str>) -> String {
    match needed_by {
        Some(other) => format!(", which {other} needs"),
        None => ", neither as a file nor built into the kernel".to_owned(),
    }
}

/// A requested module: its name, followed by parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub name: String,
    pub parameters: String,
}

impl Asked {
    /// Reads `NAME PARAMETER=VALUE …`.
    pub fn parse(text: &str) -> Result<Self, ModuleFault> {
        let text = text.trim();
        let (name, parameters) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        if !name.is_empty() && name.chars().all(plain) {
            Ok(Self {
                name: as_called(name),
                parameters: parameters.trim().to_owned(),
            })
        } else {
            Err(ModuleFault::Name { given: text.into() })
        }
    }
}

/// The kernel's name of a module: dashes count as underscores.
fn as_called(name: &str) -> String {
    name.replace('-', "_")
}

/// A module that a guest loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Module {
    pub name: String,
    pub parameters: String,
    /// Its file.
    pub path: PathBuf,
    /// Its bytes for the kernel.
    pub bytes: Vec<u8>,
}

impl Module {
    /// The module's entry in the guest's order.
    pub fn ordered(&self) -> OrderedModule {
        OrderedModule {
            path: format!("/{}", self.place()),
            parameters: self.parameters.clone(),
        }
    }

    /// Its file in the guest.
    pub fn entry(&self) -> Entry {
        Entry {
            path: self.place(),
            kind: Kind::File {
                executable: false,
                bytes: self.bytes.clone(),
            },
        }
    }

    fn place(&self) -> String {
        format!("{PLACE}/{}.ko", self.name)
    }
}
