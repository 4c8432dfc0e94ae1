//! The lock for writing to a run: one process at a time.
//!
//! It is a lock (`flock`) on the log, which the kernel releases when its holder dies. Readers need
//! no lock.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use wakepath_timeline::{decoded, one_line};

use crate::error::{ArchiveError, Result};

/// Locks the log for writing or finishing, until `file` is closed.
pub(crate) fn exclusive(file: &File, path: &Path) -> Result<()> {
    // A process that only checks whether the run is being written holds the lock for a moment; a
    // writer keeps it.
    for attempt in 0.. {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if attempt < 5 => sleep(Duration::from_millis(10)),
            Err(TryLockError::WouldBlock) => {
                return Err(ArchiveError::InUse {
                    path: path.to_owned(),
                    holder: holder(file),
                });
            }
            Err(TryLockError::Error(error)) => {
                return Err(ArchiveError::io("lock", path, error));
            }
        }
    }
    unreachable!("the attempts end in a lock or an error")
}

/// The process that writes the log right now, if any.
pub(crate) fn writer_of(file: &File) -> Option<String> {
    match file.try_lock_shared() {
        Ok(()) => {
            // Closing the file would unlock it too; an error here changes nothing.
            let _ = file.unlock();
            None
        }
        Err(TryLockError::WouldBlock) => Some(holder(file)),
        // A file system without locks can't report a writer.
        Err(TryLockError::Error(_)) => None,
    }
}

/// Names the holder from `/proc/locks`, whose lines read
/// `1: FLOCK ADVISORY WRITE 1234 fe:01:5678 0 EOF`: kind, mode, process, device and inode.
fn holder(file: &File) -> String {
    let Some(pid) = file
        .metadata()
        .ok()
        .and_then(|metadata| listed_holder(metadata.ino()))
    else {
        return "another process".to_owned();
    };
    match fs::read(format!("/proc/{pid}/comm")) {
        Ok(name) => format!("process {pid} ({})", one_line(&decoded(name.trim_ascii()))),
        Err(_) => format!("process {pid}"),
    }
}

/// Looks the inode up in the list. The kernel can skip a line while locks come and go, so one that
/// is not found is looked up again.
fn listed_holder(inode: u64) -> Option<u32> {
    (0..10).find_map(|_| {
        let locks = fs::read_to_string("/proc/locks").ok()?;
        locks.lines().find_map(|line| flock_holder(line, inode))
    })
}

/// The process that holds an exclusive `flock` on the inode, according to the line. The device is
/// not compared, because layered file systems show another one here than `stat` does.
fn flock_holder(line: &str, inode: u64) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, "WRITE", pid, place, ..] = words[..] else {
        return None;
    };
    let found: u64 = place.rsplit(':').next()?.parse().ok()?;
    (found == inode).then(|| pid.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_read_from_the_kernels_list() {
        let line = "2: FLOCK  ADVISORY  WRITE 4711 fe:01:5678 0 EOF";
        assert_eq!(flock_holder(line, 5678), Some(4711));
        assert_eq!(flock_holder(line, 5679), None);
    }

    #[test]
    fn someone_who_waits_for_a_lock_does_not_hold_it() {
        let line = "2: -> FLOCK  ADVISORY  WRITE 4711 fe:01:5678 0 EOF";
        assert_eq!(flock_holder(line, 5678), None);
    }
}
