//! A segment's records of LITMUS^RT's Feather-Trace, as a file of its own.
//!
//! Holds the core's records, as each of its buffers returned them, between two readings of both
//! clocks. This module doesn't interpret them.

use crate::{ArchiveError, Result};
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use wakepath_directory::Directory;

const MARK: &[u8; 8] = b"WAKEFTR\n";
const HEADER: usize = 16;
const CLOCKS: u32 = 0;
/// Most bytes of a part, of which a reader keeps one at a time.
const LONGEST: u32 = 1 << 20;

/// One of the core's buffers. Each numbers its records by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FeatherBuffer {
    /// A CPU's own records.
    Cpu(u32),
    /// Messages sent to a CPU, and their receipt.
    Messages(u32),
}

impl FeatherBuffer {
    fn numbers(self) -> (u32, u32) {
        match self {
            Self::Cpu(cpu) => (1, cpu),
            Self::Messages(cpu) => (2, cpu),
        }
    }

    fn numbered(kind: u32, cpu: u32) -> Option<Self> {
        match kind {
            1 => Some(Self::Cpu(cpu)),
            2 => Some(Self::Messages(cpu)),
            _ => None,
        }
    }
}

/// One time on two clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockPair {
    /// The CPU's cycle counter, which timestamps the core's records.
    pub cycles: u64,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    pub monotonic_ns: u64,
}

/// Name of a segment's file in a run directory: `segment-3.feather-trace`.
pub fn feather_trace_name(segment: u32) -> String {
    format!("segment-{segment}.feather-trace")
}

/// Begins the file.
///
/// # Errors
/// The system's.
pub fn begin_feather_trace(file: &mut impl Write, clocks: ClockPair) -> io::Result<()> {
    file.write_all(MARK)?;
    put_clocks(file, clocks)
}

/// Appends a buffer's records, at most 1 MiB.
///
/// # Errors
/// The system's.
pub fn put_feather_records(
    file: &mut impl Write,
    from: FeatherBuffer,
    records: &[u8],
) -> io::Result<()> {
    let (kind, cpu) = from.numbers();
    put(file, kind, cpu, records)
}

/// Ends the file.
///
/// # Errors
/// The system's.
pub fn end_feather_trace(file: &mut impl Write, clocks: ClockPair) -> io::Result<()> {
    put_clocks(file, clocks)
}

fn put_clocks(file: &mut impl Write, clocks: ClockPair) -> io::Result<()> {
    let both = [clocks.cycles, clocks.monotonic_ns].map(u64::to_le_bytes);
    put(file, CLOCKS, 0, both.as_flattened())
}

fn put(file: &mut impl Write, kind: u32, number: u32, payload: &[u8]) -> io::Result<()> {
    let length = u32::try_from(payload.len())
        .ok()
        .filter(|&length| length <= LONGEST);
    let length = length.ok_or(ErrorKind::InvalidInput)?;
    let mut part = Vec::with_capacity(HEADER + payload.len());
    for number in [kind, number, length, 0] {
        part.extend(number.to_le_bytes());
    }
    part.extend(payload);
    // In one call, so that a reader finds complete parts, except for one that was cut short.
    file.write_all(&part)
}

/// A segment's file, to read.
#[derive(Debug)]
pub struct FeatherTraceFile {
    path: PathBuf,
    file: File,
    /// At its beginning and its end; one if it was cut short.
    clocks: Vec<ClockPair>,
}

impl FeatherTraceFile {
    /// Opens a segment's file; `None` if it has none.
    ///
    /// # Errors
    /// If it can't be read, or is of another kind.
    pub fn open(directory: &Path, segment: u32) -> Result<Option<Self>> {
        let failed = |error| ArchiveError::io("open the directory", directory, error);
        Self::open_in(&Directory::to_read(directory).map_err(failed)?, segment)
    }

    /// As [`FeatherTraceFile::open`], in a directory that is open.
    ///
    /// # Errors
    /// Likewise.
    pub fn open_in(directory: &Directory, segment: u32) -> Result<Option<Self>> {
        let name = feather_trace_name(segment);
        let path = directory.path_of(&name);
        let failed = |error| ArchiveError::io("read the Feather-Trace", &path, error);
        let file = match directory.open(&name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(failed)?,
        };
        let mut clocks = Vec::new();
        parts(&file, true, |kind, _, payload| {
            if let (CLOCKS, Some((cycles, ns))) = (kind, payload.split_at_checked(8)) {
                let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes);
                if let (Ok(cycles), Ok(monotonic_ns)) = (number(cycles), number(ns)) {
                    clocks.push(ClockPair {
                        cycles,
                        monotonic_ns,
                    });
                }
            }
        })
        .map_err(failed)?;
        Ok(Some(Self { path, file, clocks }))
    }

    /// Both clocks at its beginning and at its end; `None` if it was cut short or the clocks didn't
    /// advance.
    pub fn span(&self) -> Option<(ClockPair, ClockPair)> {
        let (first, last) = (*self.clocks.first()?, *self.clocks.last()?);
        let moved = last.cycles > first.cycles && last.monotonic_ns > first.monotonic_ns;
        moved.then_some((first, last))
    }

    /// Passes each buffer's records to `told`, in the order of the file.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn records(&self, mut told: impl FnMut(FeatherBuffer, &[u8])) -> Result<()> {
        parts(&self.file, false, |kind, cpu, payload| {
            if let Some(buffer) = FeatherBuffer::numbered(kind, cpu) {
                told(buffer, payload);
            }
        })
        .map_err(|error| ArchiveError::io("read the Feather-Trace", &self.path, error))
    }
}

/// All complete parts, from the start; for records only their presence if only `clocks` are wanted.
fn parts(file: &File, clocks: bool, mut part: impl FnMut(u32, u32, &[u8])) -> io::Result<()> {
    let mut file = BufReader::new(file);
    file.seek(SeekFrom::Start(0))?;
    let mut mark = [0; MARK.len()];
    file.read_exact(&mut mark)?;
    if &mark != MARK {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            "it is not a Feather-Trace of a segment's",
        ));
    }
    let mut payload = Vec::new();
    loop {
        let mut header = [0; HEADER];
        if !filled(&mut file, &mut header)? {
            return Ok(());
        }
        let (words, _) = header.as_chunks::<4>();
        let [kind, number, length] = [0, 1, 2].map(|word| u32::from_le_bytes(words[word]));
        if length > LONGEST {
            return Err(io::Error::new(
                ErrorKind::InvalidData,
                format!("a part of {length} bytes is too long"),
            ));
        }
        if clocks && kind != CLOCKS {
            file.seek_relative(length.into())?;
            continue;
        }
        payload.resize(length as usize, 0);
        if !filled(&mut file, &mut payload)? {
            return Ok(());
        }
        part(kind, number, &payload);
    }
}

/// Fills `into`; false if the file ends before that.
fn filled(file: &mut impl Read, into: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(into) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGUN: ClockPair = ClockPair {
        cycles: 10,
        monotonic_ns: 100,
    };
    const ENDED: ClockPair = ClockPair {
        cycles: 3010,
        monotonic_ns: 1100,
    };

    fn file_of(cut: usize) -> (tempfile::TempDir, Result<Option<FeatherTraceFile>>) {
        let mut bytes = Vec::new();
        begin_feather_trace(&mut bytes, BEGUN).unwrap();
        put_feather_records(&mut bytes, FeatherBuffer::Cpu(1), &[7; 32]).unwrap();
        put_feather_records(&mut bytes, FeatherBuffer::Messages(0), &[9; 16]).unwrap();
        end_feather_trace(&mut bytes, ENDED).unwrap();
        bytes.truncate(bytes.len() - cut);
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(feather_trace_name(3)), bytes).unwrap();
        let opened = FeatherTraceFile::open(directory.path(), 3);
        (directory, opened)
    }

    #[test]
    fn what_is_put_is_read_again_in_its_order() {
        let (directory, opened) = file_of(0);
        let file = opened.unwrap().unwrap();
        assert_eq!(file.span(), Some((BEGUN, ENDED)));
        let mut told = Vec::new();
        file.records(|buffer, bytes| told.push((buffer, bytes.to_vec())))
            .unwrap();
        let expected = vec![
            (FeatherBuffer::Cpu(1), vec![7; 32]),
            (FeatherBuffer::Messages(0), vec![9; 16]),
        ];
        assert_eq!(told, expected);
        let another = FeatherTraceFile::open(directory.path(), 4).unwrap();
        assert!(another.is_none());
    }

    #[test]
    fn one_that_was_cut_short_has_its_whole_parts_and_no_span() {
        let (_directory, opened) = file_of(40);
        let file = opened.unwrap().unwrap();
        assert_eq!(file.span(), None);
        let mut told = 0;
        file.records(|_, _| told += 1).unwrap();
        assert_eq!(told, 1);
    }

    #[test]
    fn another_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(feather_trace_name(0)), [0; 64]).unwrap();
        let refused = FeatherTraceFile::open(directory.path(), 0).unwrap_err();
        assert!(
            refused.to_string().contains("not a Feather-Trace"),
            "{refused}"
        );
    }
}
