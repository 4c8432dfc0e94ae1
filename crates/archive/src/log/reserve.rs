//! Room on the disk that is taken before it is needed, so that a log on a full disk still gets its
//! last events. It knows nothing about what is written there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

use crate::error::is_disk_full;

/// Room kept for the closing events.
pub(crate) const RESERVE: u64 = 64 * 1024;
/// Room taken at a time, so that one system call serves many blocks.
const STEP: u64 = 1024 * 1024;
/// Holds the room where the file system can't reserve it in the log itself.
pub(crate) const RESERVE_NAME: &str = "samples.reserve";

/// How the room is held.
#[derive(Debug)]
pub(crate) enum Reserve {
    /// In the log, beyond its end, up to this offset. The log's size does not show it.
    Ahead { until: u64 },
    /// In a file of its own that is removed when the room is needed.
    File { path: PathBuf },
    /// Given up: used, or not to be had.
    Spent,
}

impl Reserve {
    /// Takes the first room for a log of `end` bytes.
    pub(crate) fn take(log: &File, directory: &Path, end: u64) -> io::Result<Self> {
        let mut reserve = Self::Ahead { until: end };
        match reserve.extend(log, end, 0) {
            Err(error) if !is_disk_full(&error) => {
                let path = directory.join(RESERVE_NAME);
                let mut file = File::create(&path)?;
                file.write_all(&[0xff; RESERVE as usize])?;
                file.sync_all()?;
                Ok(Self::File { path })
            }
            other => other.map(|()| reserve),
        }
    }

    /// Makes sure that `more` bytes at `end`, and the reserve after them, have room. Without it
    /// nothing is written, so a full disk is noticed before a block is torn.
    pub(crate) fn extend(&mut self, log: &File, end: u64, more: u64) -> io::Result<()> {
        let Self::Ahead { until } = self else {
            return Ok(());
        };
        let needed = end + more + RESERVE;
        if needed <= *until {
            return Ok(());
        }
        for length in [needed - *until + STEP, needed - *until] {
            let at = *until;
            let take = || fallocate(log, FallocateFlags::KEEP_SIZE, at, length);
            match rustix::io::retry_on_intr(take) {
                Ok(()) => {
                    *until += length;
                    return Ok(());
                }
                Err(rustix::io::Errno::NOSPC | rustix::io::Errno::DQUOT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::ErrorKind::StorageFull.into())
    }

    /// Frees the room for the closing events. Room ahead in the log is used by writing there.
    pub(crate) fn open_for_closing(&mut self) {
        if let Self::File { path } = self {
            // If the file can't be removed the closing event fails as it would have without it.
            let _ = fs::remove_file(path);
            *self = Self::Spent;
        }
    }

    /// Gives back what was not used, at a log's end.
    pub(crate) fn release(&mut self, log: &File, end: u64) -> io::Result<()> {
        if let Self::Ahead { .. } = self {
            log.set_len(end)?;
        }
        self.open_for_closing();
        Ok(())
    }
}
