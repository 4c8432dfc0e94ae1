//! A line whose edges the kernel timestamps and numbers.
//!
//! In its interrupt's handler, on `CLOCK_MONOTONIC`; edges lost by a full buffer appear as a gap in
//! the numbers.

use crate::chip::FreeLine;
use crate::error::system;
use crate::record::Edge;
use crate::{GpioError, LineName};
use gpiocdev_uapi::v2::{LineEdgeEvent, LineFlags};
use gpiocdev_uapi::{read_event, wait_event};
use std::fs::File;
use std::io;
use std::time::Duration;

/// The most events that the kernel keeps for one request of one line (`GPIO_V2_LINES_MAX` · 16).
pub(crate) const ROOM: u32 = 1024;
/// Most events in one read.
const AT_ONCE: usize = 64;
/// Words of an event.
const WORDS: usize = size_of::<LineEdgeEvent>() / 8;

/// A line as an input; the kernel gives it back when this ends.
#[derive(Debug)]
pub(crate) struct Edges {
    line: LineName,
    request: File,
}

impl Edges {
    /// Has the line.
    pub fn request(line: &LineName) -> Result<Self, GpioError> {
        let free = FreeLine::find(line)?;
        let flags = LineFlags::INPUT | LineFlags::EDGE_RISING | LineFlags::EDGE_FALLING;
        match free.request(flags, ROOM) {
            Ok(request) => Ok(Self {
                line: line.clone(),
                request,
            }),
            Err(source) => Err(
                free.refused(source, |line, called, source| GpioError::NoEdges {
                    line,
                    called,
                    source,
                }),
            ),
        }
    }

    /// Waits at most `at_most` for an edge, and appends all available edges to `into`.
    pub fn take(&self, at_most: Duration, into: &mut Vec<Edge>) -> Result<(), GpioError> {
        let failed = |source| GpioError::System {
            line: self.line.clone(),
            action: "read its edges",
            source,
        };
        let mut patience = at_most;
        let mut words = [0_u64; AT_ONCE * WORDS];
        loop {
            match wait_event(&self.request, patience).map_err(system) {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
                Err(error) => return Err(failed(error)),
            }
            let read = read_event(&self.request, &mut words).map_err(|e| failed(system(e)))?;
            for event in words[..read].chunks_exact(WORDS) {
                let event = LineEdgeEvent::from_slice(event);
                let event = event.map_err(|e| failed(system(e)))?;
                into.push(Edge {
                    at_ns: event.timestamp_ns,
                    number: event.line_seqno,
                });
            }
            patience = Duration::ZERO;
        }
    }
}
