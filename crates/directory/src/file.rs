//! A file in the making: only ever appended to, and through the seam at which tests let it fail.

use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::directory::Directory;
use crate::faults::{Operation, Seam};
use crate::{DirectoryError, Trust};

/// A file that this process created and appends to.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    seam: Seam,
    /// Bytes written, and the number known to be on disk.
    length: u64,
    synced: u64,
}

impl NewFile {
    pub(crate) fn new(file: File, seam: Seam) -> Self {
        Self {
            file,
            seam,
            length: 0,
            synced: 0,
        }
    }

    /// The file, for locks and looks.
    pub fn as_file(&self) -> &File {
        &self.file
    }

    /// Waits until the disk has its bytes and its length.
    ///
    /// # Errors
    /// The system's; earlier writes might be lost then.
    pub fn sync(&mut self) -> io::Result<()> {
        self.seam.pass(Operation::Sync)?;
        self.file.sync_data()?;
        self.synced = self.length;
        Ok(())
    }

    /// Cuts it to a length that it has reached.
    ///
    /// # Errors
    /// The system's.
    pub fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.seam.pass(Operation::Truncate)?;
        self.file.set_len(length)?;
        self.length = length;
        self.synced = self.synced.min(length);
        Ok(())
    }

    /// Allocates disk space without changing the file's length.
    ///
    /// # Errors
    /// The system's; some file systems don't support this.
    pub fn allocate(&self, at: u64, length: u64) -> io::Result<()> {
        self.seam.pass(Operation::Allocate)?;
        let take = || fallocate(&self.file, FallocateFlags::KEEP_SIZE, at, length);
        Ok(rustix::io::retry_on_intr(take)?)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let allowed = self.seam.pass_bytes(bytes.len())?;
        let written = self.file.write(&bytes[..allowed])?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for NewFile {
    /// A failing `close` is ignored: important data was synced before. In a test it loses data that
    /// was not synced, as on a network file system.
    fn drop(&mut self) {
        if self.seam.pass(Operation::Close).is_err() {
            let _ = self.file.set_len(self.synced.min(self.length));
        }
    }
}

/// Replaces a file that a user named, in any directory: atomically, and never through a link in its
/// place or in that of its partial.
///
/// # Errors
/// If it can't be written; the old file is still there then.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), DirectoryError> {
    let failed = |source| DirectoryError::io("write", path, source);
    let mut file = WholeFile::create(path)?;
    file.write_all(bytes).map_err(failed)?;
    file.finish()
}

/// A user's file, written piece by piece and put in place by [`WholeFile::finish`]; until then the
/// old file stays. A link in its place is replaced, not followed.
#[derive(Debug)]
pub struct WholeFile {
    directory: Directory,
    name: String,
    file: Option<NewFile>,
}

impl WholeFile {
    /// Creates it under a temporary name in the same directory.
    ///
    /// # Errors
    /// If the directory can't be opened or the file can't be created.
    pub fn create(path: &Path) -> Result<Self, DirectoryError> {
        let failed = |source| DirectoryError::io("write", path, source);
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        let directory = Directory::to_write(parent, Trust::Any)?;
        let file = directory.create_anew(&partial(name)).map_err(failed)?;
        Ok(Self {
            directory,
            name: name.to_owned(),
            file: Some(file),
        })
    }

    /// Waits until the disk has its bytes, and puts it in place.
    ///
    /// # Errors
    /// The system's; the new file is removed then, as far as possible.
    pub fn finish(mut self) -> Result<(), DirectoryError> {
        let mut file = self.file.take();
        let put = |file: &mut NewFile| {
            file.sync()?;
            self.directory.rename(&partial(&self.name), &self.name)?;
            self.directory.sync()
        };
        let outcome = file.as_mut().map_or(Ok(()), put);
        if outcome.is_err() {
            // The error is returned; failing to remove the partial doesn't change it.
            let _ = self.directory.remove(&partial(&self.name));
        }
        let path = self.directory.path_of(&self.name);
        outcome.map_err(|source| DirectoryError::io("write", path, source))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for WholeFile {
    /// An unfinished file leaves nothing.
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = self.directory.remove(&partial(&self.name));
        }
    }
}

fn partial(name: &str) -> String {
    format!("{name}.partial")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_is_put_in_place_whole_and_never_through_a_link() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("timeline.pftrace");
        let theirs = place.path().join("theirs");
        std::fs::write(&theirs, "theirs").unwrap();
        symlink(&theirs, &path).unwrap();
        symlink(&theirs, place.path().join("timeline.pftrace.partial")).unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs", "not in place yet");
        drop(file);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);

        replace(&path, b"whole").unwrap();
        assert_eq!(std::fs::read(&theirs).unwrap(), b"theirs");
        assert_eq!(std::fs::read(&path).unwrap(), b"whole");
        let found = std::fs::symlink_metadata(&path).unwrap();
        assert!(found.is_file());
        assert_eq!(found.permissions().mode() & 0o022, 0);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 2);
    }
}
