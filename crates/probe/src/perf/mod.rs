//! The same kernel events from `perf_event_open`: for machines where tracefs may be read and not
//! written to. Numbers and layouts of the events are tracefs's, so without reading it there is none
//! of this either. Nothing outlives the process: the kernel closes what a killed one had open.

mod buffer;
pub(crate) mod kernel;
pub(crate) mod records;

use std::cell::{Cell, RefCell};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fd::OwnedFd;
use wakepath_archive::{EventKind, MissingEvents, TraceMode};
use wakepath_rt::clock;
use wakepath_rt::perf_event::{Event, Of};

use crate::error::{ProbeError, Result};
use crate::events::KnownEvents;
use crate::source::{CpuBuffer, CpuStatistics, EventSource};
use crate::stream::Decoder;
use crate::tracefs::Tracefs;
use kernel::Ring;

/// `PERF_TYPE_SOFTWARE` with `PERF_COUNT_SW_DUMMY`, which never happens: it holds the ring while
/// the events come and go.
const SOFTWARE: u32 = 1;
const DUMMY: u64 = 9;
/// `PERF_TYPE_TRACEPOINT`.
const TRACEPOINT: u32 = 2;
/// `PERF_SAMPLE_TIME` and `PERF_SAMPLE_RAW`.
const TIME_AND_RAW: u64 = 1 << 2 | 1 << 10;
const DISABLED: u64 = 1 << 0;
const WATERMARK: u64 = 1 << 14;
const USE_CLOCK: u64 = 1 << 25;
const WRITE_BACKWARD: u64 = 1 << 27;
/// `CLOCK_MONOTONIC`.
const MONOTONIC: i32 = 1;
/// Less holds no tenth of a second of a busy CPU.
const LEAST: u64 = 1 << 18;

/// Rings of some CPUs, and what is recorded into them.
#[derive(Debug)]
pub struct PerfRings {
    cpus: Vec<u16>,
    rings: Vec<Rc<CpuRing>>,
    events: KnownEvents,
    numbers: Vec<u16>,
    /// Where the events' numbers were read.
    place: PathBuf,
    mode: TraceMode,
    /// Events of each CPU, open while something is recorded.
    open: RefCell<Vec<Vec<OwnedFd>>>,
}

/// One CPU's ring.
#[derive(Debug)]
struct CpuRing {
    ring: Ring,
    /// The beginning of this recording: position in the ring, and instant.
    first: Cell<(u64, u64)>,
    /// Events that happened, by the kernel's count, once the recording is over.
    happened: Cell<u64>,
    /// Records read.
    taken: Cell<u64>,
}

impl PerfRings {
    /// Rings of about `buffer_bytes` for each of `cpus`, or as large as this user may lock, and all
    /// events known that perf records; stopped.
    ///
    /// # Errors
    /// [`ProbeError`], with what would help.
    pub fn create(
        tracefs: &Tracefs,
        cpus: &[u16],
        buffer_bytes: u64,
        mode: TraceMode,
    ) -> Result<(Self, Decoder)> {
        let place = tracefs.root().to_owned();
        // Readable at all? A single event that can't be read does not show why.
        tracefs.read("events/header_page")?;
        let mut numbers = Vec::new();
        let (events, decoder) = KnownEvents::learn(&place, &[], |_, number| {
            // Some (`irq_work_exit`) are refused to perf for good; the others are opened again at
            // each start.
            event(number, mode).open(Of::Cpu(cpus[0]))?;
            numbers.push(number);
            Ok(())
        })
        .map_err(|error| refused_instead(error, cpus[0]))?;
        let ring = |&cpu: &u16| Ok(Rc::new(CpuRing::map(cpu, buffer_bytes, mode)?));
        let rings = cpus
            .iter()
            .map(ring)
            .collect::<io::Result<_>>()
            .map_err(ProbeError::perf)?;
        let open = RefCell::default();
        let cpus = cpus.to_owned();
        let made = Self {
            cpus,
            rings,
            events,
            numbers,
            place,
            mode,
            open,
        };
        Ok((made, decoder))
    }

    fn ring(&self, cpu: u16) -> Result<&Rc<CpuRing>> {
        let at = self.cpus.iter().position(|&known| known == cpu);
        at.map(|at| &self.rings[at])
            .ok_or_else(|| ProbeError::perf(io::ErrorKind::NotFound.into()))
    }

    fn try_to_start(&self) -> io::Result<()> {
        let mut opened = Vec::new();
        for (cpu, ring) in self.cpus.iter().zip(&self.rings) {
            let mut events = Vec::new();
            for &number in &self.numbers {
                let event = event(number, self.mode).open(Of::Cpu(*cpu))?;
                kernel::write_into(&event, ring.ring.event())?;
                events.push(event);
            }
            opened.push(events);
        }
        for ring in &self.rings {
            ring.begin();
        }
        for event in opened.iter().flatten() {
            kernel::enable(event)?;
        }
        *self.open.borrow_mut() = opened;
        Ok(())
    }

    /// Events of a CPU since the start, by the kernel's counts.
    fn happened(&self, at: usize) -> io::Result<u64> {
        match self.open.borrow().get(at) {
            None => Ok(self.rings[at].happened.get()),
            Some(events) => events.iter().map(count).sum(),
        }
    }
}

impl EventSource for PerfRings {
    fn name(&self) -> &'static str {
        "perf events"
    }

    fn place(&self) -> &Path {
        &self.place
    }

    fn cpus(&self) -> &[u16] {
        &self.cpus
    }

    fn buffer_bytes(&self) -> u64 {
        let bytes = self.rings.iter().map(|ring| ring.ring.bytes());
        bytes.min().unwrap_or(0)
    }

    fn recorded(&self) -> &[EventKind] {
        &self.events.recorded
    }

    fn missing(&self) -> &[MissingEvents] {
        &self.events.missing
    }

    fn start(&self) -> Result<()> {
        self.try_to_start().map_err(ProbeError::perf)
    }

    fn stop(&self) -> Result<u64> {
        // Closing takes the kernel some hundredths of a second for each, and the counts along.
        for event in self.open.borrow().iter().flatten() {
            kernel::disable(event).map_err(ProbeError::perf)?;
        }
        let ended_ns = clock::monotonic_ns();
        for at in 0..self.rings.len() {
            let happened = self.happened(at).map_err(ProbeError::perf)?;
            self.rings[at].happened.set(happened);
        }
        self.open.borrow_mut().clear();
        Ok(ended_ns)
    }

    fn statistics(&self, cpu: u16) -> Result<CpuStatistics> {
        let ring = self.ring(cpu)?;
        let at = self.cpus.iter().position(|&known| known == cpu);
        let happened = self.happened(at.unwrap_or(0)).map_err(ProbeError::perf)?;
        let read = ring.taken.get();
        let rest = happened.saturating_sub(read);
        let statistics = CpuStatistics {
            read,
            ..CpuStatistics::default()
        };
        let recording = !self.open.borrow().is_empty();
        // After recording, the kernel has silently dropped any record that was neither read nor overwritten.
        Ok(match self.mode {
            _ if recording => CpuStatistics {
                entries: rest,
                ..statistics
            },
            TraceMode::FlightRecorder if !ring.has_wrapped() => CpuStatistics {
                dropped: rest,
                ..statistics
            },
            _ => CpuStatistics {
                overrun: rest,
                ..statistics
            },
        })
    }

    fn buffer(&self, cpu: u16) -> Result<Box<dyn CpuBuffer>> {
        Ok(buffer::of(self.ring(cpu)?, self.mode))
    }
}

impl CpuRing {
    fn map(cpu: u16, wanted: u64, mode: TraceMode) -> io::Result<Self> {
        let overwritten = mode == TraceMode::FlightRecorder;
        let mut bytes = wanted.max(LEAST);
        // The largest power of two within what is wanted.
        bytes = 1 << bytes.ilog2();
        loop {
            let holder = Event {
                kind: SOFTWARE,
                config: DUMMY,
                ..described(mode)
            };
            match Ring::map(holder.open(Of::Cpu(cpu))?, bytes as usize, overwritten) {
                // More than this user may lock.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::PermissionDenied | io::ErrorKind::OutOfMemory
                    ) && bytes > LEAST =>
                {
                    bytes /= 2;
                }
                mapped => {
                    return Ok(Self {
                        ring: mapped?,
                        first: Cell::default(),
                        happened: Cell::default(),
                        taken: Cell::default(),
                    });
                }
            }
        }
    }

    fn begin(&self) {
        let head = self.ring.head();
        self.first.set((head, clock::monotonic_ns()));
        self.ring.set_tail(head);
        self.happened.set(0);
        self.taken.set(0);
    }

    /// Whether a flight recorder has overwritten something.
    fn has_wrapped(&self) -> bool {
        let written = self.first.get().0.wrapping_sub(self.ring.head());
        written > self.ring.bytes()
    }
}

/// The settings that all events of a ring share; the kernel lets no event with others write into it.
fn described(mode: TraceMode) -> Event {
    let backward = match mode {
        TraceMode::FlightRecorder => WRITE_BACKWARD,
        _ => 0,
    };
    Event {
        sample_type: TIME_AND_RAW,
        flags: DISABLED | WATERMARK | USE_CLOCK | backward,
        // Nobody waits on the ring: waking a reader would cost an interrupt on the traced CPU.
        wake_up: u32::MAX,
        clock: MONOTONIC,
        ..Event::default()
    }
}

fn event(number: u16, mode: TraceMode) -> Event {
    Event {
        kind: TRACEPOINT,
        config: number.into(),
        sample_period: 1,
        ..described(mode)
    }
}

/// The count of an event.
fn count(event: &OwnedFd) -> io::Result<u64> {
    let mut bytes = [0; 8];
    match rustix::io::read(event, &mut bytes)? {
        8 => Ok(u64::from_le_bytes(bytes)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// A missing event, or a refusal of all events.
fn refused_instead(error: ProbeError, cpu: u16) -> ProbeError {
    let holder = Event {
        kind: SOFTWARE,
        config: DUMMY,
        ..described(TraceMode::Drained)
    };
    match (&error, holder.open(Of::Cpu(cpu))) {
        (ProbeError::NoEvents { .. }, Err(source)) => ProbeError::perf(source),
        _ => error,
    }
}
