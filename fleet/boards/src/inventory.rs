//! The inventory of a fleet, read from TOML: boards with name, address and tags, and schedules.
//!
//! It contains no secret and refuses anything that looks like one.

mod read;
mod schedules;

pub(crate) use read::is_name;

use crate::schedule::Schedule;
use std::path::PathBuf;

/// One board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// Its name, under which its runs are stored and signed.
    pub name: String,
    /// Address for OpenSSH: a host, `user@host`, or an alias of its configuration.
    pub address: String,
    /// Port, if it differs from OpenSSH's configuration.
    pub port: Option<u16>,
    /// Words to choose it by.
    pub tags: Vec<String>,
    /// Its place in labgrid, if it has one.
    pub place: Option<String>,
    /// Directory of wakepath's files on it, relative to its account's home or absolute.
    pub directory: String,
}

/// All boards, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    /// The boards.
    pub boards: Vec<Board>,
    /// Scenarios to run on schedule, in the order of the file.
    pub schedules: Vec<Schedule>,
}

/// Faults of an inventory.
#[derive(Debug, thiserror::Error)]
pub enum InventoryError {
    /// The file can't be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Invalid content.
    #[error("{place}:{line}: {what}")]
    Wrong {
        /// The file's name.
        place: String,
        /// Line, from 1.
        line: usize,
        /// The fault, and what would be right.
        what: String,
    },
}
