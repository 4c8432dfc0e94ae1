//! Putting a file in place so that a power cut leaves the old state or the new one, never half of
//! it. It knows nothing about what the file holds.

use std::fs::{self, File};
use std::path::Path;

use crate::error::{ArchiveError, Result};

/// Waits until the disk has the directory's entries: created, renamed and removed files.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    File::open(path)
        .and_then(|directory| directory.sync_all())
        .map_err(|e| ArchiveError::io("sync the directory", path, e))
}

/// Waits until the disk has the file's bytes and size.
pub(crate) fn sync_file(file: &File, path: &Path) -> Result<()> {
    file.sync_all()
        .map_err(|e| ArchiveError::io("sync", path, e))
}

/// Puts `from` in `to`'s place. Lasting only after [`sync_directory`].
pub(crate) fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|e| ArchiveError::io("rename into place", to, e))
}

/// Removes a file; one that is not there is as good as removed.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(ArchiveError::io("remove", path, error))
        }
        _ => Ok(()),
    }
}
