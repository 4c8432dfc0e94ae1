//! Requirements on an archive's storage, which even a bucket can meet.
//!
//! Names are `folder/file` or `folder/folder/file`; callers check them.

#[cfg(feature = "buckets")]
mod bucket;
mod directory;

#[cfg(feature = "buckets")]
pub use bucket::BucketStore;
pub use directory::DirectoryStore;
#[cfg(feature = "buckets")]
pub(crate) use directory::own_name;

use crate::Result;
use std::fs::File;
use std::path::PathBuf;

/// Result of writing a file that must not be overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// It is there now, on the disk.
    New,
    /// One of that name was there before, and is still.
    WasThere,
}

/// Kind of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Shared by processes that add.
    Together,
    /// By one that removes.
    Alone,
    /// Shared by processes that read, and need the files to stay.
    Reading,
}

/// A hold on the storage, which ends when dropped.
pub trait Held {}

impl Held for File {}

/// Storage for files that are written once and never changed.
pub trait Store: Send + Sync {
    /// Puts a whole file in place in one step, unless one of its name is there: then nothing happens.
    /// Afterwards it outlasts a power cut. Stopped anywhere, a reader sees all of it or nothing.
    ///
    /// # Errors
    /// The system's.
    fn place(&self, name: &str, content: &mut dyn std::io::Read) -> Result<Placed>;

    /// Opens a file; `None` if it doesn't exist.
    ///
    /// # Errors
    /// The system's.
    fn open(&self, name: &str) -> Result<Option<File>>;

    /// Makes a file readable at the returned path.
    ///
    /// # Errors
    /// [`crate::FleetArchiveError::Damaged`] if it is missing or was altered on its way.
    fn bring(&self, name: &str) -> Result<PathBuf>;

    /// A file's length in bytes; `None` if it doesn't exist.
    ///
    /// # Errors
    /// The system's.
    fn length(&self, name: &str) -> Result<Option<u64>>;

    /// The files in a folder, by name, without incomplete ones.
    ///
    /// # Errors
    /// The system's; a missing folder is empty.
    fn names(&self, folder: &str) -> Result<Vec<String>>;

    /// Removes a file; one that is not there is as good as removed.
    ///
    /// # Errors
    /// The system's.
    fn remove(&self, name: &str) -> Result<()>;

    /// Remains of killed writers; only for a process that holds the storage alone.
    ///
    /// # Errors
    /// The system's.
    fn partials(&self, folder: &str) -> Result<Vec<String>>;

    /// Holds the storage until the result is dropped or the process ends: processes that add share
    /// it, one that removes holds it alone. Waits for it.
    ///
    /// # Errors
    /// The system's.
    fn hold(&self, hold: Hold) -> Result<Box<dyn Held>>;

    /// A file's place, for messages.
    fn path_of(&self, name: &str) -> PathBuf;
}
