//! A directory of our own in a place where others may write: opened step by step without following
//! links, its owner and its rights looked at, held by a lock.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// Why a directory can't be trusted or used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// It can't be opened or made.
    #[error("{}: {source}{}", path.display(), remedy(*source))]
    Io {
        /// The directory.
        path: PathBuf,
        /// What the kernel said.
        source: Errno,
    },
    /// It is a link, or not a directory.
    #[error("{}: a link or no directory; remove it and look who made it", path.display())]
    NotADirectory {
        /// The directory.
        path: PathBuf,
    },
    /// Somebody else can write in it.
    #[error(
        "{}: belongs to user {owner} with rights {mode:o}; must belong to user {wanted} and be \
         closed to others (700)", path.display()
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Its rights.
        mode: u32,
        /// Who it should belong to.
        wanted: u32,
    },
    /// Somebody else could put another directory in its place.
    #[error("{}: others may write in it; a directory of ours there can't be trusted", path.display())]
    Open {
        /// The directory above.
        path: PathBuf,
    },
    /// Another wakepath is at work.
    #[error("{}: another wakepath is tuning this machine; wait for it", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
}

fn remedy(error: Errno) -> &'static str {
    match error {
        Errno::ACCESS | Errno::PERM => "; the settings of a machine are root's: sudo",
        _ => "",
    }
}

/// A directory, open and locked. A process that was started meanwhile holds a copy of the descriptor
/// until it runs its program, so closing alone would not let go of the lock.
#[derive(Debug)]
pub(crate) struct Locked(OwnedFd);

impl AsFd for Locked {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // The descriptor is closed next in any case.
        let _ = fs::flock(&self.0, FlockOperation::Unlock);
    }
}

/// Opens the directory `top/parts…` as `open` does, and names a file in it.
pub(crate) fn place(
    top: &Path,
    parts: &[&str],
    name: &str,
) -> Result<(Locked, PathBuf), DirectoryError> {
    let file = parts
        .iter()
        .fold(top.to_path_buf(), |path, part| path.join(part));
    Ok((open(top, parts)?, file.join(name)))
}

/// Opens `top/parts…`, making the last one if it is missing; locks it.
pub(crate) fn open(top: &Path, parts: &[&str]) -> Result<Locked, DirectoryError> {
    let mut path = top.to_path_buf();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let failed = |path: &Path, source| match source {
        Errno::LOOP | Errno::NOTDIR => DirectoryError::NotADirectory { path: path.into() },
        source => DirectoryError::Io {
            path: path.into(),
            source,
        },
    };
    let mut directory = fs::open(top, flags, Mode::empty()).map_err(|error| failed(top, error))?;
    for (position, part) in parts.iter().enumerate() {
        let above = fs::fstat(&directory).map_err(|error| failed(&path, error))?;
        // With the sticky bit, as in /tmp, only the owner renames what is his.
        if above.st_mode & 0o002 != 0 && above.st_mode & 0o1000 == 0 {
            return Err(DirectoryError::Open { path });
        }
        path.push(part);
        let own = position + 1 == parts.len();
        let mode = if own { 0o700 } else { 0o755 };
        match fs::mkdirat(&directory, *part, Mode::from_raw_mode(mode)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(&path, error)),
        }
        directory = fs::openat(&directory, *part, flags, Mode::empty())
            .map_err(|error| failed(&path, error))?;
    }
    let found = fs::fstat(&directory).map_err(|error| failed(&path, error))?;
    let wanted = rustix::process::geteuid().as_raw();
    if found.st_uid != wanted || found.st_mode & 0o077 != 0 {
        return Err(DirectoryError::NotOurs {
            path,
            owner: found.st_uid,
            mode: found.st_mode & 0o7777,
            wanted,
        });
    }
    match fs::flock(&directory, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Locked(directory)),
        Err(Errno::WOULDBLOCK) => Err(DirectoryError::Busy { path }),
        Err(error) => Err(failed(&path, error)),
    }
}
