//! Creates a log: in an empty directory or in place of another log.
//!
//! It is locked and has space for its end, or isn't created.

use super::super::block::{FILE_HEADER, file_header};
use super::super::reserve::{RESERVE_NAME, Reserve};
use super::{LOG_ANEW, LogWriter, State};
use crate::durable::{open, sync_directory};
use crate::error::{ArchiveError, Result};
use crate::{LOG_NAME, MEASURED_FORMAT_VERSION, lock};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;
use wakepath_directory::{Directory, NewFile, Trust};

impl LogWriter {
    /// Starts the log of a new run in `directory`, which must be empty or not exist; as root,
    /// nobody else must be able to write in it.
    ///
    /// # Errors
    /// As [`LogWriter::create_in`]; [`ArchiveError::Directory`].
    pub fn create(directory: &Path) -> Result<Self> {
        Self::create_in(&Directory::make(directory, Trust::Own)?)
    }

    /// Starts the log of a new run in a directory that must be empty.
    ///
    /// # Errors
    /// [`ArchiveError::DirectoryNotEmpty`]; [`ArchiveError::DiskFull`] if not even the reserve for
    /// the last events has room; [`ArchiveError::Io`]. Nothing is left in the directory then.
    pub fn create_in(directory: &Directory) -> Result<Self> {
        let names = directory
            .names()
            .map_err(|e| ArchiveError::io("list the run directory", directory.path(), e))?;
        if !names.is_empty() {
            return Err(ArchiveError::DirectoryNotEmpty {
                path: directory.path().to_owned(),
            });
        }
        Self::begin(directory, LOG_NAME)
    }

    /// Writes a log that replaces the one in the directory when it ends, for a run whose events are
    /// known only afterwards. The old one stays until then, and an interrupted attempt can be
    /// repeated.
    ///
    /// # Errors
    /// [`ArchiveError::InUse`] while a process writes the old one; as [`LogWriter::create_in`].
    pub fn replace_in(directory: &Directory) -> Result<Self> {
        let failed = |e| ArchiveError::io("remove", &directory.path_of(LOG_ANEW), e);
        if let Some(old) = open(directory, LOG_NAME, "open the log")? {
            lock::exclusive(&old, &directory.path_of(LOG_NAME))?;
        }
        directory.remove(LOG_ANEW).map_err(failed)?;
        Self::begin(directory, LOG_ANEW)
    }

    fn begin(directory: &Directory, name: &'static str) -> Result<Self> {
        let path = directory.path_of(name);
        let mut file = match directory.create_new(name, 0o644) {
            // The first writer has the run.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(ArchiveError::DirectoryNotEmpty {
                    path: directory.path().to_owned(),
                });
            }
            created => created.map_err(|e| ArchiveError::io("create the log", &path, e))?,
        };
        match Self::take_room(&mut file, directory, &path) {
            Ok(reserve) => Ok(Self {
                file,
                directory: directory.clone(),
                name,
                path,
                end: FILE_HEADER as u64,
                sequence: 0,
                pending: BTreeMap::new(),
                begun: false,
                segments: BTreeSet::new(),
                reserve,
                state: State::Writing,
                trouble: None,
            }),
            Err(error) => {
                // Nothing was recorded: restore the directory as far as possible.
                let _ = (directory.remove(RESERVE_NAME), directory.remove(name));
                Err(error)
            }
        }
    }

    /// Locks the new log, writes its header and reserves space for its end.
    fn take_room(file: &mut NewFile, directory: &Directory, path: &Path) -> Result<Reserve> {
        let failed = |action| move |e| ArchiveError::io(action, path, e);
        lock::exclusive(file.as_file(), path)?;
        file.write_all(&file_header(MEASURED_FORMAT_VERSION))
            .map_err(failed("write the log's header"))?;
        let end = FILE_HEADER as u64;
        let reserve = Reserve::take(file, directory, end).map_err(failed("reserve room"))?;
        file.sync().map_err(failed("sync the log"))?;
        sync_directory(directory)?;
        Ok(reserve)
    }
}
