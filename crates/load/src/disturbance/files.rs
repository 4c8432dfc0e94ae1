//! Writes a file and calls fsync.
//!
//! The file never has a name (or loses it immediately), so that nothing remains, however the worker
//! ends.

use crate::counters::Slot;
use crate::ended::Ended;
use rustix::fs::{Mode, OFlags};
use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use wakepath_timeline::Disturbance;

pub(crate) const DISTURBS: &[Disturbance] = &[Disturbance::Storage, Disturbance::SystemCalls];

/// Largest file of one worker.
pub(crate) const LARGEST_BYTES: u64 = 64 << 20;
/// Smallest file that makes sense.
pub(crate) const SMALLEST_BYTES: u64 = 1 << 20;

/// Bytes of one write call ...
const WRITE_BYTES: usize = 64 << 10;
/// ... and write calls before an fsync: 1 MiB, so that a slow card still shows progress.
const WRITES: usize = 16;

/// Writes round a file of at most `bytes` until it is killed; counts bytes after their fsync.
pub(crate) fn run(counter: &Slot, directory: &Path, bytes: u64) -> Result<Infallible, Ended> {
    let describe = |error: io::Error| Ended::file(directory, error);
    let file = nameless_file(directory).map_err(describe)?;
    // Not zeroes, which some file systems do not store.
    let block: Vec<u8> = (0..WRITE_BYTES)
        .map(|index| (index * 7 + 1) as u8)
        .collect();
    let mut offset = 0;
    loop {
        for _ in 0..WRITES {
            file.write_all_at(&block, offset).map_err(describe)?;
            offset += WRITE_BYTES as u64;
        }
        file.sync_all().map_err(describe)?;
        counter.add((WRITE_BYTES * WRITES) as u64);
        if offset + (WRITE_BYTES * WRITES) as u64 > bytes {
            offset = 0;
        }
    }
}

/// A file in `directory` without a name.
fn nameless_file(directory: &Path) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    let nameless = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    if let Ok(file) = rustix::fs::open(directory, nameless, mode) {
        return Ok(file.into());
    }
    // Some file systems (vfat, older overlay, nfs) cannot: create a name and remove it at once.
    let path = directory.join(format!("wakepath-load-file-{}", std::process::id()));
    let named = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(&path, named, mode)?;
    std::fs::remove_file(&path)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_can_be_written_and_has_no_name() {
        let directory = std::env::temp_dir().join(format!("wakepath-files-{}", std::process::id()));
        std::fs::create_dir(&directory).unwrap();
        let file = nameless_file(&directory).unwrap();
        file.write_all_at(b"abc", 0).unwrap();
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        std::fs::remove_dir(&directory).unwrap();
    }
}
