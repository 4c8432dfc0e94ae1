//! A trace's metadata: its types, streams and events. CTF 1.8 has a description language (TSDL), CTF 2 has
//! JSON.

mod blocks;
mod declared;
mod json;
mod tokens;

use super::types::Type;
use blocks::Blocks;
use std::collections::BTreeMap;

/// Bytes of metadata, at most.
const MOST_BYTES: usize = 16 << 20;
/// A packet of metadata.
const PACKET_MAGIC: [u8; 4] = 0x75d1_1d57_u32.to_le_bytes();
const PACKET_HEAD: usize = 37;

/// Why metadata can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BrokenMetadata {
    #[error("its metadata is truncated or not in LTTng's form")]
    Packet,
    #[error("its metadata is longer than {MOST_BYTES} bytes")]
    TooLong,
    #[error("its metadata is not in LTTng's form, near {0:?}")]
    Near(String),
    #[error("its metadata is nested deeper than LTTng writes it")]
    TooDeep,
    #[error("its metadata describes more types than LTTng writes")]
    TooManyTypes,
    #[error("it was written on a machine of the other byte order, which is not supported")]
    ByteOrder,
    #[error("CTF {0}; 1.8 and 2 are known")]
    Version(String),
}

/// One event's description.
#[derive(Debug, Default)]
pub(super) struct EventType {
    pub(super) name: String,
    pub(super) context: Option<Type>,
    pub(super) fields: Option<Type>,
}

/// One stream's description.
#[derive(Debug)]
pub(super) struct StreamType {
    pub(super) id: u64,
    pub(super) packet_context: Type,
    pub(super) event_header: Option<Type>,
    pub(super) event_context: Option<Type>,
}

/// A trace's description of itself.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub(super) packet_header: Type,
    pub(super) streams: BTreeMap<u64, StreamType>,
    /// By stream and number.
    pub(super) events: BTreeMap<(u64, u64), EventType>,
    /// Of the clock, in hertz.
    frequency: u64,
    /// Which clock it is: LTTng's has the boot's number.
    clock: Option<String>,
    environment: BTreeMap<String, String>,
}

impl Metadata {
    /// Reads metadata, in packets as LTTng writes it or as text.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, BrokenMetadata> {
        if bytes.len() > MOST_BYTES {
            return Err(BrokenMetadata::TooLong);
        }
        let text = unpacked(bytes)?;
        if json::is_it(&text) {
            return json::parse(&text);
        }
        let text = String::from_utf8(text).map_err(|_| BrokenMetadata::Packet)?;
        let blocks = Blocks::new(&text)?;
        let empty = || Type::Struct {
            fields: Vec::new(),
            align: 8,
        };
        Ok(Self {
            packet_header: blocks.packet_header.unwrap_or_else(empty),
            streams: blocks.streams,
            events: blocks.events,
            frequency: blocks
                .frequency
                .filter(|hertz| *hertz > 0)
                .unwrap_or(1_000_000_000),
            clock: blocks.clock,
            environment: blocks.environment,
        })
    }

    /// What its environment says, such as `tracer_name`.
    pub(crate) fn environment(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str)
    }

    /// The clock of its instants, if given.
    pub(crate) fn clock(&self) -> Option<&str> {
        self.clock.as_deref()
    }

    pub(super) fn nanoseconds(&self, cycles: u64) -> Option<u64> {
        let ns = u128::from(cycles) * 1_000_000_000 / u128::from(self.frequency);
        u64::try_from(ns)
            .ok()
            .filter(|ns| i64::try_from(*ns).is_ok())
    }
}

/// The text within packets.
fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, BrokenMetadata> {
    if !bytes.starts_with(&PACKET_MAGIC) {
        if bytes.starts_with(&0x75d1_1d57_u32.to_be_bytes()) {
            return Err(BrokenMetadata::ByteOrder);
        }
        return Ok(bytes.to_vec());
    }
    let mut rest = bytes;
    let mut text = Vec::new();
    while !rest.is_empty() {
        let head = rest.get(..PACKET_HEAD).ok_or(BrokenMetadata::Packet)?;
        let size = |at: usize| {
            let bits = u32::from_le_bytes(std::array::from_fn(|i| head[at + i]));
            bits as usize / 8
        };
        let (content, packet) = (size(24), size(28));
        let body = rest
            .get(PACKET_HEAD..content)
            .filter(|_| head.starts_with(&PACKET_MAGIC));
        text.extend_from_slice(body.ok_or(BrokenMetadata::Packet)?);
        rest = rest
            .get(packet.max(PACKET_HEAD)..)
            .filter(|_| packet >= content)
            .ok_or(BrokenMetadata::Packet)?;
    }
    Ok(text)
}
