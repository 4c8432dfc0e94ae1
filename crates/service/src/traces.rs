//! The kernel events of the last moments, in a ring buffer of the kernel.
//!
//! Nothing is read until a cycle took long, and then only the part around that cycle. Other modules
//! select the cycle.

use std::path::Path;
use std::time::Instant;
use wakepath_archive::{
    Kept, KeptWindow, SegmentTraced, TraceDescription, TraceEnd, TraceMode, TraceWriter,
    TracingSetUp,
};
use wakepath_directory::Directory;
use wakepath_probe::{
    BufferWish, Chosen, Collector, EventCost, EventSource, ProbeError, Tracefs, available_memory,
    choose, merged, remove_orphans,
};
use wakepath_rt::clock;

/// For each CPU: a third of a second on a busy one, usually several seconds.
const BUFFER_BYTES: u64 = 4 << 20;
/// Time to keep after the end of a bad cycle, in nanoseconds: what still ran then.
const AFTER_NS: u64 = 100_000;

/// A recording of events.
pub(crate) struct Traces {
    chosen: Chosen,
    cpus: Vec<u16>,
    cost: Option<EventCost>,
    began_ns: u64,
    began: Instant,
}

impl Traces {
    /// Starts recording events of these CPUs. That switches the kernel's events on, which running
    /// loops can feel; with `measures` it takes a tenth of a second more to measure the cost of an
    /// event.
    pub(crate) fn begin(cpus: &[u16], measures: bool) -> Result<Self, ProbeError> {
        let tracefs = Tracefs::find_or_mount()?;
        // Remains of a killed recorder. If one can't be removed, the next start tries again.
        let _ = remove_orphans();
        let meminfo = std::fs::read_to_string(Path::new("/proc/meminfo"));
        let wish = BufferWish {
            mode: Some(TraceMode::FlightRecorder),
            bytes: Some(BUFFER_BYTES),
        };
        let available = meminfo.ok().and_then(|text| available_memory(&text));
        let choice = choose(wish, 0, cpus.len(), available.unwrap_or(0))?;
        let chosen = Chosen::make(None, &tracefs, cpus, choice.bytes, choice.mode, &[])?;
        let measured = measures.then(|| EventCost::measure(&*chosen.source));
        let cost = measured.transpose()?;
        chosen.source.start()?;
        Ok(Self {
            chosen,
            cpus: cpus.to_vec(),
            cost,
            began_ns: clock::monotonic_ns(),
            began: Instant::now(),
        })
    }

    /// CPUs whose events are recorded.
    pub(crate) fn cpus(&self) -> &[u16] {
        &self.cpus
    }

    /// Its setup, as stored in a run.
    pub(crate) fn set_up(&self) -> TracingSetUp {
        let source = &self.chosen.source;
        TracingSetUp {
            backend: source.name().into(),
            because: self.chosen.because.clone(),
            cpus: self.cpus.clone(),
            mode: TraceMode::FlightRecorder,
            buffer_bytes: source.buffer_bytes(),
            ns_per_event: self.cost.map(|of| of.ns_per_event),
            missing: source.missing().to_vec(),
            self_tests: Vec::new(),
        }
    }

    /// Writes the trace of a run whose only segment has these cycles, and starts a new one; events
    /// between the two are lost.
    pub(crate) fn take(
        &mut self,
        directory: &Directory,
        windows: Vec<KeptWindow>,
    ) -> Result<SegmentTraced, ProbeError> {
        self.chosen.source.pause()?;
        let written = self.write(directory, windows);
        self.chosen.source.resume()?;
        (self.began_ns, self.began) = (clock::monotonic_ns(), Instant::now());
        written
    }

    fn write(
        &mut self,
        directory: &Directory,
        windows: Vec<KeptWindow>,
    ) -> Result<SegmentTraced, ProbeError> {
        let ended_ns = clock::monotonic_ns();
        let wall_ns = self.began.elapsed().as_nanos() as u64;
        let Chosen {
            source, decoder, ..
        } = &mut self.chosen;
        let source: &dyn EventSource = &**source;
        let mut writer = TraceWriter::create_in(
            directory,
            &TraceDescription {
                segment: 0,
                cpus: self.cpus.clone(),
                backend: source.name().into(),
                clock: "CLOCK_MONOTONIC".into(),
                mode: TraceMode::FlightRecorder,
                buffer_bytes: source.buffer_bytes(),
                recorded: source.recorded().to_vec(),
                missing: source.missing().to_vec(),
                began_ns: self.began_ns,
            },
        )?;
        let windows = merged(windows);
        let mut collector = Collector::new(source, Some(windows.clone()))?;
        collector.take(decoder, &mut writer)?;
        let cpus = collector.counted(source, TraceMode::FlightRecorder)?;
        let of = |value: fn(&wakepath_archive::CpuCount) -> u64| cpus.iter().map(value).sum();
        let traced = SegmentTraced {
            events: of(|count| count.events),
            taken: of(|count| count.taken),
            lost: of(|count| count.lost),
            overwritten: of(|count| count.overwritten),
            wall_ns,
            ..SegmentTraced::default()
        };
        let kept = Kept::Windows { windows };
        let bytes = writer.finish(&TraceEnd {
            ended_ns,
            kept,
            cpus,
            members: Vec::new(),
        })?;
        Ok(SegmentTraced { bytes, ..traced })
    }
}

/// Window to keep around a cycle: from one period before its due time, so that what began earlier
/// is included.
pub(crate) fn around(due_ns: u64, end_ns: u64, period_ns: u64) -> KeptWindow {
    KeptWindow {
        from_ns: due_ns.saturating_sub(period_ns),
        to_ns: end_ns.saturating_add(AFTER_NS),
    }
}
