//! Files of a directory: opened, created, read and written, never through a link.

use super::{Directory, plain};
use crate::faults::Operation;
use crate::file::NewFile;
use crate::regular::{refused, regular};
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};

/// Longest file that is read in one piece.
const MOST_BYTES: u64 = 256 << 20;

impl Directory {
    /// Reads a whole file of up to 256 MiB; `None` if it doesn't exist.
    ///
    /// # Errors
    /// As [`Directory::open`], and for a longer one.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let file = match self.open(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut bytes = Vec::new();
        // It can grow while it is read.
        let is_long = file.metadata()?.len() > MOST_BYTES;
        if is_long || file.take(MOST_BYTES + 1).read_to_end(&mut bytes)? as u64 > MOST_BYTES {
            let why = format!("is longer than {} MiB", MOST_BYTES >> 20);
            return Err(refused(&why));
        }
        Ok(Some(bytes))
    }

    /// Makes a file. It must not be there, as a link neither.
    ///
    /// # Errors
    /// The system's.
    pub fn create_new(&self, name: &str, rights: u32) -> io::Result<NewFile> {
        self.seam.pass(Operation::Create)?;
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::EXCL
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC;
        let file = fs::openat(
            &self.descriptor,
            plain(name)?,
            flags,
            Mode::from_raw_mode(rights),
        )?;
        Ok(NewFile::new(File::from(file), self.seam.clone()))
    }

    /// Creates a file in place of remains of a killed writer, or of a link: these are removed, not
    /// written to.
    ///
    /// # Errors
    /// The system's.
    pub fn create_anew(&self, name: &str) -> io::Result<NewFile> {
        self.remove(name)?;
        self.create_new(name, 0o644)
    }

    /// Opens a file for reading. All files of a run are opened in this way.
    ///
    /// # Errors
    /// The system's; for a link, and for anything but a regular file owned by this user, the
    /// directory's owner or root.
    pub fn open(&self, name: &str) -> io::Result<File> {
        self.open_with(name, OFlags::RDONLY)
    }

    /// Opens a plain file that is there, to read it and to append to it.
    ///
    /// # Errors
    /// As [`Directory::open`].
    pub fn open_to_append(&self, name: &str) -> io::Result<File> {
        self.open_with(name, OFlags::RDWR | OFlags::APPEND)
    }

    fn open_with(&self, name: &str, flags: OFlags) -> io::Result<File> {
        self.seam.pass(Operation::Open)?;
        // A pipe in its place must not keep the reader waiting.
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        match fs::openat(&self.descriptor, plain(name)?, flags, Mode::empty()) {
            Ok(file) => regular(file, &*self.descriptor),
            Err(Errno::LOOP) => Err(refused("a link is in its place; look who made it")),
            // The error of a socket or of a pipe without a reader.
            Err(Errno::NXIO) => Err(refused("no plain file is in its place; look who made it")),
            Err(error) => Err(error.into()),
        }
    }

    /// The length of a plain file.
    ///
    /// # Errors
    /// As [`Directory::open`].
    pub fn length(&self, name: &str) -> io::Result<u64> {
        Ok(self.open(name)?.metadata()?.len())
    }

    /// Writes a file atomically: a partial one is written, synced and renamed, and the directory
    /// synced. Any interruption leaves the old one or the new one.
    ///
    /// # Errors
    /// The system's. The new file is removed then, as far as possible.
    pub fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let partial = format!("{name}.partial");
        let written = self
            .write_synced(&partial, bytes)
            .and_then(|()| self.rename(&partial, name));
        if written.is_err() {
            // The partial is useless, and failing to remove it doesn't change the error.
            let _ = self.remove(&partial);
        }
        written.and_then(|()| self.sync())
    }

    /// Rewrites a file and waits until the disk has its bytes.
    ///
    /// # Errors
    /// The system's.
    pub fn write_synced(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create_anew(name)?;
        file.write_all(bytes)?;
        file.sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trust;
    use std::os::unix::fs::{chown, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    /// A name for what is in a file's place, and a function that puts it there.
    type Planted = (&'static str, fn(&Path));

    fn pipe(path: &Path) {
        fs::mkfifoat(fs::CWD, path, Mode::from_raw_mode(0o644)).unwrap();
    }

    fn hole(path: &Path) {
        File::create(path).unwrap().set_len(1 << 40).unwrap();
    }

    fn hole_behind_bytes(path: &Path) {
        std::fs::write(path, [7; 8192]).unwrap();
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
    }

    #[test]
    fn what_is_no_plain_file_is_refused_at_once() {
        let planted: [Planted; 7] = [
            ("pipe", pipe),
            ("link", |path| symlink("/dev/zero", path).unwrap()),
            ("link to nothing", |path| symlink("nothing", path).unwrap()),
            ("directory", |path| std::fs::create_dir(path).unwrap()),
            ("socket", |path| drop(UnixListener::bind(path).unwrap())),
            ("hole", hole),
            ("bytes and a hole", hole_behind_bytes),
        ];
        let place = tempfile::tempdir().unwrap();
        for (what, plant) in planted {
            plant(&place.path().join(what));
            for directory in [
                Directory::to_read(place.path()).unwrap(),
                Directory::to_write(place.path(), Trust::Any).unwrap(),
            ] {
                let refused = [
                    directory.open(what).map(drop),
                    directory.read(what).map(drop),
                    directory.length(what).map(drop),
                ];
                for refused in refused {
                    let kind = refused.unwrap_err().kind();
                    assert_eq!(kind, io::ErrorKind::InvalidInput, "{what}");
                }
            }
        }
    }

    #[test]
    fn a_small_file_may_have_holes_and_a_long_one_is_not_read_in_one_piece() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::to_read(place.path()).unwrap();
        let of = |name: &str, bytes: u64| {
            let file = File::create(place.path().join(name)).unwrap();
            file.set_len(bytes).unwrap();
            file
        };
        of("small", 1 << 20);
        assert_eq!(directory.read("small").unwrap().unwrap().len(), 1 << 20);
        let long = of("long", MOST_BYTES + 1);
        if fs::fallocate(&long, fs::FallocateFlags::empty(), 0, MOST_BYTES + 1).is_ok() {
            directory.open("long").unwrap();
            let error = directory.read("long").unwrap_err().to_string();
            assert_eq!(error, "is longer than 256 MiB");
        }
    }

    #[test]
    fn a_file_of_a_third_user_is_refused() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("a"), "a").unwrap();
        let directory = Directory::to_read(place.path()).unwrap();
        assert_eq!(directory.read("a").unwrap().unwrap(), b"a");
        // Only root can give files away.
        if chown(place.path().join("a"), Some(65_533), None).is_ok() {
            let error = directory.read("a").unwrap_err().to_string();
            assert!(error.starts_with("belongs to user 65533"), "{error}");
            chown(place.path(), Some(65_533), None).unwrap();
            directory.read("a").unwrap();
        }
    }
}
