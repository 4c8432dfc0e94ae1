//! Memory and disk space for all loads together: a quarter of the available amount.
//!
//! So the machine stays usable and the measured loop is not paged out by its own disturbance.

use crate::LoadError;
use std::path::Path;

/// A quarter of /proc/meminfo's MemAvailable in bytes.
pub(crate) fn memory() -> Result<u64, LoadError> {
    let path = "/proc/meminfo";
    let text = std::fs::read_to_string(path).map_err(|error| LoadError::io(path, error))?;
    available(&text)
        .map(|bytes| bytes / 4)
        .ok_or_else(|| LoadError::io(path, std::io::Error::other("no line MemAvailable")))
}

fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim()
        .strip_suffix(" kB")?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// A quarter of the free space of `directory`'s file system in bytes.
pub(crate) fn disk(directory: &Path) -> Result<u64, LoadError> {
    let system = rustix::fs::statvfs(directory).map_err(|error| LoadError::io(directory, error))?;
    Ok(system.f_bavail.saturating_mul(system.f_frsize) / 4)
}

/// `wanted` bytes for each of `workers`, or as much of it as `budget` bytes in all allow.
pub(crate) fn share(wanted: u64, workers: u32, budget: u64) -> u64 {
    wanted.min(budget / u64::from(workers.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_bytes() {
        let text = "MemTotal: 100 kB\nMemFree: 1 kB\nMemAvailable:    8 kB\n";
        assert_eq!(available(text), Some(8192));
    }

    #[test]
    fn workers_share_the_budget_only_when_they_want_more() {
        assert_eq!(share(100, 4, 1000), 100);
        assert_eq!(share(100, 4, 200), 50);
    }
}
