//! The temporary directory of a run being fetched.
//!
//! It is next to the run's final place, and takes that place in one step.

use super::FetchError;
use crate::answer::RemoteFile;
use sha2::{Digest, Sha256};
use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A run that is being fetched.
pub(super) struct Place(PathBuf);

impl Place {
    /// The directory in which a run for `to` grows.
    pub fn beside(to: &Path) -> Result<Self, FetchError> {
        let mut name = to.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let place = Self(to.with_file_name(name));
        match fs::create_dir_all(&place.0) {
            Ok(()) => Ok(place),
            Err(error) => Err(FetchError::Here(place.0, error)),
        }
    }

    /// Path of a file during the transfer. Names were checked when the list was read.
    pub fn path(&self, file: &RemoteFile) -> PathBuf {
        self.0.join(&file.name)
    }

    /// How much of it is here; more than it has is thrown away.
    pub fn length(&self, file: &RemoteFile) -> Result<u64, FetchError> {
        match fs::symlink_metadata(self.path(file)) {
            Ok(data) if data.is_file() && data.len() <= file.bytes => Ok(data.len()),
            Ok(_) => self.forget(file).map(|()| 0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(FetchError::Here(self.path(file), error)),
        }
    }

    /// Opens it at its end.
    pub fn append(&self, file: &RemoteFile) -> Result<File, FetchError> {
        let path = self.path(file);
        let open = || {
            fs::create_dir_all(path.parent().unwrap_or(&self.0))?;
            OpenOptions::new().create(true).append(true).open(&path)
        };
        open().map_err(|error| FetchError::Here(path.clone(), error))
    }

    /// SHA-256 of the received file, in hexadecimal digits.
    pub fn digest(&self, file: &RemoteFile) -> Result<String, FetchError> {
        let path = self.path(file);
        let read = || {
            // An empty file needs no transfer, and is created here.
            let mut from = OpenOptions::new().read(true).open(&path)?;
            let (mut digest, mut piece) = (Sha256::new(), vec![0; 256 << 10]);
            loop {
                match from.read(&mut piece)? {
                    0 => return Ok(digest.finalize()),
                    length => digest.update(&piece[..length]),
                }
            }
        };
        if file.bytes == 0 {
            self.append(file)?;
        }
        let digest = read().map_err(|error| FetchError::Here(path.clone(), error))?;
        Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Discards the received part.
    pub fn forget(&self, file: &RemoteFile) -> Result<(), FetchError> {
        let path = self.path(file);
        fs::remove_file(&path).map_err(|error| FetchError::Here(path, error))
    }

    /// Removes files of an earlier list that are missing in this one.
    pub fn keep_only(&self, files: &[RemoteFile]) -> Result<(), FetchError> {
        let wanted: HashSet<PathBuf> = files.iter().map(|file| self.path(file)).collect();
        let mut directories = vec![self.0.clone()];
        while let Some(directory) = directories.pop() {
            let failed = |error| FetchError::Here(directory.clone(), error);
            for entry in fs::read_dir(&directory).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = entry.path();
                match entry.file_type().map_err(failed)?.is_dir() {
                    true => directories.push(path),
                    false if wanted.contains(&path) => {}
                    false => fs::remove_file(&path).map_err(failed)?,
                }
            }
        }
        Ok(())
    }

    /// Takes the run's place in one step.
    pub fn become_run(self, to: &Path) -> Result<(), FetchError> {
        let sync = |path: &Path| File::open(path).and_then(|directory| directory.sync_all());
        let above = to.parent().unwrap_or(Path::new("."));
        sync(&self.0)
            .and_then(|()| fs::rename(&self.0, to))
            .and_then(|()| sync(above))
            .map_err(|error| FetchError::Here(to.to_owned(), error))
    }
}
