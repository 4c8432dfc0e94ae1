//! Appends the telemetry of a segment's loops.
//!
//! As in the log, a block is one `write` and counts only if its checksum matches; each block can be
//! read alone.

use super::{DUE, KIND_TOLD, MAGIC, MAX_PAYLOAD, NAME, SPAN, told_name};
use crate::MEASURED_FORMAT_VERSION;
use crate::durable::sync_file;
use crate::error::{ArchiveError, Result};
use crate::log::block::block_header;
use crate::trace::bytes::{put, put_bytes, put_signed};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use wakepath_directory::{Directory, NewFile};

/// Longest file of a segment: some eight million runs of sections.
const MOST_BYTES: u64 = 64 << 20;

/// One item of a loop's telemetry. Times in nanoseconds on `CLOCK_MONOTONIC`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Name of a section, written before its first run.
    Name {
        /// The loop's thread within the run.
        thread: u16,
        /// Number of the section.
        section: u8,
        /// Its name.
        name: String,
    },
    /// A section ran.
    Span {
        /// The loop's thread within the run.
        thread: u16,
        /// Number of the section.
        section: u8,
        /// In which cycle.
        cycle: u64,
        /// Its begin.
        from_ns: u64,
        /// Its end.
        to_ns: u64,
    },
    /// Due time of a cycle by a foreign clock.
    Due {
        /// The loop's thread within the run.
        thread: u16,
        /// Which cycle.
        cycle: u64,
        /// When it was due.
        due_ns: u64,
    },
}

/// Cycle and time that the next record of a thread is relative to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Last {
    pub(super) cycle: u64,
    pub(super) at_ns: u64,
}

/// Writes one segment's file.
pub struct ToldWriter {
    file: NewFile,
    path: PathBuf,
    sequence: u64,
    pending: Vec<u8>,
    last: BTreeMap<u16, Last>,
    bytes: u64,
    left_out: u64,
}

impl ToldWriter {
    /// Begins the file of a segment in a run directory.
    ///
    /// # Errors
    /// [`ArchiveError::DiskFull`], [`ArchiveError::Io`].
    pub fn create_in(directory: &Directory, segment: u32) -> Result<Self> {
        let name = told_name(segment);
        let path = directory.path_of(&name);
        let failed = |e| ArchiveError::io("create the file of sections", &path, e);
        let mut file = directory.create_anew(&name).map_err(failed)?;
        let mut header = [0; 16];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&MEASURED_FORMAT_VERSION.to_le_bytes());
        let crc = crc32fast::hash(&header[..12]);
        header[12..].copy_from_slice(&crc.to_le_bytes());
        file.write_all(&header).map_err(failed)?;
        Ok(Self {
            file,
            path,
            sequence: 0,
            pending: Vec::new(),
            last: BTreeMap::new(),
            bytes: header.len() as u64,
            left_out: 0,
        })
    }

    /// Appends one thing; beyond the longest file it is left out and counted.
    ///
    /// # Errors
    /// As [`ToldWriter::flush`].
    pub fn append(&mut self, told: &Told) -> Result<()> {
        if self.bytes + self.pending.len() as u64 > MOST_BYTES {
            self.left_out += 1;
            return Ok(());
        }
        let to = &mut self.pending;
        match told {
            Told::Name {
                thread,
                section,
                name,
            } => {
                to.push(NAME);
                put(to, (*thread).into());
                to.push(*section);
                put_bytes(to, name.as_bytes());
            }
            Told::Span {
                thread,
                section,
                cycle,
                from_ns,
                to_ns,
            } => {
                let last = self.last.entry(*thread).or_default();
                to.push(SPAN);
                put(to, (*thread).into());
                to.push(*section);
                put_signed(to, cycle.wrapping_sub(last.cycle).cast_signed());
                put_signed(to, from_ns.wrapping_sub(last.at_ns).cast_signed());
                put_signed(to, to_ns.wrapping_sub(*from_ns).cast_signed());
                *last = Last {
                    cycle: *cycle,
                    at_ns: *to_ns,
                };
            }
            Told::Due {
                thread,
                cycle,
                due_ns,
            } => {
                let last = self.last.entry(*thread).or_default();
                to.push(DUE);
                put(to, (*thread).into());
                put_signed(to, cycle.wrapping_sub(last.cycle).cast_signed());
                put_signed(to, due_ns.wrapping_sub(last.at_ns).cast_signed());
                *last = Last {
                    cycle: *cycle,
                    at_ns: *due_ns,
                };
            }
        }
        if self.pending.len() >= MAX_PAYLOAD / 2 {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes pending records, which makes them safe from a kill.
    ///
    /// # Errors
    /// [`ArchiveError::DiskFull`], [`ArchiveError::Io`].
    pub fn flush(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let mut block = block_header(KIND_TOLD, self.sequence, &self.pending).to_vec();
        block.append(&mut self.pending);
        self.last.clear();
        self.sequence += 1;
        self.bytes += block.len() as u64;
        self.file
            .write_all(&block)
            .map_err(|e| ArchiveError::io("write the file of sections", &self.path, e))
    }

    /// [`ToldWriter::flush`], and waits for the disk.
    ///
    /// # Errors
    /// As [`ToldWriter::flush`].
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        sync_file(&mut self.file, &self.path)
    }

    /// Number of items left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}
