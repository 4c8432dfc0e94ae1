//! Operations of a held directory with the archive's own errors.
//!
//! It doesn't interpret the files.

use std::fs::File;
use std::path::Path;

use wakepath_directory::{Directory, NewFile, Trust};

use crate::error::{ArchiveError, Result};

/// Opens a run directory to write in it.
pub(crate) fn to_write(directory: &Path) -> Result<Directory> {
    if !directory.exists() {
        return Err(ArchiveError::NotARun {
            path: directory.to_owned(),
        });
    }
    Ok(Directory::to_write(directory, Trust::Own)?)
}

/// Opens a run directory for reading only.
pub(crate) fn to_read(directory: &Path) -> Result<Directory> {
    Directory::to_read(directory).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => ArchiveError::NotARun {
            path: directory.to_owned(),
        },
        _ => ArchiveError::io("open the run directory", directory, error),
    })
}

/// Opens a file for reading; `None` if it doesn't exist.
pub(crate) fn open(
    directory: &Directory,
    name: &str,
    action: &'static str,
) -> Result<Option<File>> {
    match directory.open(name) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ArchiveError::io(action, &directory.path_of(name), error)),
    }
}

/// Waits until the disk has the directory's entries: created, renamed and removed files.
pub(crate) fn sync_directory(directory: &Directory) -> Result<()> {
    directory
        .sync()
        .map_err(|e| ArchiveError::io("sync the directory", directory.path(), e))
}

/// Waits until the disk has the file's bytes and size.
pub(crate) fn sync_file(file: &mut NewFile, path: &Path) -> Result<()> {
    file.sync().map_err(|e| ArchiveError::io("sync", path, e))
}

/// Puts `from` in `to`'s place. Lasting only after [`sync_directory`].
pub(crate) fn rename(directory: &Directory, from: &str, to: &str) -> Result<()> {
    directory
        .rename(from, to)
        .map_err(|e| ArchiveError::io("rename into place", &directory.path_of(to), e))
}

/// Removes a file; one that is not there is as good as removed.
pub(crate) fn remove(directory: &Directory, name: &str) -> Result<()> {
    directory
        .remove(name)
        .map_err(|e| ArchiveError::io("remove", &directory.path_of(name), e))
}

/// Whether the name exists.
pub(crate) fn holds(directory: &Directory, name: &str) -> bool {
    directory.holds(name)
}
