//! MCAP files (<https://mcap.dev/spec>): messages in compressed chunks, with an index at the end.
//!
//! It writes from the beginning to the end and knows nothing of what the messages mean.

use std::collections::BTreeMap;
use std::io::{self, Write};

/// Beginning and end of a file.
const MAGIC: &[u8] = b"\x89MCAP0\r\n";
/// A viewer reads a chunk at a time.
const CHUNK_BYTES: usize = 768 << 10;
const COMPRESSION: &str = "zstd";
const LEVEL: i32 = 1;

/// Kinds of records.
mod opcode {
    pub const HEADER: u8 = 0x01;
    pub const FOOTER: u8 = 0x02;
    pub const SCHEMA: u8 = 0x03;
    pub const CHANNEL: u8 = 0x04;
    pub const MESSAGE: u8 = 0x05;
    pub const CHUNK: u8 = 0x06;
    pub const MESSAGE_INDEX: u8 = 0x07;
    pub const CHUNK_INDEX: u8 = 0x08;
    pub const STATISTICS: u8 = 0x0b;
    pub const METADATA: u8 = 0x0c;
    pub const METADATA_INDEX: u8 = 0x0d;
    pub const SUMMARY_OFFSET: u8 = 0x0e;
    pub const DATA_END: u8 = 0x0f;
}

/// The number of a schema.
#[derive(Debug, Clone, Copy)]
pub struct SchemaId(u16);

/// The number of a channel.
#[derive(Debug, Clone, Copy)]
pub struct ChannelId(u16);

/// A file that is being written.
pub struct McapWriter<W> {
    to: W,
    written: u64,
    /// Schemas, channels, and what the summary says of metadata and chunks: as records.
    schemas: Vec<Vec<u8>>,
    channels: Vec<Vec<u8>>,
    metadata_index: Vec<Vec<u8>>,
    chunk_index: Vec<Vec<u8>>,
    /// Messages of each channel so far.
    counts: Vec<u64>,
    times: Times,
    chunk: Chunk,
}

/// The messages since the last chunk.
#[derive(Default)]
struct Chunk {
    records: Vec<u8>,
    times: Times,
    /// Log time and offset of each channel's messages.
    index: BTreeMap<u16, Vec<(u64, u64)>>,
}

/// First and last log time.
#[derive(Debug, Default, Clone, Copy)]
struct Times(Option<(u64, u64)>);

impl Times {
    fn add(&mut self, at: u64) {
        let (first, last) = self.0.unwrap_or((at, at));
        self.0 = Some((first.min(at), last.max(at)));
    }

    /// 0 without a message.
    fn bytes(self) -> [u8; 16] {
        let (first, last) = self.0.unwrap_or_default();
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&first.to_le_bytes());
        bytes[8..].copy_from_slice(&last.to_le_bytes());
        bytes
    }
}

impl<W: Write> McapWriter<W> {
    /// Writes the file's beginning; `library` is the program's name and version.
    pub fn new(to: W, library: &str) -> io::Result<Self> {
        let mut writer = Self {
            to,
            written: 0,
            schemas: Vec::new(),
            channels: Vec::new(),
            metadata_index: Vec::new(),
            chunk_index: Vec::new(),
            counts: Vec::new(),
            times: Times::default(),
            chunk: Chunk::default(),
        };
        writer.put(MAGIC)?;
        let mut header = Vec::new();
        put_text(&mut header, "");
        put_text(&mut header, library);
        writer.put(&record(opcode::HEADER, &header))?;
        Ok(writer)
    }

    /// Writes named pairs that describe the whole file.
    pub fn metadata(&mut self, name: &str, pairs: &BTreeMap<String, String>) -> io::Result<()> {
        self.end_chunk()?;
        let mut content = Vec::new();
        put_text(&mut content, name);
        put_pairs(&mut content, pairs);
        let metadata = record(opcode::METADATA, &content);
        let mut index = self.written.to_le_bytes().to_vec();
        index.extend((metadata.len() as u64).to_le_bytes());
        put_text(&mut index, name);
        self.metadata_index
            .push(record(opcode::METADATA_INDEX, &index));
        self.put(&metadata)
    }

    /// Adds a JSON Schema for messages.
    pub fn schema(&mut self, name: &str, text: &str) -> SchemaId {
        let id = self.schemas.len() as u16 + 1;
        let mut content = id.to_le_bytes().to_vec();
        put_text(&mut content, name);
        put_text(&mut content, "jsonschema");
        put_text(&mut content, text);
        let schema = record(opcode::SCHEMA, &content);
        self.chunk.records.extend(&schema);
        self.schemas.push(schema);
        SchemaId(id)
    }

    /// Adds a topic with messages of JSON.
    pub fn channel(
        &mut self,
        schema: SchemaId,
        topic: &str,
        pairs: &BTreeMap<String, String>,
    ) -> io::Result<ChannelId> {
        let id = u16::try_from(self.channels.len())
            .map_err(|_| io::Error::other("more topics than the 65 536 of an MCAP file"))?;
        let mut content = id.to_le_bytes().to_vec();
        content.extend(schema.0.to_le_bytes());
        put_text(&mut content, topic);
        put_text(&mut content, "json");
        put_pairs(&mut content, pairs);
        let channel = record(opcode::CHANNEL, &content);
        self.chunk.records.extend(&channel);
        self.channels.push(channel);
        self.counts.push(0);
        Ok(ChannelId(id))
    }

    /// Writes a message. Times are nanoseconds.
    pub fn message(
        &mut self,
        channel: ChannelId,
        log_time: u64,
        publish_time: u64,
        text: &[u8],
    ) -> io::Result<()> {
        let ChannelId(id) = channel;
        let count = &mut self.counts[usize::from(id)];
        *count += 1;
        let sequence = *count as u32;
        let chunk = &mut self.chunk;
        let offset = chunk.records.len() as u64;
        chunk.index.entry(id).or_default().push((log_time, offset));
        chunk.times.add(log_time);
        self.times.add(log_time);
        let length = 2 + 4 + 8 + 8 + text.len() as u64;
        chunk.records.push(opcode::MESSAGE);
        chunk.records.extend(length.to_le_bytes());
        chunk.records.extend(id.to_le_bytes());
        chunk.records.extend(sequence.to_le_bytes());
        chunk.records.extend(log_time.to_le_bytes());
        chunk.records.extend(publish_time.to_le_bytes());
        chunk.records.extend(text);
        if chunk.records.len() < CHUNK_BYTES {
            Ok(())
        } else {
            self.end_chunk()
        }
    }

    /// Compresses the messages since the last chunk.
    fn end_chunk(&mut self) -> io::Result<()> {
        let Chunk {
            records,
            times,
            index,
        } = std::mem::take(&mut self.chunk);
        if records.is_empty() {
            return Ok(());
        }
        let packed = zstd::bulk::compress(&records, LEVEL)?;
        let sizes = [packed.len() as u64, records.len() as u64];
        let mut content = times.bytes().to_vec();
        content.extend(sizes[1].to_le_bytes());
        content.extend(crc32fast::hash(&records).to_le_bytes());
        put_text(&mut content, COMPRESSION);
        content.extend(sizes[0].to_le_bytes());
        content.extend(packed);
        let chunk = record(opcode::CHUNK, &content);
        let (start, length) = (self.written, chunk.len() as u64);
        self.put(&chunk)?;
        let indices = self.written;
        let mut offsets = Vec::new();
        for (channel, messages) in index {
            offsets.extend(channel.to_le_bytes());
            offsets.extend(self.written.to_le_bytes());
            let mut content = channel.to_le_bytes().to_vec();
            content.extend((messages.len() as u32 * 16).to_le_bytes());
            for (at, offset) in messages {
                content.extend(at.to_le_bytes());
                content.extend(offset.to_le_bytes());
            }
            self.put(&record(opcode::MESSAGE_INDEX, &content))?;
        }
        let mut content = times.bytes().to_vec();
        content.extend(start.to_le_bytes());
        content.extend(length.to_le_bytes());
        content.extend((offsets.len() as u32).to_le_bytes());
        content.extend(offsets);
        content.extend((self.written - indices).to_le_bytes());
        put_text(&mut content, COMPRESSION);
        content.extend(sizes.iter().flat_map(|size| size.to_le_bytes()));
        self.chunk_index.push(record(opcode::CHUNK_INDEX, &content));
        Ok(())
    }

    /// Writes the rest of the messages and the summary.
    pub fn finish(mut self) -> io::Result<()> {
        self.end_chunk()?;
        // 0: no checksum of the whole data; each chunk has its own.
        self.put(&record(opcode::DATA_END, &0_u32.to_le_bytes()))?;
        let start = self.written;
        let statistics = vec![record(opcode::STATISTICS, &self.statistics())];
        let groups = [
            (opcode::SCHEMA, std::mem::take(&mut self.schemas)),
            (opcode::CHANNEL, std::mem::take(&mut self.channels)),
            (opcode::STATISTICS, statistics),
            (opcode::CHUNK_INDEX, std::mem::take(&mut self.chunk_index)),
            (
                opcode::METADATA_INDEX,
                std::mem::take(&mut self.metadata_index),
            ),
        ];
        let (mut summary, mut offsets) = (Vec::new(), Vec::new());
        for (kind, records) in groups {
            let group = records.concat();
            if !group.is_empty() {
                let mut content = vec![kind];
                content.extend((start + summary.len() as u64).to_le_bytes());
                content.extend((group.len() as u64).to_le_bytes());
                offsets.extend(record(opcode::SUMMARY_OFFSET, &content));
                summary.extend(group);
            }
        }
        let offsets_start = start + summary.len() as u64;
        summary.extend(offsets);
        // The checksum is of everything since `start` that precedes it.
        summary.push(opcode::FOOTER);
        summary.extend(20_u64.to_le_bytes());
        summary.extend(start.to_le_bytes());
        summary.extend(offsets_start.to_le_bytes());
        summary.extend(crc32fast::hash(&summary).to_le_bytes());
        self.put(&summary)?;
        self.put(MAGIC)?;
        self.to.flush()
    }

    fn statistics(&self) -> Vec<u8> {
        let messages: u64 = self.counts.iter().sum();
        let mut content = messages.to_le_bytes().to_vec();
        content.extend((self.schemas.len() as u16).to_le_bytes());
        let attachments = 0;
        for count in [
            self.channels.len(),
            attachments,
            self.metadata_index.len(),
            self.chunk_index.len(),
        ] {
            content.extend((count as u32).to_le_bytes());
        }
        content.extend(self.times.bytes());
        content.extend((self.counts.len() as u32 * 10).to_le_bytes());
        for (channel, count) in self.counts.iter().enumerate() {
            content.extend((channel as u16).to_le_bytes());
            content.extend(count.to_le_bytes());
        }
        content
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.to.write_all(bytes)
    }
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut record = Vec::with_capacity(9 + content.len());
    record.push(kind);
    record.extend((content.len() as u64).to_le_bytes());
    record.extend(content);
    record
}

fn put_text(to: &mut Vec<u8>, text: &str) {
    to.extend((text.len() as u32).to_le_bytes());
    to.extend(text.as_bytes());
}

fn put_pairs(to: &mut Vec<u8>, pairs: &BTreeMap<String, String>) {
    let mut content = Vec::new();
    for (key, value) in pairs {
        put_text(&mut content, key);
        put_text(&mut content, value);
    }
    to.extend((content.len() as u32).to_le_bytes());
    to.extend(content);
}

#[cfg(test)]
mod tests;
