//! Stacks of threads at the instant when each leaves its CPU and blocks, and when a timer of the kernel interrupts it,
//! by perf events of those threads alone: a thread that runs for less than a tick hardly pays. Addresses are resolved
//! elsewhere.
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
/// The ring for stacks of a thread that runs: those of 25 ticks.
const RUNNING_RING_BYTES: usize = 256 << 10;
/// The ring of a CPU, for all threads of a program: the largest that the kernel grants. Without the right to lock
/// memory, that is [`RING_BYTES`] (`perf_event_mlock_kb`).
const CPU_RING_BYTES: [usize; 2] = [2 << 20, 1 << 20];
/// A preempted thread has another state; one that yields has none (`__trace_sched_switch_state`).
const BLOCKS: &str = "prev_state & 255";

/// When a stack is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// The thread blocks.
    Blocking,
    /// A timer of the kernel expires while the thread runs: the tick, mostly.
    Tick,
}

/// Events of programs that are not started yet.
#[derive(Debug)]
pub struct Opened(Vec<(At, OwnedFd)>);

/// The threads whose stacks are recorded.
#[derive(Debug)]
pub struct Blocking {
    opener: Opener,
    threads: BTreeMap<u32, Vec<(At, Ring)>>,
    /// Of the program that was started, by CPU.
    started: Vec<(At, Ring)>,
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
        let number = |name: &str| {
            let number = tracefs.read(&format!("events/{name}/id"))?.trim().parse();
            number.map_err(|_| ProbeError::perf(io::ErrorKind::InvalidData.into()))
        };
        Ok(Self {
            opener: Opener {
                switch: number("sched/sched_switch")?,
                timer: number("timer/hrtimer_expire_entry").ok(),
            },
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
            let rings = self.open(thread).map_err(ProbeError::perf)?;
            self.threads.insert(thread, rings);
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
        self.opener
    }

    /// Records from now on what the events of [`Opener::open`] have.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn record_started(&mut self, events: Opened) -> Result<()> {
        let mut rings = Vec::new();
        for (at, event) in events.0 {
            match at {
                At::Blocking => rings.push((at, largest_ring(event).map_err(ProbeError::perf)?)),
                At::Tick => {
                    let ring = Ring::map(event, RUNNING_RING_BYTES, false);
                    rings.extend(ring.map(|ring| (at, ring)));
                }
            }
        }
        self.started = rings;
        Ok(())
    }

    /// Whether a program is recorded with all that it starts.
    pub fn records_started(&self) -> bool {
        !self.started.is_empty()
    }

    fn open(&self, thread: u32) -> io::Result<Vec<(At, Ring)>> {
        let ring = |event, bytes| -> io::Result<Ring> {
            let ring = Ring::map(event, bytes, false)?;
            kernel::enable(ring.event())?;
            Ok(ring)
        };
        let mut rings = Vec::new();
        for (at, event) in self.opener.events(0, Of::Thread(thread))? {
            match at {
                At::Blocking => rings.push((at, ring(event, RING_BYTES)?)),
                // The limit on locked memory doesn't allow rings for ticks.
                At::Tick => rings.extend(ring(event, RUNNING_RING_BYTES).map(|ring| (at, ring))),
            }
        }
        Ok(rings)
    }

    /// Hands out what was recorded since the last time, ring by ring.
    pub fn take(&mut self, mut each: impl FnMut(Said<'_>)) {
        for (at, ring) in self.threads.values().flatten().chain(&self.started) {
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
                match (at, record::parse(&self.record)) {
                    (At::Tick, Some(Said::Left(stack))) => each(Said::Ran(stack)),
                    // Fewer stacks of a thread that runs on.
                    (At::Tick, _) | (_, None) => {}
                    (At::Blocking, Some(said)) => each(said),
                }
            }
            ring.set_tail(tail);
        }
    }
}

/// Opens the events of programs before they are started.
#[derive(Debug, Clone, Copy)]
pub struct Opener {
    /// Numbers of the events; the second may be missing.
    switch: u64,
    timer: Option<u64>,
}

impl Opener {
    /// Events of the programs that the calling thread starts from now on, one for each of the CPUs: they count from the
    /// program's first instruction on, and in all that it starts. The calling thread must end before anything else is
    /// started.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn open(self, cpus: &[u16]) -> Result<Opened> {
        let mut all = Vec::new();
        for &cpu in cpus {
            let events = self.events(INHERITED | ENABLED_ON_EXEC, Of::ThisThreadOn(cpu));
            all.extend(events.map_err(ProbeError::perf)?);
        }
        Ok(Opened(all))
    }

    fn events(self, flags: u64, of: Of) -> io::Result<Vec<(At, OwnedFd)>> {
        let blocking = event(self.switch, flags).open(of)?;
        kernel::filter(&blocking, BLOCKS)?;
        let mut events = vec![(At::Blocking, blocking)];
        let tick = self.timer.map(|timer| event(timer, flags).open(of));
        events.extend(tick.and_then(Result::ok).map(|event| (At::Tick, event)));
        Ok(events)
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
        sample_type: if has_registers {
            FIELDS | WITH_STACK
        } else {
            FIELDS
        },
        flags: DISABLED
            | WATERMARK
            | USE_CLOCK
            | flags
            | if has_registers {
                EXCLUDE_CALLCHAIN_USER
            } else {
                0
            },
        // Nobody waits on the ring: waking a reader would cost the thread time.
        wake_up: u32::MAX,
        clock: MONOTONIC,
        user_registers: Registers::MASK,
        user_stack: if has_registers { STACK_BYTES } else { 0 },
    }
}
