//! Stacks of threads at the instant when each leaves its CPU and blocks, by perf events of those threads
//! alone: a thread that runs pays nothing. Addresses are resolved elsewhere.

mod record;
mod registers;

pub use record::{Said, Stack};
pub use registers::Registers;

use crate::error::{ProbeError, Result};
use crate::perf::kernel::{self, Ring};
use crate::perf::records;
use crate::tracefs::Tracefs;
use std::collections::BTreeMap;
use std::io;
use wakepath_rt::perf_event::{Event, Of};

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// `PERF_SAMPLE_TID`, `_TIME` and `_CALLCHAIN`.
const FIELDS: u64 = 1 << 1 | 1 << 2 | 1 << 5;
/// `PERF_SAMPLE_REGS_USER` and `_STACK_USER`.
const WITH_STACK: u64 = 1 << 12 | 1 << 13;
const DISABLED: u64 = 1 << 0;
const WATERMARK: u64 = 1 << 14;
const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
const USE_CLOCK: u64 = 1 << 25;
/// `CLOCK_MONOTONIC`.
const MONOTONIC: i32 = 1;
/// The part of a stack that is copied, in bytes.
const STACK_BYTES: u32 = 8 << 10;
/// The ring of one thread: sixty stacks.
const RING_BYTES: usize = 512 << 10;
/// A preempted thread has another state; one that yields has none (`__trace_sched_switch_state`).
const BLOCKS: &str = "prev_state & 255";

/// The threads whose stacks are recorded.
#[derive(Debug)]
pub struct Blocking {
    /// Number of the event.
    number: u64,
    threads: BTreeMap<u32, Ring>,
    record: Vec<u8>,
}

impl Blocking {
    /// Records of none yet. Like [`Tracefs::find_or_mount`], it may move the calling thread to another mount
    /// namespace.
    ///
    /// # Errors
    /// When this kernel doesn't show its events.
    pub fn new() -> Result<Self> {
        let tracefs = Tracefs::find_or_mount()?;
        let name = "events/sched/sched_switch/id";
        let number = tracefs.read(name)?.trim().parse();
        Ok(Self {
            number: number.map_err(|_| ProbeError::perf(io::ErrorKind::InvalidData.into()))?,
            threads: BTreeMap::new(),
            record: Vec::new(),
        })
    }

    /// Records this thread's stacks from now on.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn follow(&mut self, thread: u32) -> Result<()> {
        if !self.threads.contains_key(&thread) {
            let ring = self.open(thread).map_err(ProbeError::perf)?;
            self.threads.insert(thread, ring);
        }
        Ok(())
    }

    /// Records this thread's stacks no longer.
    pub fn leave(&mut self, thread: u32) {
        self.threads.remove(&thread);
    }

    /// Whether this thread is followed.
    pub fn follows(&self, thread: u32) -> bool {
        self.threads.contains_key(&thread)
    }

    /// Number of threads that are followed.
    pub fn followed(&self) -> usize {
        self.threads.len()
    }

    fn open(&self, thread: u32) -> io::Result<Ring> {
        let has_registers = Registers::MASK != 0;
        let event = Event {
            kind: TRACEPOINT,
            config: self.number,
            sample_period: 1,
            sample_type: match has_registers {
                true => FIELDS | WITH_STACK,
                false => FIELDS,
            },
            flags: DISABLED
                | WATERMARK
                | USE_CLOCK
                | match has_registers {
                    true => EXCLUDE_CALLCHAIN_USER,
                    false => 0,
                },
            // Nobody waits on the ring: waking a reader would cost the thread time.
            wake_up: u32::MAX,
            clock: MONOTONIC,
            user_registers: Registers::MASK,
            user_stack: match has_registers {
                true => STACK_BYTES,
                false => 0,
            },
        };
        let event = event.open(Of::Thread(thread))?;
        kernel::filter(&event, BLOCKS)?;
        let ring = Ring::map(event, RING_BYTES, false)?;
        kernel::enable(ring.event())?;
        Ok(ring)
    }

    /// Hands out what was recorded since the last time, thread by thread.
    pub fn take(&mut self, mut each: impl FnMut(u32, Said<'_>)) {
        for (&thread, ring) in &self.threads {
            let head = ring.head();
            let mut tail = ring.tail();
            while tail < head {
                let Some(length) = records::read(ring, tail, head - tail, &mut self.record) else {
                    // Never, as the kernel writes them: what follows can't be found.
                    each(thread, Said::Lost(1));
                    tail = head;
                    break;
                };
                tail += length as u64;
                if let Some(said) = record::parse(&self.record) {
                    each(thread, said);
                }
            }
            ring.set_tail(tail);
        }
    }
}
