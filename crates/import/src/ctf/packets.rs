//! One stream of packets, event by event.

use super::bits::Bits;
use super::metadata::Metadata;
use super::types::Fields;

const MAGIC: u64 = 0xc1fc_1fc1;

/// One event.
pub(crate) struct Event<'a> {
    /// Its name, such as `ros2:callback_start`.
    pub(crate) name: &'a str,
    /// On the trace's clock.
    pub(crate) at_ns: u64,
    /// Its fields, and those of its context.
    pub(crate) fields: Fields,
    /// Events that were discarded since the packet before: known at the first of a packet.
    pub(crate) lost_before: u64,
}

/// Why a stream can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BrokenStream {
    #[error("does not begin with a little-endian CTF packet")]
    Magic,
    #[error("packet {0} is truncated or doesn't match the metadata")]
    Packet(u64),
    #[error("packet {0} contains an event that is not in the metadata")]
    Event(u64),
}

/// Reads a stream.
pub(crate) struct Stream<'a> {
    metadata: &'a Metadata,
    bytes: &'a [u8],
    /// Events that LTTng discarded.
    pub(crate) lost: u64,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(metadata: &'a Metadata, bytes: &'a [u8]) -> Self {
        Self {
            metadata,
            bytes,
            lost: 0,
        }
    }

    /// Gives every event to `take`.
    pub(crate) fn each(&mut self, mut take: impl FnMut(Event<'a>)) -> Result<(), BrokenStream> {
        let mut number = 0;
        while !self.bytes.is_empty() {
            number += 1;
            self.packet(number, &mut take)?;
        }
        Ok(())
    }

    fn packet(
        &mut self,
        number: u64,
        take: &mut impl FnMut(Event<'a>),
    ) -> Result<(), BrokenStream> {
        let broken = BrokenStream::Packet(number);
        let metadata = self.metadata;
        let mut bits = Bits::new(self.bytes);
        let mut head = Fields::default();
        let magic = bits.number(32);
        if magic != Some(MAGIC) {
            return Err(match number {
                1 => BrokenStream::Magic,
                _ => broken,
            });
        }
        bits = Bits::new(self.bytes);
        metadata
            .packet_header
            .read("", &mut bits, &mut head)
            .ok_or(broken)?;
        let stream = head.unsigned("stream_id").unwrap_or(0);
        let stream = metadata.streams.get(&stream).ok_or(broken)?;
        stream
            .packet_context
            .read("", &mut bits, &mut head)
            .ok_or(broken)?;
        let length = self.bytes.len() as u64 * 8;
        let packet = head.unsigned("packet_size").unwrap_or(length);
        let content = head.unsigned("content_size").unwrap_or(packet);
        let is_whole = packet.is_multiple_of(8) && packet >= content && content >= bits.at();
        if !is_whole || packet > length || !bits.end_at(content) {
            return Err(broken);
        }
        // It counts from the beginning of the stream.
        let lost = head.unsigned("events_discarded").unwrap_or(0);
        let mut lost_before = lost.saturating_sub(self.lost);
        self.lost = self.lost.max(lost);
        let mut clock = head.unsigned("timestamp_begin").unwrap_or(0);
        let cpu = head.integer("cpu_id");
        while !bits.is_at_end() {
            let begin = bits.at();
            let mut fields = Fields::default();
            let mut read = || {
                let header = &stream.event_header;
                header.as_ref()?.read("", &mut bits, &mut fields)
            };
            read().ok_or(broken)?;
            let id = fields.unsigned("id").ok_or(broken)?;
            if let Some((value, length)) = fields.instant {
                clock = later(clock, value, length);
            }
            let event = metadata.events.get(&(stream.id, id));
            let event = event.ok_or(BrokenStream::Event(number))?;
            let contexts = [&stream.event_context, &event.context, &event.fields];
            for of in contexts.into_iter().flatten() {
                of.read("", &mut bits, &mut fields).ok_or(broken)?;
            }
            if bits.at() == begin {
                return Err(broken);
            }
            if let Some(cpu) = cpu {
                let cpu = super::types::Value::Integer(cpu);
                fields.all.insert(0, ("cpu_id".into(), cpu));
            }
            take(Event {
                name: &event.name,
                at_ns: metadata.nanoseconds(clock).ok_or(broken)?,
                fields,
                lost_before: std::mem::take(&mut lost_before),
            });
        }
        let bytes = usize::try_from(packet / 8).map_err(|_| broken)?;
        if bytes == 0 {
            return Err(broken);
        }
        self.bytes = self.bytes.get(bytes..).ok_or(broken)?;
        Ok(())
    }
}

/// The next instant whose lowest bits are these.
fn later(clock: u64, value: u64, bits: u32) -> u64 {
    if bits >= 64 {
        return value;
    }
    let mask = (1_u64 << bits) - 1;
    let found = (clock & !mask) | value;
    if found < clock {
        found.wrapping_add(mask + 1)
    } else {
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_instants_go_on_from_the_one_before() {
        assert_eq!(later(0x1_0000_0005, 7, 32), 0x1_0000_0007);
        assert_eq!(later(0x1_0000_0005, 3, 32), 0x2_0000_0003);
        assert_eq!(later(9, 3, 64), 3);
    }
}
