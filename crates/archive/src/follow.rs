//! Reads a run's log while it is being recorded, each block once.
//!
//! Keeps the log's records and the positions of samples, never the samples.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use wakepath_directory::Directory;
use wakepath_timeline::Sample;

use crate::durable::to_read;
#[cfg(doc)]
use crate::error::ArchiveError;
use crate::error::Result;
use crate::event::FactsTaken;
use crate::log::LogReader;
use crate::manifest::SegmentRecord;
use crate::survey::Surveyor;
use crate::virtual_time::VirtualTime;

/// A growing log. Contradictory blocks are left out, as in [`crate::Run::open`].
pub struct LogFollower<R = File> {
    reader: LogReader<R>,
    surveyor: Surveyor,
}

impl LogFollower<File> {
    /// Follows the log of a run directory from its beginning.
    ///
    /// # Errors
    /// [`ArchiveError::NotARun`], and as [`LogReader::new`].
    pub fn open(directory: &Path) -> Result<Self> {
        Self::open_in(&to_read(directory)?)
    }

    /// [`LogFollower::open`] in an open directory.
    ///
    /// # Errors
    /// As [`LogFollower::open`].
    pub fn open_in(directory: &Directory) -> Result<Self> {
        Ok(Self::from_reader(LogReader::open_in(directory)?))
    }
}

impl<R: Read + Seek> LogFollower<R> {
    /// Follows anything that can seek; `path` is for messages.
    ///
    /// # Errors
    /// As [`LogReader::new`].
    pub fn new(input: R, path: &Path) -> Result<Self> {
        Ok(Self::from_reader(LogReader::new(input, path)?))
    }

    fn from_reader(reader: LogReader<R>) -> Self {
        Self {
            reader,
            surveyor: Surveyor::default(),
        }
    }

    /// Reads the blocks appended since the last call.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn read_on(&mut self) -> Result<()> {
        self.reader.read_on()?;
        self.surveyor.take_all(&mut self.reader)
    }

    /// The log's records of a segment so far, with every text unchanged; `None` for one that has
    /// not begun.
    pub fn segment(&self, segment: u32) -> Option<&SegmentRecord> {
        self.surveyor.segment(segment)
    }

    /// The run's virtual time, if it has one.
    pub fn virtual_time(&self) -> Option<&VirtualTime> {
        self.surveyor.virtual_time()
    }

    /// Facts about the machine so far.
    pub fn facts(&self) -> &[FactsTaken] {
        self.surveyor.facts()
    }

    /// All samples of one thread in one segment so far, by cycle.
    ///
    /// # Errors
    /// As [`LogFollower::batches`].
    pub fn samples(&mut self, segment: u32, thread: u16) -> Result<Vec<Sample>> {
        let mut all = Vec::new();
        for batch in self.batches(segment, thread) {
            all.append(&mut batch?);
        }
        Ok(all)
    }

    /// The samples of one thread in one segment by cycle, block by block. Reads these blocks again;
    /// a batch is an error if that fails.
    pub fn batches(
        &mut self,
        segment: u32,
        thread: u16,
    ) -> impl Iterator<Item = Result<Vec<Sample>>> {
        let Self { reader, surveyor } = self;
        let offsets = surveyor.offsets(segment, thread).iter();
        offsets.map(|&offset| reader.samples_at(offset))
    }
}
