//! Stacks of threads at the instant when each leaves its CPU and blocks, by perf events of those threads
//! alone: a thread that runs pays nothing. Addresses are resolved elsewhere.
//!
//! A program that is started is recorded from its first instruction on, with all threads that it makes: they inherit
//! the events. Of threads that are there already, each is followed by itself.

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
use std::os::fd::OwnedFd;
use wakepath_rt::perf_event::{Event, Of};

/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// `PERF_SAMPLE_TID`, `_TIME` and `_CALLCHAIN`.
const FIELDS: u64 = 1 << 1 | 1 << 2 | 1 << 5;
/// `PERF_SAMPLE_REGS_USER` and `_STACK_USER`.
const WITH_STACK: u64 = 1 << 12 | 1 << 13;
const DISABLED: u64 = 1 << 0;
const INHERITED: u64 = 1 << 1;
const ENABLED_ON_EXEC: u64 = 1 << 12;
const WATERMARK: u64 = 1 << 14;
const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
const USE_CLOCK: u64 = 1 << 25;
/// `CLOCK_MONOTONIC`.
const MONOTONIC: i32 = 1;
/// The part of a stack that is copied, in bytes.
const STACK_BYTES: u32 = 8 << 10;
/// The ring of one thread: sixty stacks.
const RING_BYTES: usize = 512 << 10;
/// The ring of a CPU, for all threads of a program: the largest that the kernel grants. Without the right to lock
/// memory, that is [`RING_BYTES`] (`perf_event_mlock_kb`).
const CPU_RING_BYTES: [usize; 2] = [2 << 20, 1 << 20];
/// A preempted thread has another state; one that yields has none (`__trace_sched_switch_state`).
const BLOCKS: &str = "prev_state & 255";

/// The threads whose stacks are recorded.
#[derive(Debug)]
pub struct Blocking {
    /// Number of the event.
    number: u64,
    threads: BTreeMap<u32, Ring>,
    /// Of the program that was started, by CPU.
    started: Vec<Ring>,
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
            started: Vec::new(),
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

    /// Records the stacks of followed threads no longer, but of these.
    pub fn leave_others(&mut self, mut is_one: impl FnMut(u32) -> bool) {
        self.threads.retain(|&thread, _| is_one(thread));
    }

    /// Whether this thread is followed.
    pub fn follows(&self, thread: u32) -> bool {
        self.threads.contains_key(&thread)
    }

    /// Number of threads that are followed.
    pub fn followed(&self) -> usize {
        self.threads.len()
    }

    /// Opens events for programs to be started.
    pub fn opener(&self) -> Opener {
        Opener {
            number: self.number,
        }
    }

    /// Records from now on what the events of [`Opener::open`] have.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn record_started(&mut self, events: Vec<OwnedFd>) -> Result<()> {
        let rings: io::Result<Vec<Ring>> = events.into_iter().map(largest_ring).collect();
        self.started = rings.map_err(ProbeError::perf)?;
        Ok(())
    }

    /// Whether a program is recorded with all that it starts.
    pub fn records_started(&self) -> bool {
        !self.started.is_empty()
    }

    fn open(&self, thread: u32) -> io::Result<Ring> {
        let event = event(self.number, 0).open(Of::Thread(thread))?;
        kernel::filter(&event, BLOCKS)?;
        let ring = Ring::map(event, RING_BYTES, false)?;
        kernel::enable(ring.event())?;
        Ok(ring)
    }

    /// Hands out what was recorded since the last time, ring by ring.
    pub fn take(&mut self, mut each: impl FnMut(Said<'_>)) {
        for ring in self.threads.values().chain(&self.started) {
            let head = ring.head();
            let mut tail = ring.tail();
            while tail < head {
                let Some(length) = records::read(ring, tail, head - tail, &mut self.record) else {
                    // Never, as the kernel writes them: what follows can't be found.
                    each(Said::Lost(1));
                    tail = head;
                    break;
                };
                tail += length as u64;
                if let Some(said) = record::parse(&self.record) {
                    each(said);
                }
            }
            ring.set_tail(tail);
        }
    }
}

/// Opens the events of programs before they are started.
#[derive(Debug, Clone, Copy)]
pub struct Opener {
    /// Number of the event.
    number: u64,
}

impl Opener {
    /// Events of the programs that the calling thread starts from now on, one for each of the CPUs: they count from the
    /// program's first instruction on, and in all that it starts. The calling thread must end before anything else is
    /// started.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn open(self, cpus: &[u16]) -> Result<Vec<OwnedFd>> {
        let open = |&cpu: &u16| {
            let event = event(self.number, INHERITED | ENABLED_ON_EXEC);
            let event = event.open(Of::ThisThreadOn(cpu))?;
            kernel::filter(&event, BLOCKS)?;
            Ok(event)
        };
        let events: io::Result<Vec<OwnedFd>> = cpus.iter().map(open).collect();
        events.map_err(ProbeError::perf)
    }
}

/// The largest ring for an event that the kernel grants.
fn largest_ring(event: OwnedFd) -> io::Result<Ring> {
    for bytes in CPU_RING_BYTES {
        if let Ok(ring) = Ring::map(event.try_clone()?, bytes, false) {
            return Ok(ring);
        }
    }
    Ring::map(event, RING_BYTES, false)
}

/// The event with this number, with flags beyond those that all have.
fn event(number: u64, flags: u64) -> Event {
    let has_registers = Registers::MASK != 0;
    Event {
        kind: TRACEPOINT,
        config: number,
        sample_period: 1,
        sample_type: match has_registers {
            true => FIELDS | WITH_STACK,
            false => FIELDS,
        },
        flags: DISABLED
            | WATERMARK
            | USE_CLOCK
            | flags
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
    }
}
