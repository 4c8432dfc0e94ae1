//! The bytes of the log: file header, block header, checksum. Pure; `docs/reference/archive.md`
//! describes the same layout in words.

use wakepath_timeline::Sample;

/// First bytes of every log.
pub(crate) const FILE_MAGIC: [u8; 8] = *b"WAKELOG\n";
/// Length of the file header: magic, version (u32), CRC-32 of the two (u32).
pub(crate) const FILE_HEADER: usize = 16;
/// First bytes of every block; not text, so that it can't turn up in an event.
pub(crate) const BLOCK_MAGIC: [u8; 4] = [0xb7, b'W', b'K', 0x9e];
/// Length of a block's header.
pub(crate) const BLOCK_HEADER: usize = 24;
/// Kind of a block that holds one event as JSON.
pub(crate) const KIND_EVENT: u8 = 1;
/// Kind of a block that holds samples.
pub(crate) const KIND_SAMPLES: u8 = 2;
/// Bytes before the samples in a sample block's payload: segment (u32), thread (u16).
pub(crate) const SAMPLES_PREFIX: usize = 6;
/// Most samples that one block holds: the payload stays within 64 KiB.
pub(crate) const SAMPLES_PER_BLOCK: usize = (64 * 1024 - SAMPLES_PREFIX) / Sample::BYTES;
/// Longest payload of a sample block.
pub(crate) const MAX_SAMPLES_PAYLOAD: usize = SAMPLES_PREFIX + SAMPLES_PER_BLOCK * Sample::BYTES;
/// Most bytes of any block's payload: an event with all facts of a large machine is many times
/// smaller, and a reader never allocates more than this for a hostile file.
pub(crate) const MAX_PAYLOAD: usize = 16 * 1024 * 1024;

/// A block's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub kind: u8,
    pub length: u32,
    pub crc: u32,
    pub sequence: u64,
}

/// The file header of the given format version.
pub(crate) fn file_header(version: u32) -> [u8; FILE_HEADER] {
    let mut bytes = [0; FILE_HEADER];
    bytes[..8].copy_from_slice(&FILE_MAGIC);
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    let crc = crc32fast::hash(&bytes[..12]);
    bytes[12..].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// Reasons why a file isn't a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderProblem {
    #[error("{0} byte(s) long, shorter than the header ({FILE_HEADER})")]
    Short(usize),
    #[error("it does not begin with a log's magic number")]
    NoMark,
    #[error("the checksum of its header does not match")]
    Checksum,
}

/// The version in a file header, or the header's fault.
pub(crate) fn read_file_header(bytes: &[u8]) -> Result<u32, HeaderProblem> {
    if bytes.len() < FILE_HEADER {
        return Err(HeaderProblem::Short(bytes.len()));
    }
    if bytes[..8] != FILE_MAGIC {
        return Err(HeaderProblem::NoMark);
    }
    if crc32fast::hash(&bytes[..12]) != u32_at(bytes, 12) {
        return Err(HeaderProblem::Checksum);
    }
    Ok(u32_at(bytes, 8))
}

/// Header and checksum for a payload.
pub(crate) fn block_header(kind: u8, sequence: u64, payload: &[u8]) -> [u8; BLOCK_HEADER] {
    let length = u32::try_from(payload.len()).expect("payloads are bounded by MAX_PAYLOAD");
    let mut header = Header {
        kind,
        length,
        crc: 0,
        sequence,
    };
    header.crc = checksum(&header, payload);
    let mut bytes = [0; BLOCK_HEADER];
    bytes[..4].copy_from_slice(&BLOCK_MAGIC);
    bytes[4] = header.kind;
    bytes[8..12].copy_from_slice(&header.length.to_le_bytes());
    bytes[12..16].copy_from_slice(&header.crc.to_le_bytes());
    bytes[16..24].copy_from_slice(&header.sequence.to_le_bytes());
    bytes
}

/// Parses a block's header, or returns the fault. The caller compares the checksum.
pub(crate) fn read_block_header(bytes: &[u8; BLOCK_HEADER]) -> Result<Header, &'static str> {
    if bytes[..4] != BLOCK_MAGIC {
        return Err("no block begins here");
    }
    let header = Header {
        kind: bytes[4],
        length: u32_at(bytes, 8),
        crc: u32_at(bytes, 12),
        sequence: u64::from_le_bytes(std::array::from_fn(|i| bytes[16 + i])),
    };
    let longest = if header.kind == KIND_SAMPLES {
        MAX_SAMPLES_PAYLOAD
    } else {
        MAX_PAYLOAD
    };
    if bytes[5..8] != [0; 3] {
        return Err("the block's header is damaged");
    }
    if header.length as usize > longest {
        return Err("the block has an impossible length");
    }
    Ok(header)
}

/// CRC-32 (IEEE) over kind and length as stored in the header, the sequence number and the payload:
/// a block that was moved or cut short fails it.
pub(crate) fn checksum(header: &Header, payload: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&[header.kind, 0, 0, 0]);
    crc.update(&header.length.to_le_bytes());
    crc.update(&header.sequence.to_le_bytes());
    crc.update(payload);
    crc.finalize()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]))
}
