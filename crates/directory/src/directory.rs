//! The directory itself: opening, checking, and all operations in it.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{self, AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::faults::{Faults, Operation, Seam};
use crate::file::NewFile;
use crate::regular::{refused, regular};
use crate::{DirectoryError, Trust};

/// Permissions of a new directory: never writable by others, whatever the umask.
const RIGHTS: u32 = 0o755;
/// Flags for a directory to hold.
pub(crate) const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
/// Longest file that is read in one piece.
const MOST_BYTES: u64 = 256 << 20;
/// Tries for a name that nobody else has taken.
const MOST_ALIKE: u32 = 10_000;

/// A directory, held open. Copies refer to the same directory, even if its name is changed.
#[derive(Debug, Clone)]
pub struct Directory {
    descriptor: Arc<OwnedFd>,
    path: PathBuf,
    seam: Seam,
}

impl Directory {
    /// Opens a directory for reading only, without checking who can write in it.
    ///
    /// # Errors
    /// The system's.
    pub fn to_read(path: &Path) -> io::Result<Self> {
        Ok(Self::held(fs::open(path, OPEN, Mode::empty())?, path))
    }

    /// Opens a directory below this one; a link in its place is refused.
    ///
    /// # Errors
    /// The system's.
    pub fn below(&self, name: &str) -> io::Result<Self> {
        let flags = OPEN | OFlags::NOFOLLOW;
        let descriptor = fs::openat(&self.descriptor, plain(name)?, flags, Mode::empty())?;
        Ok(Self::held(descriptor, &self.path_of(name)))
    }

    /// Opens an existing directory for writing.
    ///
    /// # Errors
    /// [`DirectoryError::NotOurs`] as `trust` has it, and the system's.
    pub fn to_write(path: &Path, trust: Trust) -> Result<Self, DirectoryError> {
        let descriptor = fs::open(path, OPEN, Mode::empty())
            .map_err(|error| DirectoryError::io("open the directory", path, error.into()))?;
        Self::looked_at(descriptor, path, trust)
    }

    /// Opens the working directory, which another process chose; `path` is for messages.
    ///
    /// # Errors
    /// As [`Directory::to_write`].
    pub fn of_this_process(path: &Path, trust: Trust) -> Result<Self, DirectoryError> {
        let descriptor = fs::open(".", OPEN, Mode::empty())
            .map_err(|error| DirectoryError::io("open the directory", path, error.into()))?;
        Self::looked_at(descriptor, path, trust)
    }

    /// Makes a directory with all above it, or opens the one that is there.
    ///
    /// # Errors
    /// As [`Directory::to_write`].
    pub fn make(path: &Path, trust: Trust) -> Result<Self, DirectoryError> {
        let Some(name) = path.file_name() else {
            return Self::to_write(path, trust);
        };
        let above = Self::above(path)?;
        match fs::mkdirat(&above.descriptor, name, Mode::from_raw_mode(RIGHTS)) {
            Ok(()) => above.made(name.as_ref(), path),
            Err(Errno::EXIST) => Self::to_write(path, trust),
            Err(error) => Err(DirectoryError::io("make the directory", path, error.into())),
        }
    }

    /// As [`Directory::make`], for files that anybody knows the names of: a link in the directory's place
    /// is refused.
    ///
    /// # Errors
    /// As [`Directory::make`], and [`DirectoryError::NotADirectory`].
    pub fn make_for_files(path: &Path, trust: Trust) -> Result<Self, DirectoryError> {
        let is_link = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        if is_link {
            Err(DirectoryError::NotADirectory { path: path.into() })
        } else {
            Self::make(path, trust)
        }
    }

    /// Makes a directory that was not there before: of this name, or of this name and `-2`, `-3`
    /// and so on. Two that ask at once get two.
    ///
    /// # Errors
    /// The system's.
    pub fn make_new(path: &Path) -> Result<Self, DirectoryError> {
        let failed = |error| DirectoryError::io("make the directory", path, error);
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| failed(io::ErrorKind::InvalidFilename.into()))?;
        let above = Self::above(path)?;
        for number in 1..=MOST_ALIKE {
            let name = match number {
                1 => name.to_owned(),
                _ => format!("{name}-{number}"),
            };
            match fs::mkdirat(&above.descriptor, &*name, Mode::from_raw_mode(RIGHTS)) {
                Ok(()) => return above.made(name.as_ref(), &path.with_file_name(&name)),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(error.into())),
            }
        }
        Err(failed(io::ErrorKind::AlreadyExists.into()))
    }

    /// Holds an open directory; `path` is for messages.
    pub(crate) fn held(descriptor: OwnedFd, path: &Path) -> Self {
        Self {
            descriptor: Arc::new(descriptor),
            path: path.to_owned(),
            seam: Seam::default(),
        }
    }

    fn looked_at(descriptor: OwnedFd, path: &Path, trust: Trust) -> Result<Self, DirectoryError> {
        let found = fs::fstat(&descriptor)
            .map_err(|error| DirectoryError::io("look at", path, error.into()))?;
        trust.check(path, &found)?;
        Ok(Self::held(descriptor, path))
    }

    /// The parent directory, created if missing.
    fn above(path: &Path) -> Result<Self, DirectoryError> {
        let above = match path.parent() {
            Some(above) if !above.as_os_str().is_empty() => above,
            _ => Path::new("."),
        };
        std::fs::create_dir_all(above)
            .map_err(|error| DirectoryError::io("make the directory", above, error))?;
        let opened = fs::open(above, OPEN, Mode::empty());
        let descriptor = opened
            .map_err(|error| DirectoryError::io("open the directory", above, error.into()))?;
        Ok(Self::held(descriptor, above))
    }

    /// Opens a directory that was just created in this one; refuses anything that was put there
    /// instead.
    fn made(&self, name: &Path, path: &Path) -> Result<Self, DirectoryError> {
        let opened = fs::openat(
            &self.descriptor,
            name,
            OPEN | OFlags::NOFOLLOW,
            Mode::empty(),
        );
        let descriptor = opened.map_err(|error| match error {
            Errno::LOOP | Errno::NOTDIR | Errno::NOENT => DirectoryError::NotADirectory {
                path: path.to_owned(),
            },
            error => DirectoryError::io("open the directory", path, error.into()),
        })?;
        self.sync()
            .map_err(|error| DirectoryError::io("sync the directory", &self.path, error))?;
        Self::looked_at(descriptor, path, Trust::Own)
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

    /// Whether the name exists, even as a broken link.
    pub fn holds(&self, name: &str) -> bool {
        fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// The length of a plain file.
    ///
    /// # Errors
    /// As [`Directory::open`].
    pub fn length(&self, name: &str) -> io::Result<u64> {
        Ok(self.open(name)?.metadata()?.len())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, symlink};
    use std::os::unix::net::UnixListener;

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
