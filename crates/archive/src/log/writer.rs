//! Appends events and samples to a run's log so that whatever stops the writer, every block
//! completed before can be read. It never rewrites what it has written.
//!
//! The crash argument: a block is appended with one `write`, and it counts only if its checksum
//! matches; the file grows at its end alone, so a kill or a power cut can only leave a torn last
//! block, or lose blocks written since the last [`LogWriter::sync`]. Room on the disk is taken
//! before a block is written, so a full disk tears nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use wakepath_timeline::Sample;

use super::block::{
    BLOCK_HEADER, KIND_EVENT, KIND_SAMPLES, MAX_PAYLOAD, SAMPLES_PER_BLOCK, SAMPLES_PREFIX,
    block_header, file_header,
};
use super::reserve::Reserve;
use crate::durable::sync_directory;
use crate::error::{ArchiveError, Result, is_disk_full};
use crate::event::Event;
use crate::{LOG_NAME, MEASURED_FORMAT_VERSION, lock};

/// Writes one run's log. It holds the log's lock until it is dropped.
#[derive(Debug)]
pub struct LogWriter {
    file: File,
    path: PathBuf,
    /// Offset after the last complete block.
    end: u64,
    /// Number of the next block.
    sequence: u64,
    /// Samples not yet in a block, by segment and thread, already in their logged form.
    pending: BTreeMap<(u32, u16), Vec<u8>>,
    reserve: Reserve,
    state: State,
}

#[derive(Debug)]
enum State {
    Writing,
    /// No room: only closing events are appended, out of the reserve.
    Full,
    /// A write or sync failed otherwise.
    Failed(String),
}

impl LogWriter {
    /// Starts the log of a new run in `directory`, which must be empty or not exist.
    ///
    /// # Errors
    /// [`ArchiveError::DirectoryNotEmpty`]; [`ArchiveError::DiskFull`] if not even the reserve for
    /// the last events has room; [`ArchiveError::Io`].
    pub fn create(directory: &Path) -> Result<Self> {
        fs::create_dir_all(directory)
            .map_err(|e| ArchiveError::io("create the run directory", directory, e))?;
        let mut entries = fs::read_dir(directory)
            .map_err(|e| ArchiveError::io("list the run directory", directory, e))?;
        if entries.next().is_some() {
            return Err(ArchiveError::DirectoryNotEmpty {
                path: directory.to_owned(),
            });
        }
        let path = directory.join(LOG_NAME);
        let failed = |action| move |e| ArchiveError::io(action, &directory.join(LOG_NAME), e);
        let mut file = File::options()
            .append(true)
            .create_new(true)
            .open(&path)
            .map_err(failed("create the log"))?;
        lock::exclusive(&file, &path)?;
        file.write_all(&file_header(MEASURED_FORMAT_VERSION))
            .map_err(failed("write the log's header"))?;
        let end = super::block::FILE_HEADER as u64;
        let reserve = Reserve::take(&file, directory, end).map_err(failed("reserve room"))?;
        file.sync_all().map_err(failed("sync the log"))?;
        sync_directory(directory)?;
        if let Some(parent) = directory
            .canonicalize()
            .ok()
            .as_deref()
            .and_then(Path::parent)
        {
            sync_directory(parent)?;
        }
        let pending = BTreeMap::new();
        Ok(Self {
            file,
            path,
            end,
            sequence: 0,
            pending,
            reserve,
            state: State::Writing,
        })
    }

    /// The log's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of complete blocks in the log, header included.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Samples handed over that are not yet in the log.
    pub fn unwritten_samples(&self) -> u64 {
        self.pending
            .values()
            .map(|bytes| (bytes.len() / Sample::BYTES) as u64)
            .sum()
    }

    /// Appends samples of one thread in one segment. They reach the log when a block of 64 KiB is
    /// full, before the next event, or at [`LogWriter::flush_block`].
    ///
    /// # Errors
    /// [`ArchiveError::DiskFull`] and [`ArchiveError::WriterFailed`], then and at every later
    /// call; [`ArchiveError::Io`] at the first failure.
    pub fn append_samples(&mut self, segment: u32, thread: u16, samples: &[Sample]) -> Result<()> {
        self.refuse_unless_writing()?;
        let mut rest = samples;
        while !rest.is_empty() {
            let bytes = self.pending.entry((segment, thread)).or_default();
            let held = bytes.len() / Sample::BYTES;
            let (now, later) = rest.split_at(rest.len().min(SAMPLES_PER_BLOCK - held));
            bytes.extend(now.iter().flat_map(Sample::to_bytes));
            rest = later;
            if held + now.len() == SAMPLES_PER_BLOCK
                && let Err(error) = self.flush_thread(segment, thread)
            {
                return Err(self.count_unwritten(error, rest.len() as u64));
            }
        }
        Ok(())
    }

    /// Appends an event, after all samples handed over before it. On a full disk the closing
    /// events ([`Event::SegmentEnded`], [`Event::Note`], [`Event::RunEnded`]) still have room.
    ///
    /// # Errors
    /// As [`LogWriter::append_samples`]; [`ArchiveError::Inconsistent`] for an event that is
    /// longer than 16 MiB.
    pub fn append_event(&mut self, event: &Event) -> Result<()> {
        match self.state {
            State::Writing => self.flush_block()?,
            State::Full if event.is_closing() => {}
            _ => self.refuse_unless_writing()?,
        }
        let payload = serde_json::to_vec(event).map_err(|error| ArchiveError::Inconsistent {
            path: self.path.clone(),
            why: format!("an event can't be written as JSON: {error}"),
        })?;
        if payload.len() > MAX_PAYLOAD {
            return Err(ArchiveError::Inconsistent {
                path: self.path.clone(),
                why: format!(
                    "an event of {} bytes; the most is {MAX_PAYLOAD}",
                    payload.len()
                ),
            });
        }
        self.append_block(KIND_EVENT, &payload)
    }

    /// Writes the samples handed over so far as complete blocks, without waiting for the disk.
    ///
    /// # Errors
    /// As [`LogWriter::append_samples`].
    pub fn flush_block(&mut self) -> Result<()> {
        self.refuse_unless_writing()?;
        let threads: Vec<_> = self.pending.keys().copied().collect();
        for (segment, thread) in threads {
            if let Err(error) = self.flush_thread(segment, thread) {
                return Err(self.count_unwritten(error, 0));
            }
        }
        Ok(())
    }

    /// Writes the samples handed over so far and waits until the disk has them (`fdatasync`): a
    /// power cut after this loses nothing appended before. On a full disk it still waits for what
    /// is in the log.
    ///
    /// # Errors
    /// As [`LogWriter::append_samples`]. After a failed sync nothing more is appended: the kernel
    /// may have dropped the pages it could not write, and would not say so again.
    pub fn sync(&mut self) -> Result<()> {
        if !matches!(self.state, State::Full) {
            self.flush_block()?;
        }
        self.file.sync_data().map_err(|error| {
            self.state = State::Failed(error.to_string());
            ArchiveError::io("sync the log", &self.path, error)
        })
    }

    /// Appends the run's end, waits for the disk and gives back reserved room and lock. The run
    /// can then be finished.
    ///
    /// # Errors
    /// As [`LogWriter::append_event`] and [`LogWriter::sync`].
    pub fn end(mut self, ending: crate::Ending) -> Result<()> {
        self.append_event(&Event::RunEnded { ending })?;
        self.sync()?;
        self.reserve
            .release(&self.file, self.end)
            .map_err(|e| ArchiveError::io("release reserved room of", &self.path, e))
    }

    fn flush_thread(&mut self, segment: u32, thread: u16) -> Result<()> {
        let Some(samples) = self.pending.remove(&(segment, thread)) else {
            return Ok(());
        };
        let mut payload = Vec::with_capacity(SAMPLES_PREFIX + samples.len());
        payload.extend_from_slice(&segment.to_le_bytes());
        payload.extend_from_slice(&thread.to_le_bytes());
        payload.extend_from_slice(&samples);
        let appended = self.append_block(KIND_SAMPLES, &payload);
        if appended.is_err() {
            self.pending.insert((segment, thread), samples);
        }
        appended
    }

    fn append_block(&mut self, kind: u8, payload: &[u8]) -> Result<()> {
        let mut block = Vec::with_capacity(BLOCK_HEADER + payload.len());
        block.extend_from_slice(&block_header(kind, self.sequence, payload));
        block.extend_from_slice(payload);
        let room = match self.state {
            State::Writing => self
                .reserve
                .extend(&self.file, self.end, block.len() as u64),
            _ => Ok(()),
        };
        match room.and_then(|()| self.file.write_all(&block)) {
            Ok(()) => {
                self.end += block.len() as u64;
                self.sequence += 1;
                Ok(())
            }
            Err(error) => Err(self.give_up(error)),
        }
    }

    /// After a failed write: takes a torn block away, so that the log stays valid, and remembers
    /// why nothing more is appended.
    fn give_up(&mut self, error: io::Error) -> ArchiveError {
        let torn = self.file.metadata().is_ok_and(|m| m.len() != self.end);
        let whole_again = if torn {
            self.file.set_len(self.end)
        } else {
            Ok(())
        };
        self.state = match (&whole_again, is_disk_full(&error)) {
            (Ok(()), true) => State::Full,
            // A torn block stays: anything appended after it would be hidden behind it.
            _ => State::Failed(error.to_string()),
        };
        if matches!(self.state, State::Full) {
            self.reserve.open_for_closing();
        }
        ArchiveError::io("append to the log", &self.path, error)
    }

    fn refuse_unless_writing(&self) -> Result<()> {
        match &self.state {
            State::Writing => Ok(()),
            State::Full => Err(ArchiveError::DiskFull {
                path: self.path.clone(),
                unwritten: self.unwritten_samples(),
            }),
            State::Failed(why) => Err(ArchiveError::WriterFailed {
                path: self.path.clone(),
                why: why.clone(),
            }),
        }
    }

    /// Puts the number of samples that did not reach the log into a full disk's error.
    fn count_unwritten(&self, error: ArchiveError, more: u64) -> ArchiveError {
        match error {
            ArchiveError::DiskFull { path, .. } => ArchiveError::DiskFull {
                path,
                unwritten: self.unwritten_samples() + more,
            },
            other => other,
        }
    }
}

impl Drop for LogWriter {
    /// A writer that is dropped without [`LogWriter::end`] leaves a run without an end, but not
    /// without the samples it was handed.
    fn drop(&mut self) {
        if matches!(self.state, State::Writing) {
            // There is nobody left to tell; the missing end of the run says that something failed.
            let _ = self.flush_block();
        }
    }
}
