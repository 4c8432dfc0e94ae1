//! Files without a name, which vanish with this process: a killed hunt leaves none.

use crate::{LabError, Result};
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

/// The name by which the emulator's plugin finds the guest's memory (`plugin/transitions.rs`).
const MEMORY_NAME: &str = "memory-backend-memfd";

/// `MemAvailable` of `/proc/meminfo`.
fn available_mib(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib >> 10)
}

/// The path by which another process of this user opens a file while this one has it open.
pub(super) fn path_of(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

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

    /// A guest's memory of this size, all zero.
    pub fn guest_memory(mib: u32) -> Result<Self> {
        let place = Path::new("/proc/meminfo");
        let text = std::fs::read_to_string(place).map_err(|e| LabError::io("read", place, e))?;
        if let Some(free_mib) = available_mib(&text).filter(|free| *free < u64::from(mib)) {
            return Err(LabError::NoRoom {
                free_mib,
                needed_mib: mib.into(),
            });
        }
        let place = Path::new("memory");
        let made = memfd_create(MEMORY_NAME, MemfdFlags::CLOEXEC)
            .map_err(|error| LabError::io("make a file in", place, error.into()))?;
        let file = File::from(made);
        file.set_len(u64::from(mib) << 20)
            .map_err(|error| LabError::io("write to", place, error))?;
        Ok(Self(file))
    }

    /// The path by which another process of this user opens it while this one runs.
    pub fn path(&self) -> String {
        path_of(&self.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_available_memory_is_read_and_a_guest_that_exceeds_it_refused() {
        let text = "MemTotal:       24683728 kB\nMemAvailable:   24089000 kB\n";
        assert_eq!(available_mib(text), Some(23_524));
        assert_eq!(available_mib("MemTotal: 1 kB\n"), None);
        let said = Unnamed::guest_memory(u32::MAX).unwrap_err().to_string();
        assert!(said.contains("4294967295 MiB"), "{said}");
        assert_eq!(said.lines().count(), 1);
    }
}
