//! Appends a segment's events to its trace.
//!
//! As in the log, a block is one `write` and counts only if its checksum matches: a kill or a power
//! cut tears at most the last one.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use wakepath_directory::{Directory, NewFile, Trust};
use wakepath_timeline::KernelEvent;

use super::block::{
    FILE_MAGIC, Frame, KIND_COMPLETE, KIND_DESCRIPTION, KIND_END, KIND_EVENTS, MAX_RAW,
};
use super::encode::Encoder;
use super::{TraceDescription, TraceEnd, trace_name};
use crate::MEASURED_FORMAT_VERSION;
use crate::durable::sync_file;
use crate::error::{ArchiveError, Result};
use crate::log::block::block_header;

/// Size at which a block's events are compressed; the rest of [`MAX_RAW`] is far more than one
/// event needs.
const FULL: usize = MAX_RAW / 2;
/// Fast and already a third of the bytes; higher levels cost the reader's CPU for a few per cent.
const LEVEL: i32 = 1;

/// Writes one segment's trace.
pub struct TraceWriter {
    file: NewFile,
    path: PathBuf,
    sequence: u64,
    /// Blocks in the making, by CPU.
    pending: BTreeMap<u16, Encoder>,
    compressor: zstd::bulk::Compressor<'static>,
    payload: Vec<u8>,
    bytes: u64,
    /// Reason why a write failed; anything written after it would be hidden.
    failed: Option<String>,
}

impl TraceWriter {
    /// Creates the trace of `description.segment` in a run directory, in place of an existing one.
    ///
    /// # Errors
    /// [`ArchiveError::DiskFull`], [`ArchiveError::Io`].
    pub fn create(directory: &Path, description: &TraceDescription) -> Result<Self> {
        Self::create_in(&Directory::to_write(directory, Trust::Own)?, description)
    }

    /// [`TraceWriter::create`] in an open directory.
    ///
    /// # Errors
    /// As [`TraceWriter::create`].
    pub fn create_in(directory: &Directory, description: &TraceDescription) -> Result<Self> {
        let name = trace_name(description.segment);
        let path = directory.path_of(&name);
        let failed = |e| ArchiveError::io("create the trace", &path, e);
        let mut file = directory.create_anew(&name).map_err(failed)?;
        let mut header = [0; 16];
        header[..8].copy_from_slice(&FILE_MAGIC);
        header[8..12].copy_from_slice(&MEASURED_FORMAT_VERSION.to_le_bytes());
        let crc = crc32fast::hash(&header[..12]);
        header[12..].copy_from_slice(&crc.to_le_bytes());
        file.write_all(&header).map_err(failed)?;
        let compressor = zstd::bulk::Compressor::new(LEVEL).map_err(failed)?;
        let mut writer = Self {
            file,
            path,
            sequence: 0,
            pending: BTreeMap::new(),
            compressor,
            payload: Vec::new(),
            bytes: header.len() as u64,
            failed: None,
        };
        writer.append_json(KIND_DESCRIPTION, description)?;
        Ok(writer)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends an event. Events of one CPU come in the kernel's order; CPUs in any order.
    ///
    /// # Errors
    /// [`ArchiveError::DiskFull`], [`ArchiveError::Io`] if a block is full and can't be written.
    pub fn append(&mut self, event: &KernelEvent) -> Result<()> {
        let encoder = self.pending.entry(event.cpu).or_default();
        encoder.add(event);
        if encoder.bytes.len() >= FULL {
            self.flush_cpu(event.cpu)?;
        }
        Ok(())
    }

    /// Writes incomplete blocks, which makes them safe from a kill.
    ///
    /// # Errors
    /// As [`TraceWriter::append`].
    pub fn flush(&mut self) -> Result<()> {
        let cpus: Vec<u16> = self.pending.keys().copied().collect();
        cpus.into_iter().try_for_each(|cpu| self.flush_cpu(cpu))
    }

    /// [`TraceWriter::flush`], and a note for who follows the trace, or reads it after a kill: every event before this
    /// instant, in nanoseconds on `CLOCK_MONOTONIC`, has been appended.
    ///
    /// # Errors
    /// As [`TraceWriter::append`].
    pub fn complete_until(&mut self, at_ns: u64) -> Result<()> {
        self.flush()?;
        self.payload.clear();
        self.payload.extend(at_ns.to_le_bytes());
        self.append_payload(KIND_COMPLETE)
    }

    /// Writes the rest and the end, and waits for the disk. Returns the file's length in bytes.
    ///
    /// # Errors
    /// As [`TraceWriter::append`].
    pub fn finish(mut self, end: &TraceEnd) -> Result<u64> {
        self.flush()?;
        self.append_json(KIND_END, end)?;
        sync_file(&mut self.file, &self.path)?;
        Ok(self.bytes)
    }

    fn append_json(&mut self, kind: u8, what: &impl Serialize) -> Result<()> {
        self.payload = serde_json::to_vec(what).expect("only strings are keys");
        self.append_payload(kind)
    }

    fn flush_cpu(&mut self, cpu: u16) -> Result<()> {
        let Some(encoder) = self.pending.get_mut(&cpu).filter(|e| e.count > 0) else {
            return Ok(());
        };
        let frame = Frame {
            cpu,
            count: encoder.count,
            losses: encoder.losses,
            raw: encoder.bytes.len() as u32,
            first_ns: encoder.first_ns,
            last_ns: encoder.last_ns,
        };
        let compressed = self
            .compressor
            .compress(&encoder.bytes)
            .map_err(|e| ArchiveError::io("compress the trace", &self.path, e))?;
        encoder.clear();
        self.payload.clear();
        self.payload.extend(frame.to_bytes());
        self.payload.extend(compressed);
        self.append_payload(KIND_EVENTS)
    }

    fn append_payload(&mut self, kind: u8) -> Result<()> {
        if let Some(why) = &self.failed {
            return Err(ArchiveError::WriterFailed {
                path: self.path.clone(),
                why: why.clone(),
            });
        }
        let mut block = block_header(kind, self.sequence, &self.payload).to_vec();
        block.append(&mut self.payload);
        if let Err(error) = self.file.write_all(&block) {
            self.failed = Some(error.to_string());
            // A torn block that stays is skipped by a reader, with all that would follow it.
            let _ = self.file.truncate(self.bytes);
            return Err(ArchiveError::io("write the trace", &self.path, error));
        }
        self.sequence += 1;
        self.bytes += block.len() as u64;
        Ok(())
    }
}
