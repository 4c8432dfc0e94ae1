//! Files without a name, which vanish with this process: a killed hunt leaves none.

use crate::{LabError, Result};
use rustix::fs::{MemfdFlags, Mode, OFlags, memfd_create, open, statvfs};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

/// A file without a name.
#[derive(Debug)]
pub(super) struct Unnamed(File);

impl Unnamed {
    /// In memory, with this content.
    pub fn in_memory(content: &[u8]) -> Result<Self> {
        let place = Path::new("memory");
        let made = memfd_create("wakepath", MemfdFlags::CLOEXEC);
        let mut file = made
            .map(File::from)
            .map_err(|error| LabError::io("make a file in", place, error.into()))?;
        file.write_all(content)
            .map_err(|error| LabError::io("write to", place, error))?;
        Ok(Self(file))
    }

    /// On the file system of `directory`, which must have room for this many bytes.
    pub fn on_disk(directory: &Path, bytes: u64) -> Result<Self> {
        let failed = |error: rustix::io::Errno| LabError::io("write to", directory, error.into());
        let free = statvfs(directory).map_err(failed)?;
        let free = free.f_bavail.saturating_mul(free.f_frsize);
        if free < bytes {
            return Err(LabError::NoRoom {
                directory: directory.to_owned(),
                free_mib: free >> 20,
                needed_mib: bytes >> 20,
            });
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let made = open(directory, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        Ok(Self(File::from(made)))
    }

    /// The path by which another process of this user opens it while this one runs.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// All that is in it.
    pub fn content(&self) -> Result<Vec<u8>> {
        let mut content = Vec::new();
        let mut file = &self.0;
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.read_to_end(&mut content))
            .map_err(|error| LabError::io("read", Path::new(&self.path()), error))?;
        Ok(content)
    }

    /// All that is in it, as lines without control characters.
    pub fn lines(&self) -> Result<Vec<String>> {
        let content = self.content()?;
        let text = String::from_utf8_lossy(&content).into_owned();
        let lines = text
            .lines()
            .map(|line| wakepath_timeline::one_line(line.trim()));
        Ok(lines.collect())
    }
}
