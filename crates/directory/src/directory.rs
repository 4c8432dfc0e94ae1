//! The directory itself: its path, its names, and all operations on names.

mod files;
mod opening;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::faults::{Faults, Operation, Seam};
use crate::regular::refused;

/// Permissions of a new directory: never writable by others, whatever the umask.
const RIGHTS: u32 = 0o755;
/// Flags for a directory to hold.
pub(crate) const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
/// A directory, held open. Copies refer to the same directory, even if its name is changed.
#[derive(Debug, Clone)]
pub struct Directory {
    descriptor: Arc<OwnedFd>,
    path: PathBuf,
    seam: Seam,
}

impl Directory {
    /// Holds an open directory; `path` is for messages.
    pub(crate) fn held(descriptor: OwnedFd, path: &Path) -> Self {
        Self {
            descriptor: Arc::new(descriptor),
            path: path.to_owned(),
            seam: Seam::default(),
        }
    }

    /// Lets operations fail: for tests.
    #[must_use]
    pub fn with_faults(mut self, faults: Arc<Faults>) -> Self {
        self.seam = Seam(Some(faults));
        self
    }

    /// Its path, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a file in it, for messages.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A path to this very directory for as long as this process holds it, even if its name is
    /// changed: for child processes.
    pub fn lasting_path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;
        PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()))
    }

    /// Makes a directory in it, which must not be there; returns its path.
    ///
    /// # Errors
    /// The system's.
    pub fn make_below(&self, name: &str) -> io::Result<PathBuf> {
        fs::mkdirat(&self.descriptor, plain(name)?, Mode::from_raw_mode(RIGHTS))?;
        Ok(self.path_of(name))
    }

    /// Removes a directory in it with all that it holds; a link in its place is itself removed.
    ///
    /// # Errors
    /// The system's; one that is not there is as good as removed.
    pub fn remove_below(&self, name: &str) -> io::Result<()> {
        // It descends by descriptors, as this type does, and follows no link.
        match std::fs::remove_dir_all(self.lasting_path().join(plain(name)?)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Whether the name exists, even as a broken link.
    pub fn holds(&self, name: &str) -> bool {
        fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// All names in it except `.` and `..`, in no order, with replacement characters for invalid
    /// UTF-8.
    ///
    /// # Errors
    /// The system's.
    pub fn names(&self) -> io::Result<Vec<String>> {
        self.seam.pass(Operation::List)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Renames a file, replacing an existing one. Durable after [`Directory::sync`].
    ///
    /// # Errors
    /// The system's.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.seam.pass(Operation::Rename)?;
        let here = &self.descriptor;
        Ok(fs::renameat(here, plain(from)?, here, plain(to)?)?)
    }

    /// Removes a file, or a link itself; one that is not there is as good as removed.
    ///
    /// # Errors
    /// The system's.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        self.seam.pass(Operation::Remove)?;
        match fs::unlinkat(&self.descriptor, plain(name)?, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until the disk has the directory's names.
    ///
    /// # Errors
    /// The system's.
    pub fn sync(&self) -> io::Result<()> {
        self.seam.pass(Operation::SyncDirectory)?;
        Ok(fs::fsync(&self.descriptor)?)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

/// Refuses names that lead out of the directory.
fn plain(name: &str) -> io::Result<&str> {
    match name {
        "" | "." | ".." => Err(refused("is not a file name")),
        _ if name.contains('/') => Err(refused("is not a plain file name")),
        _ => Ok(name),
    }
}
