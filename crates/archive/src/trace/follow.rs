//! Reads a trace while it is being written.
//!
//! Returns the events of complete blocks in time order over all CPUs, as far as no CPU can still
//! have earlier ones. Holds only events that wait for their turn.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use wakepath_directory::Directory;
use wakepath_timeline::KernelEvent;

use super::block::{FRAME, Frame, KIND_COMPLETE, KIND_EVENTS, MAX_RAW};
use super::merge::Unpacker;
use super::reader::BlockAt;
use super::trace_name;
use crate::durable::open;
use crate::error::{ArchiveError, Result};
use crate::log::block::{BLOCK_HEADER, read_block_header};

/// Bytes before the first block.
const HEADER: u64 = 16;
/// Most bytes of the file to read in one call. If it grows faster, the caller still gets time for
/// its other work.
const MOST_AT_ONCE: u64 = 1 << 20;

/// A trace that grows.
pub struct TraceFollower {
    file: File,
    path: PathBuf,
    unpacker: Unpacker,
    /// Offset of the next block.
    at: u64,
    /// Events that wait, by CPU.
    waiting: BTreeMap<u16, VecDeque<KernelEvent>>,
    newest_ns: u64,
    /// All events before it have been read.
    complete_ns: u64,
    unpacked: Vec<KernelEvent>,
    most_at_once: u64,
}

impl TraceFollower {
    /// Follows the trace of a segment from its beginning; `None` if it doesn't exist yet.
    ///
    /// # Errors
    /// [`ArchiveError::Io`].
    pub fn open_in(directory: &Directory, segment: u32) -> Result<Option<Self>> {
        let name = trace_name(segment);
        let path = directory.path_of(&name);
        let Some(file) = open(directory, &name, "open the trace")? else {
            return Ok(None);
        };
        let failed = |e| ArchiveError::io("open the trace", &path, e);
        let unpacker = Unpacker::new(file.try_clone().map_err(failed)?, &path)?;
        Ok(Some(Self {
            file,
            path,
            unpacker,
            at: HEADER,
            waiting: BTreeMap::new(),
            newest_ns: 0,
            complete_ns: 0,
            unpacked: Vec::new(),
            most_at_once: MOST_AT_ONCE,
        }))
    }

    /// Passes new events to `tell`: those before an instant up to which the writer noted that the trace is complete,
    /// and those that are `lag_ns` nanoseconds older than the newest, because a CPU's block can be
    /// incomplete for as long as the writer waits between its writes. Each CPU's events keep the kernel's order. If a trace has grown by a lot, the rest follows with the
    /// next calls.
    ///
    /// # Errors
    /// [`ArchiveError::Io`]; [`ArchiveError::NotRecognised`] if a block is damaged.
    pub fn take(&mut self, lag_ns: u64, mut tell: impl FnMut(KernelEvent)) -> Result<()> {
        let enough = self.at + self.most_at_once;
        while self.at < enough && self.next_block()? {}
        let until_ns = self.newest_ns.saturating_sub(lag_ns).saturating_add(1);
        let until_ns = until_ns.max(self.complete_ns);
        loop {
            let heads = self.waiting.iter().filter_map(|(cpu, events)| {
                let at_ns = events.front()?.at_ns;
                (at_ns < until_ns).then_some((at_ns, *cpu))
            });
            let Some((_, cpu)) = heads.min() else {
                return Ok(());
            };
            let events = self.waiting.get_mut(&cpu);
            if let Some(event) = events.and_then(VecDeque::pop_front) {
                tell(event);
            }
        }
    }

    /// Passes all events that are left once the writer has ended, in time order. Of each CPU's, those of the latest
    /// `lag_ns` nanoseconds wait in memory.
    ///
    /// # Errors
    /// Those of [`Self::take`].
    pub fn take_rest(&mut self, lag_ns: u64, mut tell: impl FnMut(KernelEvent)) -> Result<()> {
        loop {
            let before = self.at;
            self.take(lag_ns, &mut tell)?;
            if self.at == before {
                return self.take(0, &mut tell);
            }
        }
    }

    /// Takes in the next block; whether it was there as a whole.
    fn next_block(&mut self) -> Result<bool> {
        let failed = |e| ArchiveError::io("read the trace", &self.path, e);
        let length = self.file.metadata().map_err(failed)?.len();
        let begin = self.at + BLOCK_HEADER as u64;
        if begin > length {
            return Ok(false);
        }
        let mut head = [0; BLOCK_HEADER];
        self.file
            .read_exact_at(&mut head, self.at)
            .map_err(failed)?;
        let damaged = |why: &str| ArchiveError::NotRecognised {
            path: self.path.clone(),
            expected: "block of events",
            why: format!("at offset {}: {why}", self.at),
        };
        let header = read_block_header(&head).map_err(damaged)?;
        let next = begin + u64::from(header.length);
        if next > length {
            return Ok(false);
        }
        if header.kind == KIND_EVENTS {
            let mut frame = [0; FRAME];
            if (header.length as usize) < FRAME {
                return Err(damaged("it is too short"));
            }
            self.file.read_exact_at(&mut frame, begin).map_err(failed)?;
            let frame = Frame::from_bytes(&frame);
            if frame.raw as usize > MAX_RAW || frame.count > frame.raw {
                return Err(damaged("it has impossible sizes"));
            }
            let block = BlockAt {
                offset: begin,
                header,
                frame,
            };
            self.unpacked.clear();
            self.unpacker.unpack(block, &mut self.unpacked)?;
            let waiting = self.waiting.entry(frame.cpu).or_default();
            waiting.extend(self.unpacked.drain(..));
            self.newest_ns = self.newest_ns.max(frame.last_ns);
        }
        if header.kind == KIND_COMPLETE {
            let mut at_ns = [0; 8];
            if header.length as usize != at_ns.len() {
                return Err(damaged("it has the wrong length for a time"));
            }
            self.file.read_exact_at(&mut at_ns, begin).map_err(failed)?;
            self.complete_ns = self.complete_ns.max(u64::from_le_bytes(at_ns));
        }
        self.at = next;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{TraceDescription, TraceWriter};
    use wakepath_directory::Trust;
    use wakepath_timeline::What;

    fn event(cpu: u16, at_ns: u64) -> KernelEvent {
        KernelEvent {
            cpu,
            at_ns,
            current: 0,
            what: What::PageFault {
                user: true,
                copies: false,
            },
        }
    }

    #[test]
    fn what_is_written_is_told_once_in_order_and_what_may_be_overtaken_waits() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::to_write(place.path(), Trust::Own).unwrap();
        assert!(TraceFollower::open_in(&directory, 0).unwrap().is_none());
        let description = TraceDescription::default();
        let mut writer = TraceWriter::create_in(&directory, &description).unwrap();
        let mut follower = TraceFollower::open_in(&directory, 0).unwrap().unwrap();
        let mut told = |lag_ns| {
            let mut told = Vec::new();
            let tell = |event: KernelEvent| told.push((event.at_ns, event.cpu));
            follower.take(lag_ns, tell).unwrap();
            told
        };
        assert_eq!(told(0), []);
        for (cpu, at_ns) in [(1, 100), (0, 90), (1, 300), (0, 950)] {
            writer.append(&event(cpu, at_ns)).unwrap();
        }
        assert_eq!(told(0), [], "nothing is written yet");
        writer.flush().unwrap();
        assert_eq!(told(500), [(90, 0), (100, 1), (300, 1)]);
        writer.append(&event(1, 940)).unwrap();
        writer.append(&event(1, 2_000)).unwrap();
        writer.flush().unwrap();
        assert_eq!(told(500), [(940, 1), (950, 0)]);
        assert_eq!(told(0), [(2_000, 1)]);
    }

    #[test]
    fn events_before_an_instant_that_is_noted_as_complete_do_not_wait() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::to_write(place.path(), Trust::Own).unwrap();
        let mut writer = TraceWriter::create_in(&directory, &TraceDescription::default()).unwrap();
        let mut follower = TraceFollower::open_in(&directory, 0).unwrap().unwrap();
        let mut told = || {
            let mut told = Vec::<u64>::new();
            follower
                .take(1_000, |event| told.push(event.at_ns))
                .unwrap();
            told
        };
        for (cpu, at_ns) in [(0, 100), (1, 90), (1, 120), (0, 130)] {
            writer.append(&event(cpu, at_ns)).unwrap();
        }
        writer.flush().unwrap();
        assert!(told().is_empty());
        writer.complete_until(120).unwrap();
        assert_eq!(told(), [90, 100]);
        writer.complete_until(110).unwrap();
        assert!(told().is_empty());
        writer.complete_until(200).unwrap();
        assert_eq!(told(), [120, 130]);
        writer.finish(&crate::TraceEnd::default()).unwrap();
        let trace = crate::Trace::open_in(&directory, 0).unwrap().unwrap();
        assert_eq!(
            (trace.events().unwrap().count(), trace.cut_short()),
            (4, None)
        );
    }

    #[test]
    fn a_trace_that_has_grown_by_a_lot_is_told_in_parts() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::to_write(place.path(), Trust::Own).unwrap();
        let mut writer = TraceWriter::create_in(&directory, &TraceDescription::default()).unwrap();
        let mut follower = TraceFollower::open_in(&directory, 0).unwrap().unwrap();
        follower.most_at_once = 1;
        for at_ns in [100, 200, 300] {
            writer.append(&event(0, at_ns)).unwrap();
            writer.flush().unwrap();
        }
        let mut told = Vec::new();
        for calls in 1..=5 {
            follower.take(0, |event| told.push(event.at_ns)).unwrap();
            let most = calls.min(3);
            assert!(told.len() <= most, "{told:?} after {calls} calls");
        }
        assert_eq!(told, [100, 200, 300]);
    }

    #[test]
    fn the_rest_of_an_ended_trace_is_told_at_once() {
        let place = tempfile::tempdir().unwrap();
        let directory = Directory::to_write(place.path(), Trust::Own).unwrap();
        let description = TraceDescription::default();
        let mut writer = TraceWriter::create_in(&directory, &description).unwrap();
        let mut follower = TraceFollower::open_in(&directory, 0).unwrap().unwrap();
        follower.most_at_once = 1;
        for (cpu, at_ns) in [(0, 100), (1, 90), (0, 300), (1, 200)] {
            writer.append(&event(cpu, at_ns)).unwrap();
            writer.flush().unwrap();
        }
        let mut told = Vec::new();
        let tell = |event: KernelEvent| told.push(event.at_ns);
        follower.take_rest(1_000, tell).unwrap();
        assert_eq!(told, [90, 100, 200, 300]);
    }
}
