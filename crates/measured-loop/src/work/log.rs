//! Work that writes its own log: it computes, then appends a record to a file.
//!
//! Nothing is synced. The loop waits for the disk only where the kernel makes a buffered write wait.

use super::WorkError;
use super::busy::Busy;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The log's file, and a record.
pub(crate) struct Log {
    busy: Busy,
    file: File,
    record: Vec<u8>,
    directory: PathBuf,
    failed: Option<io::Error>,
}

impl Log {
    /// Makes the file, which has no name, so that nothing remains, however the loop ends.
    pub(super) fn new(ns: u64, bytes: u64, directory: &Path) -> Result<Self, WorkError> {
        let nameless = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = rustix::fs::open(directory, nameless, Mode::RUSR | Mode::WUSR);
        let file = file.map_err(|error| fault(directory, &error.into()))?;
        let mut record = vec![b'0'; bytes as usize];
        record[bytes as usize - 1] = b'\n';
        Ok(Self {
            busy: Busy::new(ns),
            file: file.into(),
            record,
            directory: directory.to_owned(),
            failed: None,
        })
    }

    /// Computes, then writes the record.
    #[inline]
    pub(super) fn step(&mut self) {
        self.busy.step();
        if let Err(error) = self.file.write_all(&self.record) {
            self.failed = Some(error);
        }
    }

    /// The first error since the last call.
    pub(super) fn failure(&mut self) -> Result<(), WorkError> {
        let failed = self.failed.take();
        failed.map_or(Ok(()), |error| Err(fault(&self.directory, &error)))
    }
}

fn fault(directory: &Path, error: &io::Error) -> WorkError {
    WorkError::Log {
        directory: directory.display().to_string(),
        why: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cycle_appends_a_record_to_a_file_without_a_name() {
        let place = tempfile::tempdir().unwrap();
        let mut log = Log::new(0, 100, place.path()).unwrap();
        log.step();
        log.step();
        assert_eq!(log.failure(), Ok(()));
        assert_eq!(log.file.metadata().unwrap().len(), 200);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_log_that_can_not_be_written_is_named_with_its_directory() {
        let gone = Log::new(0, 1, Path::new("/no/such")).err().unwrap();
        let said = gone.to_string();
        assert!(said.starts_with("the log in /no/such: No such"), "{said}");
        let place = tempfile::tempdir().unwrap();
        let mut log = Log::new(0, 1, place.path()).unwrap();
        // A full disk, for the one write.
        log.file = File::options().write(true).open("/dev/full").unwrap();
        log.step();
        let said = log.failure().unwrap_err().to_string();
        assert!(said.contains("No space left"), "{said}");
    }
}
