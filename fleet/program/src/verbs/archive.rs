//! Opens the archive that a verb names.

use crate::command_line::Archive;
use wakepath_directory::Trust;
use wakepath_fleet_archive::{DirectoryStore, Result};

fn trust(archive: &Archive) -> Trust {
    match archive.trust_directory {
        true => Trust::Any,
        false => Trust::Own,
    }
}

/// One that is there.
pub fn open(archive: &Archive) -> Result<DirectoryStore> {
    DirectoryStore::open(&archive.archive, trust(archive))
}

/// One that is there, or a new one.
pub fn make(archive: &Archive) -> Result<DirectoryStore> {
    DirectoryStore::make(&archive.archive, trust(archive))
}
