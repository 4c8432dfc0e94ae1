//! Disk space that is allocated before it is needed.
//!
//! A log on a full disk can then still store its last events. This module doesn't interpret them.

use std::io::{self, Write};

use rustix::process::{Resource, getrlimit};
use wakepath_directory::{Directory, NewFile};

use crate::error::NoRoom;

/// Room kept for the closing events.
pub(crate) const RESERVE: u64 = 64 * 1024;
/// Space to allocate at a time, so that one system call serves many blocks.
const STEP: u64 = 1024 * 1024;
/// File that holds the space if the file system can't reserve it in the log itself.
pub(crate) const RESERVE_NAME: &str = "samples.reserve";

/// The reserved space, and its limits.
#[derive(Debug)]
pub(crate) struct Reserve {
    held: Held,
    /// Greatest length of this process's files (`RLIMIT_FSIZE`).
    longest: Option<u64>,
}

/// Place of the reserved space.
#[derive(Debug)]
enum Held {
    /// In the log, beyond its end, up to this offset. The log's size does not show it.
    Ahead { until: u64 },
    /// In a separate file, which is removed when the space is needed.
    File,
    /// Used, or not available.
    Spent,
}

impl Reserve {
    /// Takes the first room for a log of `end` bytes.
    pub(crate) fn take(log: &NewFile, directory: &Directory, end: u64) -> io::Result<Self> {
        let mut reserve = Self {
            held: Held::Ahead { until: end },
            longest: getrlimit(Resource::Fsize).current,
        };
        match reserve.extend(log, end, 0) {
            Err(error) if NoRoom::new(&error).is_none() => {
                let mut file = directory.create_anew(RESERVE_NAME)?;
                file.write_all(&[0xff; RESERVE as usize])?;
                file.sync()?;
                reserve.held = Held::File;
                Ok(reserve)
            }
            other => other.map(|()| reserve),
        }
    }

    /// Makes sure that `more` bytes at `end`, and the reserve after them, have room. Without it
    /// nothing is written, so a full disk is noticed before a block is torn.
    pub(crate) fn extend(&mut self, log: &NewFile, end: u64, more: u64) -> io::Result<()> {
        let needed = end + more + RESERVE;
        if self.longest.is_some_and(|longest| needed > longest) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let Held::Ahead { until } = &mut self.held else {
            return Ok(());
        };
        if needed <= *until {
            return Ok(());
        }
        let mut full = io::Error::from(io::ErrorKind::StorageFull);
        for length in [needed - *until + STEP, needed - *until] {
            match log.allocate(*until, length) {
                Ok(()) => {
                    *until += length;
                    return Ok(());
                }
                Err(error) if NoRoom::new(&error).is_some() => full = error,
                Err(error) => return Err(error),
            }
        }
        Err(full)
    }

    /// Frees the room for the closing events. Room ahead in the log is used by writing there.
    pub(crate) fn open_for_closing(&mut self, directory: &Directory) {
        if let Held::File = self.held {
            // If the file can't be removed the closing event fails as it would have without it.
            let _ = directory.remove(RESERVE_NAME);
            self.held = Held::Spent;
        }
    }

    /// Releases unused space, at a log's end.
    pub(crate) fn release(
        &mut self,
        log: &mut NewFile,
        directory: &Directory,
        end: u64,
    ) -> io::Result<()> {
        if let Held::Ahead { .. } = self.held {
            log.truncate(end)?;
        }
        self.open_for_closing(directory);
        Ok(())
    }
}
