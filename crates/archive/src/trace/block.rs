//! The frame of a block of events: CPU, number, first and last time; the events are compressed.
//!
//! Frames have enough data to find events by time without unpacking others. Pure.

/// First bytes of every trace.
pub(super) const FILE_MAGIC: [u8; 8] = *b"WAKETRC\n";
/// Kind of the block that holds the [`super::TraceDescription`] as JSON.
pub(super) const KIND_DESCRIPTION: u8 = 1;
/// Kind of a block of events. Not 2: that is the log's kind for samples, and readers expect blocks
/// of that kind to be short.
pub(super) const KIND_EVENTS: u8 = 4;
/// Kind of the block that holds the [`super::TraceEnd`] as JSON.
pub(super) const KIND_END: u8 = 3;
/// Kind of the block that holds an instant, in nanoseconds in eight bytes: all events before it are in the blocks
/// before this one. Written for who follows the trace, and of no use afterwards. Not 5: that is the kind of
/// telemetry's blocks.
pub(super) const KIND_COMPLETE: u8 = 6;
/// Bytes of a frame before the compressed events.
pub(super) const FRAME: usize = 32;
/// Most bytes of a block's events before compression: a reader allocates this for each CPU.
pub(super) const MAX_RAW: usize = 256 * 1024;

/// Header before a block's compressed events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub cpu: u16,
    /// Events in the block, losses included.
    pub count: u32,
    /// Losses among them.
    pub losses: u32,
    /// Bytes before compression.
    pub raw: u32,
    /// Smallest time in it.
    pub first_ns: u64,
    /// Largest time in it.
    pub last_ns: u64,
}

impl Frame {
    pub(super) fn to_bytes(self) -> [u8; FRAME] {
        let mut bytes = [0; FRAME];
        bytes[0..2].copy_from_slice(&self.cpu.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.count.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.losses.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.raw.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.first_ns.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.last_ns.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; FRAME]) -> Self {
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Self {
            cpu: u16::from_le_bytes([bytes[0], bytes[1]]),
            count: u32_at(4),
            losses: u32_at(8),
            raw: u32_at(12),
            first_ns: u64_at(16),
            last_ns: u64_at(24),
        }
    }
}
