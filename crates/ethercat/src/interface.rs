//! Reads network interfaces in /sys.
//!
//! It changes none.

use crate::EthercatError;
use std::fs;
use std::path::{Path, PathBuf};

const INTERFACES: &str = "/sys/class/net";

/// The kernel's number of an interface.
pub(crate) fn index(name: &str) -> Result<u32, EthercatError> {
    let known = names();
    // A name is one word; a path must not lead elsewhere in /sys.
    let text = known
        .iter()
        .any(|one| one == name)
        .then(|| read(name, "ifindex"))
        .flatten();
    let index = text.and_then(|text| text.parse().ok());
    index.ok_or_else(|| EthercatError::NoSuchInterface {
        name: name.into(),
        others: known.join(", "),
    })
}

/// Whether it is up and something is plugged in.
pub(crate) fn has_link(name: &str) -> bool {
    // Reading it fails if the interface is down.
    read(name, "carrier").as_deref() == Some("1")
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(INTERFACES).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

fn read(name: &str, file: &str) -> Option<String> {
    let path: PathBuf = Path::new(INTERFACES).join(name).join(file);
    fs::read_to_string(path)
        .ok()
        .map(|text| text.trim().to_owned())
}
