//! Writes timelines that ui.perfetto.dev opens: tracks, slices on them, instants. A stream; it
//! knows nothing of loops and causes, and reads no timeline back.
//!
//! The format is Perfetto's own protobuf (`protos/perfetto/trace/trace.proto` and what it
//! includes), of which this needs four messages with fourteen fields: few enough to be written by
//! hand, without a code generator.

mod wire;

use std::io::{self, Write};
use wire::Message;

/// A track: a row of the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Track(u64);

/// Writes a timeline. Slices on one track must nest: what begins last ends first.
#[derive(Debug)]
pub struct Timeline<W: Write> {
    out: W,
    tracks: u64,
    packet: Message,
    inner: Message,
}

/// All packets belong to one sequence; any number but 0 will do.
const SEQUENCE: u64 = 1;

impl<W: Write> Timeline<W> {
    /// Writes into `out`, which should be buffered.
    pub fn new(out: W) -> Self {
        Self {
            out,
            tracks: 0,
            packet: Message::default(),
            inner: Message::default(),
        }
    }

    /// Adds a track below another, or at the top. Tracks are shown in the order they were added.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn track(&mut self, name: &str, parent: Option<Track>) -> io::Result<Track> {
        self.tracks += 1;
        let track = Track(self.tracks);
        self.inner.clear();
        self.inner.number(1, track.0); // TrackDescriptor.uuid
        self.inner.text(2, name);
        if let Some(parent) = parent {
            self.inner.number(5, parent.0); // parent_uuid
        }
        self.inner.number(11, 3); // child_ordering: EXPLICIT
        self.inner.number(12, track.0); // sibling_order_rank
        self.packet.clear();
        self.packet.number(10, SEQUENCE); // TracePacket.trusted_packet_sequence_id
        self.packet.message(60, &self.inner); // track_descriptor
        self.write()?;
        Ok(track)
    }

    /// A slice with notes that are shown when it is selected.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn slice(
        &mut self,
        track: Track,
        (from_ns, to_ns): (u64, u64),
        name: &str,
        notes: &[(&str, &str)],
    ) -> io::Result<()> {
        self.event(track, from_ns, 1, name, notes)?; // SLICE_BEGIN
        self.event(track, to_ns.max(from_ns), 2, "", &[]) // SLICE_END
    }

    /// A mark at an instant.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn instant(&mut self, track: Track, at_ns: u64, name: &str) -> io::Result<()> {
        self.event(track, at_ns, 3, name, &[])
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn event(
        &mut self,
        track: Track,
        at_ns: u64,
        kind: u64,
        name: &str,
        notes: &[(&str, &str)],
    ) -> io::Result<()> {
        self.inner.clear();
        for (key, value) in notes {
            let mut note = Message::default();
            note.text(6, value); // DebugAnnotation.string_value
            note.text(10, key); // name
            self.inner.message(4, &note); // TrackEvent.debug_annotations
        }
        self.inner.number(9, kind); // type
        self.inner.number(11, track.0); // track_uuid
        if !name.is_empty() {
            self.inner.text(23, name);
        }
        self.packet.clear();
        self.packet.number(8, at_ns); // TracePacket.timestamp
        self.packet.number(10, SEQUENCE); // trusted_packet_sequence_id
        self.packet.message(11, &self.inner); // track_event
        self.write()
    }

    fn write(&mut self) -> io::Result<()> {
        let mut head = Message::default();
        head.head(1, self.packet.bytes().len()); // Trace.packet
        self.out.write_all(head.bytes())?;
        self.out.write_all(self.packet.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by Google's own Python classes (PyPI `perfetto` 0.59.1, `perfetto_trace_pb2`) from the
    /// same four calls; see `tests/fixtures/perfetto/README.md`.
    const EXPECTED: &[u8] =
        include_bytes!("../../tests/fixtures/perfetto/four-packets.perfetto-trace");

    #[test]
    fn the_bytes_are_those_that_perfetto_s_own_library_writes() {
        let mut timeline = Timeline::new(Vec::new());
        let top = timeline.track("loop", None).unwrap();
        let below = timeline.track("latency", Some(top)).unwrap();
        let notes = [("cause", "SoftIRQ RCU")];
        timeline
            .slice(below, (1_000_000_000, 1_000_700_000), "late 700 µs", &notes)
            .unwrap();
        timeline.instant(top, 1_004_000_000, "deadline").unwrap();
        let bytes = timeline.finish().unwrap();
        assert_eq!(bytes, EXPECTED);
    }

    #[test]
    fn a_slice_that_ends_before_it_begins_is_empty_and_not_endless() {
        let mut timeline = Timeline::new(Vec::new());
        let track = timeline.track("a", None).unwrap();
        timeline.slice(track, (10, 5), "", &[]).unwrap();
        let backwards = timeline.finish().unwrap();
        let mut timeline = Timeline::new(Vec::new());
        let track = timeline.track("a", None).unwrap();
        timeline.slice(track, (10, 10), "", &[]).unwrap();
        assert_eq!(backwards, timeline.finish().unwrap());
    }
}
