//! Reads a log block by block, in any state: running, cut short, damaged.
//!
//! It accepts only blocks with a valid checksum, allocates no more than one block, and reports
//! exactly which bytes it could not read.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use wakepath_directory::Directory;
use wakepath_timeline::Sample;

use super::block::{
    BLOCK_HEADER, BLOCK_MAGIC, FILE_HEADER, Header, KIND_EVENT, KIND_SAMPLES, SAMPLES_PREFIX,
    checksum, read_block_header, read_file_header,
};
use super::damage::{Damage, Gap, Tail, TailKind};
use crate::error::{ArchiveError, Result};
use crate::event::Event;
use crate::{LOG_NAME, MEASURED_FORMAT_VERSION};

/// A block that passed its checksum.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Its offset in the log.
    pub offset: u64,
    /// Its number; blocks are numbered from 0 without gaps.
    pub sequence: u64,
    /// Its content.
    pub content: Content,
}

/// The content of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// One event.
    Event(Event),
    /// Samples of one thread in one segment, in the order in which they were appended.
    Samples {
        /// Number of the segment.
        segment: u32,
        /// Number of the thread.
        thread: u16,
        /// The samples.
        samples: Vec<Sample>,
    },
    /// Something a later version added.
    Unknown {
        /// Its kind.
        kind: u8,
    },
}

/// Reads a log from its start.
#[derive(Debug)]
pub struct LogReader<R> {
    input: BufReader<R>,
    path: PathBuf,
    /// Length when the log was opened; later additions are not read.
    length: u64,
    position: u64,
    next_sequence: u64,
    /// Bytes that can still be hashed in search of a block after damage.
    search_budget: u64,
    damage: Damage,
}

impl LogReader<File> {
    /// Opens the log of an open run directory.
    ///
    /// # Errors
    /// [`ArchiveError::Io`], and as [`LogReader::new`].
    pub fn open_in(directory: &Directory) -> Result<Self> {
        let path = directory.path_of(LOG_NAME);
        match directory.open(LOG_NAME) {
            Ok(file) => Self::new(file, &path),
            Err(error) => Err(ArchiveError::io("open the log", &path, error)),
        }
    }
}

impl<R: Read + Seek> LogReader<R> {
    /// Reads a log from anything that can seek; `path` is for messages.
    ///
    /// # Errors
    /// [`ArchiveError::NotRecognised`] if the header is missing or damaged,
    /// [`ArchiveError::NewerFormat`], [`ArchiveError::Io`].
    pub fn new(mut input: R, path: &Path) -> Result<Self> {
        let failed = |e| ArchiveError::io("read the log", path, e);
        let length = input.seek(SeekFrom::End(0)).map_err(failed)?;
        input.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut input = BufReader::with_capacity(128 * 1024, input);
        let mut header = Vec::with_capacity(FILE_HEADER);
        input
            .by_ref()
            .take(FILE_HEADER as u64)
            .read_to_end(&mut header)
            .map_err(failed)?;
        let version = read_file_header(&header).map_err(|why| ArchiveError::NotRecognised {
            path: path.to_owned(),
            expected: "wakepath log",
            why: why.to_string(),
        })?;
        if version > MEASURED_FORMAT_VERSION {
            return Err(ArchiveError::NewerFormat {
                path: path.to_owned(),
                found: version,
                supported: MEASURED_FORMAT_VERSION,
            });
        }
        Ok(Self {
            input,
            path: path.to_owned(),
            length,
            position: FILE_HEADER as u64,
            next_sequence: 0,
            search_budget: length.saturating_mul(4).saturating_add(256 << 20),
            damage: Damage::default(),
        })
    }

    /// The next block that can be read, or `None` at the end. Damage on the way is skipped and
    /// noted.
    ///
    /// # Errors
    /// [`ArchiveError::Io`] only.
    pub fn next_block(&mut self) -> Result<Option<Block>> {
        loop {
            if self.position >= self.length {
                return Ok(None);
            }
            let (header, payload) = match self.block_at(self.position)? {
                Ok(found) => found,
                Err(why) => match self.skip_damage(why)? {
                    Some(found) => found,
                    None => return Ok(None),
                },
            };
            let offset = self.position;
            self.position += (BLOCK_HEADER + payload.len()) as u64;
            self.next_sequence = header.sequence + 1;
            match decode(header.kind, &payload) {
                Ok(content) => {
                    return Ok(Some(Block {
                        offset,
                        sequence: header.sequence,
                        content,
                    }));
                }
                Err(why) => self.damage.gaps.push(Gap {
                    offset,
                    bytes: self.position - offset,
                    first_lost_block: header.sequence,
                    lost_blocks: 1,
                    why: why.to_string(),
                }),
            }
        }
    }

    /// Continues to the log's current end. A torn end might have become complete.
    pub(crate) fn read_on(&mut self) -> Result<()> {
        // Seeking discards the buffer: zeros before the end might have become blocks.
        let end = self.input.seek(SeekFrom::End(0));
        self.length = end.map_err(|e| self.failed(e))?;
        if let Some(tail) = self.damage.tail.take() {
            self.position = tail.offset;
        }
        Ok(())
    }

    /// Unreadable parts so far; complete once [`LogReader::next_block`] gave `None`.
    pub fn damage(&self) -> &Damage {
        &self.damage
    }

    /// Reads one block whose offset an earlier pass noted.
    pub(crate) fn samples_at(&mut self, offset: u64) -> Result<Vec<Sample>> {
        let found = self
            .block_at(offset)?
            .map(|(header, payload)| decode(header.kind, &payload));
        match found {
            Ok(Ok(Content::Samples { samples, .. })) => Ok(samples),
            _ => Err(ArchiveError::Inconsistent {
                path: self.path.clone(),
                why: format!("the block at offset {offset} changed while the log was read"),
            }),
        }
    }

    /// The block at `offset` if there is one and its checksum matches; otherwise the reason.
    fn block_at(&mut self, offset: u64) -> Result<Result<(Header, Vec<u8>), &'static str>> {
        let left = self.length.saturating_sub(offset);
        if left < BLOCK_HEADER as u64 {
            return Ok(Err("the file ends within a block's header"));
        }
        self.seek(offset)?;
        let mut bytes = [0; BLOCK_HEADER];
        self.input
            .read_exact(&mut bytes)
            .map_err(|e| self.failed(e))?;
        let header = match read_block_header(&bytes) {
            Ok(header) => header,
            Err(why) => return Ok(Err(why)),
        };
        // Only block numbers that fit the bytes before: a block of an older file that a power cut
        // exposed doesn't belong to this log.
        let most = self.next_sequence + (offset - self.position.min(offset)) / BLOCK_HEADER as u64;
        if offset >= self.position && !(self.next_sequence..=most).contains(&header.sequence) {
            return Ok(Err("the block's number is out of order"));
        }
        if u64::from(header.length) > left - BLOCK_HEADER as u64 {
            return Ok(Err("the file ends within a block"));
        }
        let mut payload = vec![0; header.length as usize];
        self.input
            .read_exact(&mut payload)
            .map_err(|e| self.failed(e))?;
        if checksum(&header, &payload) != header.crc {
            return Ok(Err("the block's checksum does not match"));
        }
        Ok(Ok((header, payload)))
    }

    /// Finds the next block after something unreadable and moves there, or notes the tail.
    fn skip_damage(&mut self, why: &'static str) -> Result<Option<(Header, Vec<u8>)>> {
        let start = self.position;
        let mut only_zeros = true;
        let mut window = vec![0; 64 * 1024];
        let mut at = start;
        // The window moves on by its length less a mark, so that none is missed at its edge.
        while at < self.length && self.search_budget > 0 {
            self.seek(at)?;
            let wanted = (self.length - at).min(window.len() as u64) as usize;
            let window = &mut window[..wanted];
            self.input.read_exact(window).map_err(|e| self.failed(e))?;
            only_zeros &= window.iter().all(|&byte| byte == 0);
            for found in window.windows(BLOCK_MAGIC.len()).enumerate() {
                let candidate = at + found.0 as u64;
                if found.1 != BLOCK_MAGIC || candidate == start || self.search_budget == 0 {
                    continue;
                }
                if let Ok((header, payload)) = self.block_at(candidate)? {
                    self.damage.gaps.push(Gap {
                        offset: start,
                        bytes: candidate - start,
                        first_lost_block: self.next_sequence,
                        lost_blocks: header.sequence - self.next_sequence,
                        why: why.to_owned(),
                    });
                    self.position = candidate;
                    return Ok(Some((header, payload)));
                }
                self.spend_on(candidate)?;
            }
            if at + wanted as u64 == self.length {
                break;
            }
            at += (wanted - (BLOCK_MAGIC.len() - 1)) as u64;
        }
        let kind = if only_zeros {
            TailKind::Zeros
        } else if self.is_torn_block(start)? {
            TailKind::Torn
        } else {
            TailKind::Damaged
        };
        self.damage.tail = Some(Tail {
            offset: start,
            bytes: self.length - start,
            kind,
        });
        self.position = self.length;
        Ok(None)
    }

    /// Counts a failed attempt against the budget, so that a hostile file full of false block marks
    /// can't keep a reader busy for hours.
    fn spend_on(&mut self, candidate: u64) -> Result<()> {
        self.seek(candidate)?;
        let mut bytes = [0; BLOCK_HEADER];
        let whole = self.length - candidate >= BLOCK_HEADER as u64;
        let mut cost = BLOCK_HEADER as u64;
        if whole {
            self.input
                .read_exact(&mut bytes)
                .map_err(|e| self.failed(e))?;
            cost += read_block_header(&bytes).map_or(0, |header| u64::from(header.length));
        }
        self.search_budget = self.search_budget.saturating_sub(cost);
        Ok(())
    }

    /// Whether an incomplete block begins at `start`.
    fn is_torn_block(&mut self, start: u64) -> Result<bool> {
        self.seek(start)?;
        let left = self.length - start;
        let mut bytes = [0; BLOCK_HEADER];
        let there = left.min(BLOCK_HEADER as u64) as usize;
        self.input
            .read_exact(&mut bytes[..there])
            .map_err(|e| self.failed(e))?;
        if there < BLOCK_HEADER {
            let mark = there.min(BLOCK_MAGIC.len());
            return Ok(bytes[..mark] == BLOCK_MAGIC[..mark]);
        }
        Ok(read_block_header(&bytes).is_ok_and(|header| {
            header.sequence == self.next_sequence
                && u64::from(header.length) > left - BLOCK_HEADER as u64
        }))
    }

    fn seek(&mut self, offset: u64) -> Result<()> {
        let now = self.input.stream_position().map_err(|e| self.failed(e))?;
        self.input
            .seek_relative(offset as i64 - now as i64)
            .map_err(|e| self.failed(e))
    }

    fn failed(&self, error: io::Error) -> ArchiveError {
        ArchiveError::io("read the log", &self.path, error)
    }
}

/// Why a payload that passed its checksum holds nothing that can be used.
#[derive(Debug, thiserror::Error)]
enum PayloadProblem {
    #[error("the event can't be understood: {0}")]
    Event(#[from] serde_json::Error),
    #[error("the sample block is too short")]
    Short,
    #[error("the sample block ends within a sample")]
    WithinASample,
}

/// The content of a payload that passed its checksum.
fn decode(kind: u8, payload: &[u8]) -> Result<Content, PayloadProblem> {
    match kind {
        KIND_EVENT => Ok(Content::Event(serde_json::from_slice(payload)?)),
        KIND_SAMPLES => decode_samples(payload),
        kind => Ok(Content::Unknown { kind }),
    }
}

fn decode_samples(payload: &[u8]) -> Result<Content, PayloadProblem> {
    let Some((prefix, samples)) = payload.split_first_chunk::<SAMPLES_PREFIX>() else {
        return Err(PayloadProblem::Short);
    };
    let (samples, rest) = samples.as_chunks::<{ Sample::BYTES }>();
    if !rest.is_empty() {
        return Err(PayloadProblem::WithinASample);
    }
    Ok(Content::Samples {
        segment: u32::from_le_bytes([prefix[0], prefix[1], prefix[2], prefix[3]]),
        thread: u16::from_le_bytes([prefix[4], prefix[5]]),
        samples: samples.iter().map(Sample::from_bytes).collect(),
    })
}
