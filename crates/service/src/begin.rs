//! Checks, creates and locks a service's directory.
//!
//! One recorder at a time holds it.

use crate::room::{self, Standing};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wakepath_directory::{Directory, DirectoryError, Trust};

/// Time limit for the previous program's recorder to write the remaining data.
const LOCK_PATIENCE: Duration = Duration::from_secs(20);

/// Why nothing is recorded.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The directory isn't usable.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It holds something else.
    #[error("{}: holds files that are not a service's; give a directory that is empty or does not exist", path.display())]
    Other {
        /// The directory.
        path: PathBuf,
    },
    /// It is of a later version.
    #[error("{}: was written by a later wakepath; record with that one, or into another directory", path.display())]
    Strange {
        /// The directory.
        path: PathBuf,
    },
    /// Another program's recorder writes there.
    #[error("{}: another program is being recorded there; give each its own directory", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
}

/// Checks a service's directory, and creates it if it doesn't exist.
///
/// # Errors
/// The reason in one line; nothing is written then.
pub fn prepare(path: &Path, trust: Trust) -> Result<Directory, ServiceError> {
    prepared(path, trust, Standing::Known, |_| Ok(()))
}

/// The same for rounds of a scenario, whose plan is there before anything else.
pub(crate) fn prepare_for_rounds(
    path: &Path,
    trust: Trust,
    plan: Option<&[u8]>,
) -> Result<Directory, ServiceError> {
    prepared(path, trust, Standing::Rounds, |directory| match plan {
        Some(plan) => directory.put(room::PLAN, plan),
        None => Ok(()),
    })
}

fn prepared(
    path: &Path,
    trust: Trust,
    known: Standing,
    begin: impl Fn(&Directory) -> io::Result<()>,
) -> Result<Directory, ServiceError> {
    let failed = |source| ServiceError::Io {
        path: path.into(),
        source,
    };
    if path.exists() {
        let directory = Directory::to_write(path, trust)?;
        match room::standing(&directory).map_err(failed)? {
            Standing::New => {}
            Standing::Strange => return Err(ServiceError::Strange { path: path.into() }),
            standing if standing == known => {}
            _ => return Err(ServiceError::Other { path: path.into() }),
        }
    }
    let directory = Directory::make(path, trust)?;
    if !room::is_service(path) {
        begin(&directory).map_err(failed)?;
        room::make(&directory).map_err(failed)?;
    }
    Ok(directory)
}

/// Holds the directory for as long as the file lives.
pub(crate) fn lock(directory: &Directory) -> Result<File, ServiceError> {
    let path = directory.path().to_owned();
    let open = || -> io::Result<File> {
        match directory.create_new("lock", 0o644) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        directory.open_to_append("lock")
    };
    let file = open().map_err(|source| ServiceError::Io {
        path: path.clone(),
        source,
    })?;
    let asked = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if asked.elapsed() < LOCK_PATIENCE => {
                std::thread::sleep(Duration::from_millis(50));
            }
            Err(TryLockError::WouldBlock) => return Err(ServiceError::Busy { path }),
            Err(TryLockError::Error(source)) => return Err(ServiceError::Io { path, source }),
        }
    }
}

/// Whether a recorder, or a command that measures rounds, is at work in a service's directory now.
pub fn is_recorded(directory: &Path) -> bool {
    let lock = Directory::to_read(directory).and_then(|directory| directory.open("lock"));
    // The lock is released with the file.
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
