//! Appends events and samples to a run's log.
//!
//! Whatever stops the writer, every block completed before can be read. It never rewrites anything.
//!
//! The crash argument: a block is appended with one `write`, and it counts only if its checksum
//! matches; the file grows only at its end, so a kill or a power cut can only leave a torn last
//! block, or lose blocks written since the last [`LogWriter::sync`]. Disk space is allocated before
//! a block is written, so a full disk tears nothing.

mod begun;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use wakepath_directory::{Directory, NewFile};
use wakepath_timeline::Sample;

use super::block::{
    BLOCK_HEADER, KIND_EVENT, KIND_SAMPLES, MAX_PAYLOAD, SAMPLES_PER_BLOCK, SAMPLES_PREFIX,
    block_header,
};
use super::reserve::Reserve;
use crate::LOG_NAME;
use crate::durable::{rename, sync_directory};
use crate::error::{ArchiveError, NoRoom, Result};
use crate::event::{Ending, Event};

/// Name of a new log, until it is complete and replaces the old one.
pub(crate) const LOG_ANEW: &str = "samples.log.partial";

/// Writes one run's log. It holds the log's lock until it is dropped.
#[derive(Debug)]
pub struct LogWriter {
    file: NewFile,
    directory: Directory,
    name: &'static str,
    path: PathBuf,
    /// Offset after the last complete block.
    end: u64,
    /// Number of the next block.
    sequence: u64,
    /// Samples not yet in a block, by segment and thread, already in their logged form.
    pending: BTreeMap<(u32, u16), Vec<u8>>,
    /// Whether the log has the run's start, and the segments with a start: anything else gets no
    /// end either.
    begun: bool,
    segments: BTreeSet<u32>,
    reserve: Reserve,
    state: State,
    /// The first thing that did not get into the log: a run that lacks it is not complete.
    trouble: Option<String>,
}

#[derive(Debug)]
enum State {
    Writing,
    /// No room: only closing events are appended, out of the reserve.
    Full(NoRoom),
    /// A write or sync failed otherwise.
    Failed(String),
}

impl LogWriter {
    /// The log's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of complete blocks in the log, header included.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Samples passed to the writer that are not yet in the log.
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
        let appended = self.try_samples(segment, thread, samples);
        self.noted(appended)
    }

    fn try_samples(&mut self, segment: u32, thread: u16, samples: &[Sample]) -> Result<()> {
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

    /// Appends an event, after all samples handed over before it. On a full disk the closing events
    /// ([`Event::SegmentEnded`], [`Event::Note`], [`Event::RunEnded`]) still have space, if the log
    /// holds the beginning of what they close.
    ///
    /// # Errors
    /// As [`LogWriter::append_samples`]: a closing event can be in the log even though samples
    /// before it are not. [`ArchiveError::Inconsistent`] for an event that is longer than 16 MiB,
    /// and for the end of a segment that was never started.
    pub fn append_event(&mut self, event: &Event) -> Result<()> {
        let appended = self.try_event(event);
        self.noted(appended)
    }

    fn try_event(&mut self, event: &Event) -> Result<()> {
        let is_closing = event.is_closing();
        let flushed = match self.state {
            State::Writing => self.try_flush(),
            State::Full(_) if is_closing => Ok(()),
            _ => return self.refuse_unless_writing(),
        };
        // If this flush filled the disk, there is still space for closing events.
        let goes_on = flushed.is_ok() || (is_closing && matches!(self.state, State::Full(_)));
        if !goes_on {
            return flushed;
        }
        self.refuse_without_beginning(event)?;
        let payload = serde_json::to_vec(event).map_err(|error| ArchiveError::Inconsistent {
            path: self.path.clone(),
            why: format!("an event can't be written as JSON: {error}"),
        })?;
        if payload.len() > MAX_PAYLOAD {
            return Err(ArchiveError::Inconsistent {
                path: self.path.clone(),
                why: format!(
                    "an event of {} bytes; the maximum is {MAX_PAYLOAD}",
                    payload.len()
                ),
            });
        }
        let mut appended = self.append_block(KIND_EVENT, &payload);
        if appended.is_err() && is_closing && matches!(self.state, State::Full(_)) {
            // The disk is full, which the reserve is for. If the first attempt already used the
            // reserve, this one fails too.
            appended = self.append_block(KIND_EVENT, &payload);
        }
        if appended.is_ok() {
            match event {
                Event::RunStarted(_) => self.begun = true,
                Event::SegmentStarted(started) => _ = self.segments.insert(started.segment),
                _ => {}
            }
        }
        flushed.and(appended)
    }

    /// Refuses an end whose start found no space: a reader could not use it.
    fn refuse_without_beginning(&self, event: &Event) -> Result<()> {
        let has_begun = match event {
            Event::SegmentEnded(ended) => self.segments.contains(&ended.segment),
            _ => self.begun || matches!(self.state, State::Writing),
        };
        if has_begun {
            return Ok(());
        }
        self.refuse_unless_writing()?;
        Err(ArchiveError::Inconsistent {
            path: self.path.clone(),
            why: "the end of a segment that was never started".to_owned(),
        })
    }

    /// Writes the samples handed over so far as complete blocks, without waiting for the disk.
    ///
    /// # Errors
    /// As [`LogWriter::append_samples`].
    pub fn flush_block(&mut self) -> Result<()> {
        let flushed = self.try_flush();
        self.noted(flushed)
    }

    fn try_flush(&mut self) -> Result<()> {
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
    /// power cut after this loses nothing appended before. On a full disk it still waits for the
    /// log's current content.
    ///
    /// # Errors
    /// As [`LogWriter::append_samples`]. After a failed sync nothing more is appended: the kernel
    /// might have dropped the pages it could not write, and would not report that again.
    pub fn sync(&mut self) -> Result<()> {
        if !matches!(self.state, State::Full(_)) {
            self.flush_block()?;
        }
        self.file.sync().map_err(|error| {
            self.state = State::Failed(error.to_string());
            ArchiveError::io("sync the log", &self.path, error)
        })
    }

    /// Appends the run's end, waits for the disk and releases reserved space and lock. The run can
    /// then be finished. If something did not get into the log, the end is [`Ending::Failed`],
    /// whatever the caller passes.
    ///
    /// # Errors
    /// As [`LogWriter::append_event`] and [`LogWriter::sync`].
    pub fn end(mut self, ending: Ending) -> Result<()> {
        let flushed = match self.state {
            State::Writing => self.flush_block(),
            // Reported when it happened.
            _ => Ok(()),
        };
        let ending = match (&self.trouble, ending) {
            (Some(reason), Ending::Complete | Ending::Interrupted) => Ending::Failed {
                reason: reason.clone(),
            },
            (_, ending) => ending,
        };
        let appended = flushed.and(self.append_event(&Event::RunEnded { ending }));
        // The end might be stored although samples found no space: then the rest is done as well.
        if appended.is_err() && !(self.begun && matches!(self.state, State::Full(_))) {
            return appended;
        }
        self.sync()?;
        self.reserve
            .release(&mut self.file, &self.directory, self.end)
            .map_err(|e| ArchiveError::io("release reserved room of", &self.path, e))?;
        if self.name != LOG_NAME {
            rename(&self.directory, self.name, LOG_NAME)?;
            sync_directory(&self.directory)?;
        }
        appended
    }

    /// Remembers the first error.
    fn noted(&mut self, outcome: Result<()>) -> Result<()> {
        if let Err(error) = &outcome {
            self.trouble.get_or_insert_with(|| error.to_string());
        }
        outcome
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

    /// After a failed write: removes a torn block, so that the log stays valid, and remembers why
    /// nothing more is appended.
    fn give_up(&mut self, error: io::Error) -> ArchiveError {
        let found = self.file.as_file().metadata();
        let torn = found.is_ok_and(|found| found.len() != self.end);
        let whole_again = if torn {
            self.file.truncate(self.end)
        } else {
            Ok(())
        };
        self.state = match (&whole_again, NoRoom::new(&error)) {
            (Ok(()), Some(room)) => State::Full(room),
            // A torn block stays and would hide anything appended after it.
            _ => State::Failed(error.to_string()),
        };
        if matches!(self.state, State::Full(_)) {
            self.reserve.open_for_closing(&self.directory);
        }
        ArchiveError::io("append to the log", &self.path, error)
    }

    fn refuse_unless_writing(&self) -> Result<()> {
        match &self.state {
            State::Writing => Ok(()),
            State::Full(room) => Err(ArchiveError::DiskFull {
                path: self.path.clone(),
                room: *room,
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
            ArchiveError::DiskFull { path, room, .. } => ArchiveError::DiskFull {
                path,
                room,
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
            // No caller can get the error; the run's missing end shows the failure.
            let _ = self.flush_block();
        }
        // A process that is being started holds a copy of the file until it runs its program:
        // closing alone would leave the lock with it.
        let _ = self.file.as_file().unlock();
    }
}
