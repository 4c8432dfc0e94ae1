//! Opens directories and makes them, after checking who can write in them.

use super::{Directory, OPEN, RIGHTS, plain};
use crate::{DirectoryError, Trust};
use rustix::fd::OwnedFd;
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::path::Path;

/// Tries for a name that nobody else has taken.
const MOST_ALIKE: u32 = 10_000;

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
}
