//! The blocks of several CPUs as one stream in time order. It holds one unpacked block for each
//! CPU.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use wakepath_timeline::KernelEvent;

use super::block::FRAME;
use super::decode::Decoder;
use super::reader::BlockAt;
use crate::error::{ArchiveError, Result};
use crate::log::block::checksum;

/// Iterator over a trace's events; see [`super::Trace::events`].
pub struct TraceEvents {
    unpacker: Unpacker,
    from_ns: u64,
    to_ns: u64,
    streams: Vec<Stream>,
    /// The stream with the earliest next event, by time.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    failed: Option<ArchiveError>,
}

/// Makes events of blocks.
pub(super) struct Unpacker {
    file: File,
    path: PathBuf,
    decoder: Decoder,
    decompressor: zstd::bulk::Decompressor<'static>,
    packed: Vec<u8>,
    raw: Vec<u8>,
}

impl Unpacker {
    pub(super) fn new(file: File, path: &Path) -> Result<Self> {
        let failed = |e| ArchiveError::io("open the trace", path, e);
        Ok(Self {
            file,
            path: path.to_owned(),
            decoder: Decoder::default(),
            decompressor: zstd::bulk::Decompressor::new().map_err(failed)?,
            packed: Vec::new(),
            raw: Vec::new(),
        })
    }

    /// Appends a block's events.
    pub(super) fn unpack(&mut self, block: BlockAt, events: &mut Vec<KernelEvent>) -> Result<()> {
        let damaged = |why: &str| ArchiveError::NotRecognised {
            path: self.path.clone(),
            expected: "block of events",
            why: format!("at offset {}: {why}", block.offset),
        };
        self.packed.resize(block.header.length as usize, 0);
        self.file
            .read_exact_at(&mut self.packed, block.offset)
            .map_err(|e| ArchiveError::io("read the trace", &self.path, e))?;
        if checksum(&block.header, &self.packed) != block.header.crc {
            return Err(damaged("its check sum does not match"));
        }
        self.raw.resize(block.frame.raw as usize, 0);
        let length = self
            .decompressor
            .decompress_to_buffer(&self.packed[FRAME..], &mut self.raw)
            .map_err(|error| damaged(&error.to_string()))?;
        self.decoder
            .block(
                &self.raw[..length],
                block.frame.cpu,
                block.frame.count,
                events,
            )
            .ok_or_else(|| damaged("it contains something other than events"))
    }
}

/// One CPU's events.
#[derive(Default)]
struct Stream {
    blocks: VecDeque<BlockAt>,
    /// The block under way, reversed: the next event is the last.
    events: Vec<KernelEvent>,
    /// Latest time returned: a timestamp that goes backwards waits for no other CPU.
    at_ns: u64,
}

impl TraceEvents {
    pub(super) fn new(
        file: File,
        path: &Path,
        blocks: impl Iterator<Item = BlockAt>,
        from_ns: u64,
        to_ns: u64,
    ) -> Result<Self> {
        let mut streams: BTreeMap<u16, Stream> = BTreeMap::new();
        for block in blocks {
            let stream = streams.entry(block.frame.cpu).or_default();
            stream.blocks.push_back(block);
        }
        let mut events = Self {
            unpacker: Unpacker::new(file, path)?,
            from_ns,
            to_ns,
            streams: streams.into_values().collect(),
            next: BinaryHeap::new(),
            failed: None,
        };
        for stream in 0..events.streams.len() {
            events.refill(stream);
        }
        Ok(events)
    }

    /// Queues a stream's next event, from its next block if necessary.
    fn refill(&mut self, number: usize) {
        loop {
            let stream = &mut self.streams[number];
            if let Some(event) = stream.events.last() {
                stream.at_ns = stream.at_ns.max(event.at_ns);
                self.next.push(Reverse((stream.at_ns, number)));
                return;
            }
            let Some(block) = stream.blocks.pop_front() else {
                return;
            };
            if let Err(error) = self.unpack(number, block) {
                self.failed.get_or_insert(error);
                return;
            }
        }
    }

    fn unpack(&mut self, number: usize, block: BlockAt) -> Result<()> {
        let events = &mut self.streams[number].events;
        self.unpacker.unpack(block, events)?;
        if block.frame.first_ns < self.from_ns || block.frame.last_ns > self.to_ns {
            let range = self.from_ns..=self.to_ns;
            events.retain(|event| range.contains(&event.at_ns));
        }
        events.reverse();
        Ok(())
    }
}

impl Iterator for TraceEvents {
    type Item = Result<KernelEvent>;

    fn next(&mut self) -> Option<Self::Item> {
        // A damaged block of one CPU spoils the order of all that follows: nothing after it.
        if let Some(error) = self.failed.take() {
            self.next.clear();
            return Some(Err(error));
        }
        let Reverse((_, number)) = self.next.pop()?;
        let event = self.streams[number].events.pop()?;
        self.refill(number);
        Some(Ok(event))
    }
}
