//! Opens a segment's trace: its description, the positions of its blocks, and any damage.
//!
//! Holds an index, never the events.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use wakepath_directory::Directory;

use super::block::{
    FILE_MAGIC, FRAME, Frame, KIND_COMPLETE, KIND_DESCRIPTION, KIND_END, KIND_EVENTS, MAX_RAW,
};
use super::merge::TraceEvents;
use super::{TraceDescription, TraceEnd, trace_name};
use crate::MEASURED_FORMAT_VERSION;
use crate::durable::{open, to_read};
use crate::error::{ArchiveError, Result};
use crate::legible::read_legible;
use crate::log::block::{BLOCK_HEADER, Header, checksum, read_block_header};

/// One segment's trace, open for reading.
#[derive(Debug)]
pub struct Trace {
    file: File,
    path: PathBuf,
    description: TraceDescription,
    end: Option<TraceEnd>,
    blocks: Vec<BlockAt>,
    cut: Option<String>,
    complete_to_ns: u64,
}

/// Position of a block of events.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockAt {
    pub offset: u64,
    pub header: Header,
    pub frame: Frame,
}

impl Trace {
    /// Opens the trace of a segment; `None` if the segment is untraced. Only the blocks' headers
    /// are read; a block's checksum is compared when its events are read.
    ///
    /// # Errors
    /// [`ArchiveError::NotRecognised`] for another kind of file or one without its start,
    /// [`ArchiveError::NewerFormat`], [`ArchiveError::Io`].
    pub fn open(directory: &Path, segment: u32) -> Result<Option<Self>> {
        Self::open_in(&to_read(directory)?, segment)
    }

    /// [`Trace::open`] in an open directory.
    ///
    /// # Errors
    /// As [`Trace::open`].
    pub fn open_in(directory: &Directory, segment: u32) -> Result<Option<Self>> {
        let name = trace_name(segment);
        match open(directory, &name, "open the trace")? {
            Some(file) => Self::index(file, directory.path_of(&name)).map(Some),
            None => Ok(None),
        }
    }

    /// Recorded events, CPUs and backend.
    pub fn description(&self) -> &TraceDescription {
        &self.description
    }

    /// Its result; `None` if the trace was cut short.
    pub fn end(&self) -> Option<&TraceEnd> {
        self.end.as_ref()
    }

    /// Why the trace stops before its end, in one line; `None` if it is whole.
    pub fn cut_short(&self) -> Option<&str> {
        self.cut.as_deref()
    }

    /// Until when no CPU's events are missing, in nanoseconds on `CLOCK_MONOTONIC`. Later events of a trace that was cut
    /// short are not read: a thread that was woken on one CPU might have run on another.
    pub fn complete_to_ns(&self) -> u64 {
        self.complete_to_ns
    }

    /// Events in the file, losses not counted.
    pub fn events_recorded(&self) -> u64 {
        let of = |block: &BlockAt| u64::from(block.frame.count - block.frame.losses);
        self.blocks.iter().map(of).sum()
    }

    /// All events in time order over the CPUs, to [`Trace::complete_to_ns`]. Each CPU's events keep the kernel's order:
    /// if its timestamps go backwards, so do the events'. Memory is bounded by one block for each CPU, however long
    /// the trace is.
    ///
    /// # Errors
    /// [`ArchiveError::Io`] if the file can't be opened; an item is an error if a block is damaged,
    /// and is the last one.
    pub fn events(&self) -> Result<TraceEvents> {
        self.between(0, u64::MAX)
    }

    /// The events from `from_ns` to `to_ns`, both included, in nanoseconds on `CLOCK_MONOTONIC`;
    /// blocks that hold none of them are not read. Otherwise as [`Trace::events`].
    ///
    /// # Errors
    /// As [`Trace::events`].
    pub fn between(&self, from_ns: u64, to_ns: u64) -> Result<TraceEvents> {
        let to_ns = to_ns.min(self.complete_to_ns);
        let inside =
            |block: &&BlockAt| block.frame.last_ns >= from_ns && block.frame.first_ns <= to_ns;
        let blocks = self.blocks.iter().filter(inside).copied();
        let failed = |e| ArchiveError::io("open the trace", &self.path, e);
        let file = self.file.try_clone().map_err(failed)?;
        TraceEvents::new(file, &self.path, blocks, from_ns, to_ns)
    }

    fn index(file: File, path: PathBuf) -> Result<Self> {
        let failed = |e| ArchiveError::io("read the trace", &path, e);
        let unknown = |why: String| ArchiveError::NotRecognised {
            path: path.clone(),
            expected: "trace of a segment",
            why,
        };
        let length = file.metadata().map_err(failed)?.len();
        let mut file = BufReader::with_capacity(4096, file);
        let mut start = [0; 16];
        file.read_exact(&mut start).map_err(|_| {
            unknown(format!(
                "{length} byte(s) long, shorter than the header (16)"
            ))
        })?;
        if start[..8] != FILE_MAGIC {
            return Err(unknown(
                "it does not begin with a trace's magic number".into(),
            ));
        }
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| start[at + i]));
        if crc32fast::hash(&start[..12]) != u32_at(12) {
            return Err(unknown("the check sum of its header does not match".into()));
        }
        if u32_at(8) > MEASURED_FORMAT_VERSION {
            return Err(ArchiveError::NewerFormat {
                path: path.clone(),
                found: u32_at(8),
                supported: MEASURED_FORMAT_VERSION,
            });
        }

        let (mut description, mut end, mut blocks) = (None, None, Vec::new());
        let mut noted_ns = 0;
        let mut at = start.len() as u64;
        let mut sequence = 0;
        let cut = loop {
            if at == length {
                break end.is_none().then(|| "its end is missing".to_owned());
            }
            let mut head = [0; BLOCK_HEADER];
            if file.read_exact(&mut head).is_err() {
                break Some(format!("the block at offset {at} is cut short"));
            }
            let header = match read_block_header(&head) {
                Ok(header) if header.sequence == sequence => header,
                Ok(_) => break Some(format!("the block at offset {at} is out of order")),
                Err(why) => break Some(format!("at offset {at}: {why}")),
            };
            let next = at + (BLOCK_HEADER as u64) + u64::from(header.length);
            if next > length {
                break Some(format!("the block at offset {at} is cut short"));
            }
            match header.kind {
                KIND_EVENTS => {
                    let mut frame = [0; FRAME];
                    if (header.length as usize) < FRAME || file.read_exact(&mut frame).is_err() {
                        break Some(format!("the block at offset {at} is too short"));
                    }
                    let frame = Frame::from_bytes(&frame);
                    if frame.raw as usize > MAX_RAW
                        || frame.count > frame.raw
                        || frame.losses > frame.count
                    {
                        break Some(format!("the block at offset {at} claims impossible sizes"));
                    }
                    blocks.push(BlockAt {
                        offset: at + BLOCK_HEADER as u64,
                        header,
                        frame,
                    });
                }
                KIND_DESCRIPTION | KIND_END => {
                    let mut payload = vec![0; header.length as usize];
                    file.read_exact(&mut payload).map_err(failed)?;
                    if checksum(&header, &payload) != header.crc {
                        break Some(format!("the block at offset {at} is damaged"));
                    }
                    let parsed = match header.kind {
                        KIND_END => read_legible(&payload).map(|found| end = Some(found)),
                        _ => read_legible(&payload).map(|found| description = Some(found)),
                    };
                    if let Err(error) = parsed {
                        break Some(format!("the block at offset {at}: {error}"));
                    }
                }
                // A later version's block, skipped as the log's reader does; or a known one with an
                // altered kind, which fails its checksum.
                _ => {
                    let mut payload = vec![0; header.length as usize];
                    file.read_exact(&mut payload).map_err(failed)?;
                    if checksum(&header, &payload) != header.crc {
                        break Some(format!("the block at offset {at} is damaged"));
                    }
                    if let (KIND_COMPLETE, Ok(at_ns)) = (header.kind, payload.try_into()) {
                        noted_ns = noted_ns.max(u64::from_le_bytes(at_ns).saturating_sub(1));
                    }
                }
            }
            file.seek(SeekFrom::Start(next)).map_err(failed)?;
            at = next;
            sequence += 1;
        };
        let description: TraceDescription =
            description.ok_or_else(|| unknown("it has no description".into()))?;
        let complete_to_ns = match end {
            Some(_) => u64::MAX,
            None => noted_ns.max(reached_by_all(&description.cpus, &blocks)),
        };
        Ok(Self {
            file: file.into_inner(),
            path,
            description,
            end,
            blocks,
            cut,
            complete_to_ns,
        })
    }
}

/// The time of the last event of that CPU whose events end first; 0 if a CPU has none.
fn reached_by_all(cpus: &[u16], blocks: &[BlockAt]) -> u64 {
    let last_ns = |cpu: &u16| {
        let of_cpu = blocks.iter().filter(|block| block.frame.cpu == *cpu);
        of_cpu.map(|block| block.frame.last_ns).max().unwrap_or(0)
    };
    cpus.iter().map(last_ns).min().unwrap_or(u64::MAX)
}
