//! One CPU's ring, being read: drained from its tail, or a flight recorder's from the oldest record
//! that is left.

use std::rc::Rc;

use wakepath_archive::TraceMode;

use super::CpuRing;
use super::records::{Said, backwards, parse, read};
use crate::error::Result;
use crate::source::{CpuBuffer, Found};

/// The reader for a way of using the ring.
pub(super) fn of(ring: &Rc<CpuRing>, mode: TraceMode) -> Box<dyn CpuBuffer> {
    let ring = Rc::clone(ring);
    let record = Vec::with_capacity(1 << 16);
    match mode {
        TraceMode::FlightRecorder => Box::new(FlightRecorder { ring, record }),
        _ => {
            let tail = ring.first.get().0;
            Box::new(Drained {
                ring,
                record,
                tail,
                begun: false,
                last_ns: 0,
            })
        }
    }
}

/// Read while it is written to, and once more at the end.
#[derive(Debug)]
struct Drained {
    ring: Rc<CpuRing>,
    record: Vec<u8>,
    tail: u64,
    begun: bool,
    /// Instant of the last record: a count of lost ones has no time stamp.
    last_ns: u64,
}

impl CpuBuffer for Drained {
    fn take(&mut self, each: &mut dyn FnMut(Found<'_>) -> Result<()>) -> Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            self.last_ns = self.ring.first.get().1;
            each(Found::From(self.last_ns))?;
        }
        let head = self.ring.ring.head();
        while self.tail < head {
            let room = head - self.tail;
            let Some(length) = read(&self.ring.ring, self.tail, room, &mut self.record) else {
                // Never, as the kernel writes them: what follows can't be found.
                self.tail = head;
                each(lost(self.last_ns, 0, false))?;
                break;
            };
            self.tail += length as u64;
            match parse(&self.record) {
                Said::Sample(record) => {
                    self.last_ns = record.at_ns;
                    self.ring.taken.set(self.ring.taken.get() + 1);
                    each(Found::Record(record))?;
                }
                Said::Lost(count) => each(lost(self.last_ns, count, false))?,
                Said::Other => {}
            }
            self.ring.ring.set_tail(self.tail);
        }
        self.ring.ring.set_tail(self.tail);
        Ok(())
    }
}

/// Read when it is over.
#[derive(Debug)]
struct FlightRecorder {
    ring: Rc<CpuRing>,
    record: Vec<u8>,
}

impl CpuBuffer for FlightRecorder {
    fn take(&mut self, each: &mut dyn FnMut(Found<'_>) -> Result<()>) -> Result<()> {
        let ring = &self.ring.ring;
        let (first, first_ns) = self.ring.first.get();
        let (begins, overwritten) = backwards(ring, ring.head(), first);
        let mut begun = false;
        for at in begins.into_iter().rev() {
            if read(ring, at, ring.bytes(), &mut self.record).is_none() {
                continue;
            }
            let Said::Sample(record) = parse(&self.record) else {
                continue;
            };
            if !std::mem::replace(&mut begun, true) {
                each(Found::From(if overwritten {
                    record.at_ns
                } else {
                    first_ns
                }))?;
                if overwritten {
                    // The events' counts give the number.
                    each(lost(record.at_ns, 0, true))?;
                }
            }
            self.ring.taken.set(self.ring.taken.get() + 1);
            each(Found::Record(record))?;
        }
        Ok(())
    }
}

fn lost(at_ns: u64, count: u64, overwritten: bool) -> Found<'static> {
    Found::Lost {
        at_ns,
        count,
        overwritten,
    }
}
