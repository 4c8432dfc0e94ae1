//! Reads a segment's telemetry up to the first damage.
//!
//! Pure except for the file, whose bytes can be anything.

use super::writer::Last;
use super::{DUE, KIND_TOLD, MAGIC, NAME, SPAN, told_name};
use crate::FORMAT_VERSION;
use crate::durable::{open, to_read};
use crate::error::{ArchiveError, Result};
use crate::log::block::{BLOCK_HEADER, checksum, read_block_header};
use crate::trace::bytes::Take;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use wakepath_timeline::{decoded, one_line};

/// Most names of a loop's sections to keep; our own loops have half as many.
const MOST_NAMES: usize = 32;

/// A run of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// In which cycle.
    pub cycle: u64,
    /// Number of the section.
    pub section: u8,
    /// Its begin, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

/// Telemetry of one loop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadTold {
    /// Its sections' names, by their number.
    pub names: Vec<String>,
    /// Runs of its sections, by the cycle.
    pub spans: Vec<Span>,
    /// Cycles with when they were due by a foreign clock, ascending.
    pub dues: Vec<(u64, u64)>,
}

/// Telemetry of a segment's loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentTold {
    /// By the thread within the run.
    pub threads: BTreeMap<u16, ThreadTold>,
    /// Whether the file is whole to its end.
    pub is_whole: bool,
}

impl ThreadTold {
    /// Due time of a cycle by a foreign clock.
    pub fn due_ns(&self, cycle: u64) -> Option<u64> {
        let at = self.dues.binary_search_by_key(&cycle, |&(of, _)| of).ok()?;
        Some(self.dues[at].1)
    }

    /// The sections that ran in a cycle.
    pub fn spans_of(&self, cycle: u64) -> &[Span] {
        let from = self.spans.partition_point(|span| span.cycle < cycle);
        let count = self.spans[from..].partition_point(|span| span.cycle == cycle);
        &self.spans[from..from + count]
    }

    /// A section's name; its number if the file has no name.
    pub fn name(&self, section: u8) -> String {
        match self.names.get(usize::from(section)) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("section {section}"),
        }
    }
}

impl SegmentTold {
    /// Reads a segment's file; `None` if it doesn't exist.
    ///
    /// # Errors
    /// [`ArchiveError::NotRecognised`] for another kind of file, [`ArchiveError::NewerFormat`],
    /// [`ArchiveError::Io`].
    pub fn read(directory: &Path, segment: u32) -> Result<Option<Self>> {
        let directory = to_read(directory)?;
        let name = told_name(segment);
        let Some(mut file) = open(&directory, &name, "open the file of sections")? else {
            return Ok(None);
        };
        let path = directory.path_of(&name);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)
            .map_err(|e| ArchiveError::io("read the file of sections", &path, e))?;
        Self::from_bytes(&bytes, &path).map(Some)
    }

    /// The complete records in such a file's bytes.
    ///
    /// # Errors
    /// [`ArchiveError::NotRecognised`] for another kind of file, [`ArchiveError::NewerFormat`].
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        let unknown = |why: &str| ArchiveError::NotRecognised {
            path: path.to_owned(),
            expected: "file of a segment's sections",
            why: why.into(),
        };
        let Some((header, rest)) = bytes.split_first_chunk::<16>() else {
            return Err(unknown("it is shorter than its header"));
        };
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| header[at + i]));
        if header[..8] != MAGIC || crc32fast::hash(&header[..12]) != u32_at(12) {
            return Err(unknown("it does not begin as one"));
        }
        if u32_at(8) > FORMAT_VERSION {
            return Err(ArchiveError::NewerFormat {
                path: path.to_owned(),
                found: u32_at(8),
                supported: FORMAT_VERSION,
            });
        }
        let mut told = Self {
            threads: BTreeMap::new(),
            is_whole: false,
        };
        told.is_whole = told.blocks(rest).is_some();
        for thread in told.threads.values_mut() {
            // A loop that numbers its cycles in any order can still be searched.
            thread.spans.sort_by_cached_key(|span| span.cycle);
            thread.dues.sort_by_cached_key(|&(cycle, _)| cycle);
            thread.dues.dedup_by_key(|&mut (cycle, _)| cycle);
        }
        Ok(told)
    }

    fn blocks(&mut self, mut rest: &[u8]) -> Option<()> {
        let mut sequence = 0;
        while !rest.is_empty() {
            let (head, after) = rest.split_first_chunk::<BLOCK_HEADER>()?;
            let header = read_block_header(head).ok()?;
            let (payload, after) = after.split_at_checked(header.length as usize)?;
            if header.sequence != sequence || checksum(&header, payload) != header.crc {
                return None;
            }
            if header.kind == KIND_TOLD {
                self.records(payload)?;
            }
            (rest, sequence) = (after, sequence + 1);
        }
        Some(())
    }

    fn records(&mut self, payload: &[u8]) -> Option<()> {
        let mut take = Take(payload);
        let mut last: BTreeMap<u16, Last> = BTreeMap::new();
        while !take.0.is_empty() {
            let kind = take.byte()?;
            let thread: u16 = take.fitting()?;
            let of = self.threads.entry(thread).or_default();
            let last = last.entry(thread).or_default();
            match kind {
                NAME => {
                    let section = usize::from(take.byte()?);
                    let name = decoded(take.bytes()?).into_owned();
                    // Four bytes of a stranger's are not to become a table of 256 names.
                    if section < MOST_NAMES {
                        if of.names.len() <= section {
                            of.names.resize(section + 1, String::new());
                        }
                        of.names[section] = one_line(&name);
                    }
                }
                SPAN => {
                    let section = take.byte()?;
                    let cycle = last.cycle.wrapping_add_signed(take.signed()?);
                    let from_ns = last.at_ns.wrapping_add_signed(take.signed()?);
                    let to_ns = from_ns.wrapping_add_signed(take.signed()?);
                    *last = Last {
                        cycle,
                        at_ns: to_ns,
                    };
                    of.spans.push(Span {
                        cycle,
                        section,
                        from_ns,
                        // A section can't end before it begins.
                        to_ns: to_ns.max(from_ns),
                    });
                }
                DUE => {
                    let cycle = last.cycle.wrapping_add_signed(take.signed()?);
                    let due_ns = last.at_ns.wrapping_add_signed(take.signed()?);
                    *last = Last {
                        cycle,
                        at_ns: due_ns,
                    };
                    of.dues.push((cycle, due_ns));
                }
                _ => return None,
            }
        }
        Some(())
    }
}
