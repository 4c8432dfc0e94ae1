//! The measuring process's side of the probe: starts it and notifies it of the beginning and end of segments.
//! Whatever becomes of it, the measurement continues, and the record lists the missing parts.

use crate::measurement::Running;
use crate::own_processes::OwnProcesses;
use crate::plan::Segment;
use crate::supervisor::{Child, NoAnswer};
use crate::watch::threads_of;
use crate::{MeasureError, NotTraced, own_executable, own_group};
use std::os::fd::AsFd;
use std::time::Duration;
use wakepath_archive::{Event, PlannedSegment, SegmentTraced, ThreadOf, TraceMode};
use wakepath_directory::Directory;
use wakepath_machine::{Root, timers_elsewhere};
use wakepath_probe::usdt::Mark;
use wakepath_probe::{Backend, Command, Ready, Reply, Setting};
use wakepath_scenario::{Trace, TraceBackend, TraceBuffer};
use wakepath_timeline::CpuSet;

/// How long the probe may take to set up: buffers, some fifty events, a self-test on each CPU.
const SET_UP_PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take to write a segment's trace: a full buffer onto a slow card.
const WRITE_PATIENCE: Duration = Duration::from_secs(300);

/// The probe's process.
pub(crate) struct Tracing {
    child: Child<Reply>,
}

/// The events to trace.
pub(crate) struct TraceOrder<'a> {
    pub(crate) terms: &'a Trace,
    pub(crate) cpus: &'a [u16],
    /// Length of the longest segment.
    pub(crate) segment_ns: u64,
    /// Places of a program's code that are recorded.
    pub(crate) marks: &'a [Mark],
    /// Whether a viewer waits for an event.
    pub(crate) is_awaited: bool,
}

/// The CPUs whose events explain loops on these: with those that their timers may expire on.
pub fn traced_cpus(loops: &[u16]) -> Vec<u16> {
    let own = CpuSet::from(loops);
    let elsewhere = timers_elsewhere(&Root::host(), &own);
    let all: CpuSet = [own.numbers(), elsewhere.numbers()]
        .concat()
        .into_iter()
        .collect();
    all.numbers().to_vec()
}

impl Tracing {
    /// Starts the probe and waits until it can record.
    pub(crate) fn start(
        order: &TraceOrder<'_>,
        directory: &Directory,
        shared: impl AsFd,
    ) -> Result<(Self, Ready), NotTraced> {
        let setting = Setting {
            cpus: order.cpus.to_vec(),
            segment_ns: order.segment_ns,
            backend: order.terms.backend.map(|backend| match backend {
                TraceBackend::Tracefs => Backend::Tracefs,
                TraceBackend::Perf => Backend::Perf,
            }),
            mode: order.terms.mode.map(|mode| match mode {
                TraceBuffer::FlightRecorder => TraceMode::FlightRecorder,
                TraceBuffer::Drained => TraceMode::Drained,
            }),
            buffer_bytes: order.terms.buffer_bytes,
            keep_above_ns: order.terms.keep_above_ns,
            marks: order.marks.to_vec(),
            is_awaited: order.is_awaited,
            apart: own_group::apart(),
        };
        let program = own_executable();
        let child = Child::start(&program, "probe", shared, Some(directory));
        let child = child.map_err(NotTraced::NotStarted)?;
        let mut tracing = Self { child };
        match tracing.ask(&setting, SET_UP_PATIENCE)? {
            Reply::Ready(ready) => Ok((tracing, *ready)),
            Reply::Unavailable { reason } => Err(NotTraced::Unavailable(reason)),
            _ => Err(NotTraced::Misunderstood),
        }
    }

    /// Has it record the system calls of these threads from now on.
    fn follow(&mut self, threads: Vec<ThreadOf>) -> Result<(), NotTraced> {
        wakepath_probe::hurry(self.child.id());
        self.ask(&Command::Follow { threads }, SET_UP_PATIENCE)
            .map(drop)
    }

    fn ask(
        &mut self,
        question: &impl serde::Serialize,
        patience: Duration,
    ) -> Result<Reply, NotTraced> {
        // One that is gone and can't be reached has no answer either.
        let _ = self.child.say(question);
        self.child.answer(patience, Some).map_err(|why| {
            // Its leftovers in the kernel are removed at once; any that can't be are left to the next start.
            let _ = wakepath_probe::remove_orphans();
            match why {
                NoAnswer::Died(how) => NotTraced::Died(how),
                NoAnswer::Silent(seconds) => NotTraced::Silent(seconds),
            }
        })
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        // At the end of its input it removes its instance and exits.
        self.child.end();
    }
}

/// A probe by itself, for a program that is not measured but watched.
pub struct Watching {
    tracing: Tracing,
    own: OwnProcesses,
}

impl Watching {
    /// Starts the probe for these CPUs and marks, drained; its events come sooner if they are awaited.
    ///
    /// # Errors
    /// Why there is no tracing, with the remedy.
    pub fn start(
        directory: &Directory,
        cpus: &[u16],
        segment_ns: u64,
        marks: &[Mark],
        is_awaited: bool,
    ) -> Result<(Self, Ready), NotTraced> {
        let terms = Trace {
            mode: Some(TraceBuffer::Drained),
            ..Trace::default()
        };
        let order = TraceOrder {
            terms: &terms,
            cpus,
            segment_ns,
            marks,
            is_awaited,
        };
        // There is no shared memory, and the probe leaves it alone.
        let nothing = std::fs::File::open("/dev/null").map_err(NotTraced::NotStarted)?;
        let (tracing, ready) = Tracing::start(&order, directory, nothing)?;
        let own = OwnProcesses::default();
        Ok((Self { tracing, own }, ready))
    }

    /// Records from now on.
    ///
    /// # Errors
    /// When the probe is gone.
    pub fn begin(&mut self) -> Result<(), NotTraced> {
        let begin = Command::Begin { segment: 0 };
        self.tracing.ask(&begin, SET_UP_PATIENCE)?;
        self.own.look();
        Ok(())
    }

    /// Records the system calls of these threads from now on; those that are known already are
    /// passed over.
    ///
    /// # Errors
    /// When the probe is gone.
    pub fn follow(&mut self, threads: Vec<ThreadOf>) -> Result<(), NotTraced> {
        self.tracing.follow(threads)
    }

    /// Stops, and writes the trace.
    ///
    /// # Errors
    /// When there is no trace, or not all of it.
    pub fn end(&mut self) -> Result<SegmentTraced, NotTraced> {
        self.own.look();
        match self.tracing.ask(&Command::End, WRITE_PATIENCE)? {
            Reply::Ended {
                trace: Some(trace),
                problem: None,
            } => Ok(SegmentTraced {
                own: Some(self.own.all()),
                ..trace
            }),
            Reply::Ended { problem, .. } => Err(NotTraced::NotWritten(
                problem.unwrap_or_else(|| "the probe wrote no trace".into()),
            )),
            _ => Err(NotTraced::Misunderstood),
        }
    }
}

impl Running<'_> {
    /// Has the probe record from now on.
    pub(crate) fn begin_trace(&mut self, segment: u32) -> Result<(), MeasureError> {
        let Some(tracing) = &mut self.tracing else {
            return Ok(());
        };
        match tracing.ask(&Command::Begin { segment }, SET_UP_PATIENCE) {
            Ok(_) => {
                self.own = OwnProcesses::default();
                self.own.look();
                Ok(())
            }
            Err(why) => self.give_up_tracing(&why),
        }
    }

    /// Has it record the system calls of a program's threads, those that are there now.
    pub(crate) fn trace_calls(&mut self, process: u32) -> Result<(), MeasureError> {
        let Some(tracing) = &mut self.tracing else {
            return Ok(());
        };
        let threads = threads_of(process).into_iter();
        let threads = threads.map(|(process, thread)| ThreadOf { thread, process });
        match tracing.follow(threads.collect()) {
            Ok(()) => Ok(()),
            Err(why) => self.give_up_tracing(&why),
        }
    }

    /// Writes where the threads of the user's program waited.
    pub(crate) fn keep_stacks(&mut self) -> Result<(), MeasureError> {
        let taken = self.stacks.take().filter(|_| self.tracing.is_some());
        for note in taken.map_or_else(Vec::new, |taken| taken.keep(self.directory)) {
            self.say(&note)?;
        }
        Ok(())
    }

    /// Has it stop and write what it recorded.
    pub(crate) fn end_trace(&mut self, segment: &Segment) -> Result<(), MeasureError> {
        let Some(tracing) = &mut self.tracing else {
            return Ok(());
        };
        self.own.look();
        let (trace, problem) = match tracing.ask(&Command::End, WRITE_PATIENCE) {
            Ok(Reply::Ended { trace, problem }) => (trace, problem),
            Ok(_) => return self.give_up_tracing(&NotTraced::Misunderstood),
            Err(why) => return self.give_up_tracing(&why),
        };
        if let Some(mut trace) = trace {
            trace.own = Some(self.own.all());
            self.recording.append(Event::SegmentTraced(trace))?;
            self.observer.traced(segment, self.directory.path());
        }
        let PlannedSegment {
            condition, phase, ..
        } = &segment.planned;
        match problem {
            Some(problem) => self.say(&format!("{condition}, {phase}: not traced: {problem}")),
            None => Ok(()),
        }
    }

    /// Has the kernel measure by itself, under the loads of the phase that is about to end.
    pub(crate) fn kernel_measures(&mut self, phase: &str) -> Result<(), MeasureError> {
        let Some(terms) = &self.scenario.trace else {
            return Ok(());
        };
        let period_ns = self.scenario.period_ns;
        let timerlat = terms
            .timerlat_ns
            .map(|for_ns| (for_ns, Command::Timerlat { period_ns, for_ns }));
        let osnoise = terms
            .osnoise_ns
            .map(|for_ns| (for_ns, Command::Osnoise { for_ns }));
        let cpus = self.plan.loop_cpus.clone();
        let sections = terms.sections_ns.map(|for_ns| {
            let sections = Command::Sections {
                cpus,
                period_ns,
                for_ns,
            };
            (for_ns, sections)
        });
        for (for_ns, command) in [timerlat, osnoise, sections].into_iter().flatten() {
            let Some(tracing) = &mut self.tracing else {
                return Ok(());
            };
            let cpus = self.plan.traced_cpus.len().max(1) as u32;
            let patience = SET_UP_PATIENCE + Duration::from_nanos(for_ns) * cpus;
            match tracing.ask(&command, patience) {
                Ok(Reply::Timerlat(latencies)) => {
                    for mut latency in latencies {
                        latency.phase = phase.to_owned();
                        self.recording.append(Event::KernelLatency(latency))?;
                    }
                }
                Ok(Reply::Osnoise(noises)) => {
                    for mut noise in noises {
                        noise.phase = phase.to_owned();
                        self.recording.append(Event::KernelNoise(noise))?;
                    }
                }
                Ok(Reply::Sections(found)) => {
                    for mut sections in found {
                        sections.phase = phase.to_owned();
                        let event = Event::KernelSections(Box::new(sections));
                        self.recording.append(event)?;
                    }
                }
                Ok(_) => self.give_up_tracing(&NotTraced::Misunderstood)?,
                Err(why) => self.give_up_tracing(&why)?,
            }
        }
        Ok(())
    }

    fn give_up_tracing(&mut self, why: &NotTraced) -> Result<(), MeasureError> {
        self.tracing = None;
        self.say(&format!("nothing more is traced: {why}"))
    }
}
