//! The measuring process's side of the probe: starting it, telling it where segments begin and end.
//! Whatever becomes of it, the measurement goes on, and the record says what is missing.

use super::child::{FromChild, JsonChild, own_executable};
use super::{MeasureError, Message, Running, Segment, own_group};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};
use wakepath_archive::{Event, PlannedSegment, SegmentTraced, TraceMode};
use wakepath_machine::{CpuList, Root, timers_elsewhere};
use wakepath_probe::{Backend, Command, Ready, Reply, Setting};
use wakepath_scenario::{Trace, TraceBackend, TraceBuffer};

/// How long the probe may take to set up: buffers, some fifty events, a self-test on each CPU.
const SET_UP_PATIENCE: Duration = Duration::from_secs(60);
/// How long it may take to write a segment's trace: a full buffer onto a slow card.
const WRITE_PATIENCE: Duration = Duration::from_secs(300);

/// The probe's process.
pub(super) struct Tracing {
    child: JsonChild,
}

/// What is to be traced.
pub(super) struct TraceOrder<'a> {
    pub(super) terms: &'a Trace,
    pub(super) cpus: &'a [u16],
    /// Length of the longest segment.
    pub(super) segment_ns: u64,
}

/// The CPUs whose events explain loops on these: with those that their timers may expire on.
pub fn traced_cpus(loops: &[u16]) -> Vec<u16> {
    let own: CpuList = loops.iter().map(|&cpu| u32::from(cpu)).collect();
    let elsewhere = timers_elsewhere(&Root::host(), &own);
    let all: CpuList = [own.numbers(), elsewhere.numbers()]
        .concat()
        .into_iter()
        .collect();
    let numbers = all.numbers().iter();
    numbers.filter_map(|&cpu| u16::try_from(cpu).ok()).collect()
}

impl Tracing {
    /// Starts the probe; the inner error is why there is no tracing, with the remedy.
    pub(super) fn start(
        order: &TraceOrder<'_>,
        directory: &Path,
        shared: impl AsFd,
        sender: &Sender<Message>,
        messages: &Receiver<Message>,
    ) -> Result<Result<(Self, Ready), String>, MeasureError> {
        let child = JsonChild::start(
            &own_executable(),
            "probe",
            shared,
            &[directory.as_os_str()],
            sender.clone(),
            Message::Probe,
        );
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
            apart: own_group::apart(),
        };
        let child = child.and_then(|mut child| child.say(&setting).map(|()| child));
        let mut tracing = match child {
            Ok(child) => Self { child },
            Err(source) => {
                return Err(MeasureError::Start {
                    which: "probe",
                    source,
                });
            }
        };
        Ok(match tracing.answer(messages, SET_UP_PATIENCE) {
            Ok(Reply::Ready(ready)) => Ok((tracing, *ready)),
            Ok(Reply::Unavailable { reason }) => Err(reason),
            Ok(_) => Err("the probe gave an answer to another question".into()),
            Err(reason) => Err(reason),
        })
    }

    fn ask(
        &mut self,
        command: &Command,
        messages: &Receiver<Message>,
        patience: Duration,
    ) -> Result<Reply, String> {
        match self.child.say(command) {
            Ok(()) => self.answer(messages, patience),
            // Its last words may have been read where nobody waited for them.
            Err(_) => Err(self.died()),
        }
    }

    fn died(&mut self) -> String {
        let how = self.child.wait();
        let how = how.map_or_else(|e| e.to_string(), |status| status.to_string());
        format!("the probe's process died: {how}")
    }

    fn answer(
        &mut self,
        messages: &Receiver<Message>,
        patience: Duration,
    ) -> Result<Reply, String> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match messages.recv_timeout(left) {
                Ok(Message::Probe(FromChild::Said(reply))) => return Ok(reply),
                Ok(Message::Probe(FromChild::Gone)) => {
                    return Err(self.died());
                }
                // Live figures of the recorder; its death shows again where it is next told.
                Ok(_) => {}
                Err(_) => {
                    self.child.kill();
                    let seconds = patience.as_secs();
                    return Err(format!("the probe said nothing for {seconds} s"));
                }
            }
        }
    }
}

/// A probe by itself, beside a program that is not measured but watched.
pub struct Watching {
    tracing: Tracing,
    messages: Receiver<Message>,
}

impl Watching {
    /// Starts the probe for these CPUs, drained; the error is why there is no tracing, with the
    /// remedy.
    pub fn start(directory: &Path, cpus: &[u16], segment_ns: u64) -> Result<(Self, Ready), String> {
        let terms = Trace {
            mode: Some(TraceBuffer::Drained),
            ..Trace::default()
        };
        let order = TraceOrder {
            terms: &terms,
            cpus,
            segment_ns,
        };
        let (sender, messages) = std::sync::mpsc::channel();
        // There is no shared memory, and the probe leaves it alone.
        let nothing = std::fs::File::open("/dev/null").map_err(|error| error.to_string())?;
        let (tracing, ready) = Tracing::start(&order, directory, nothing, &sender, &messages)
            .map_err(|error| error.to_string())??;
        Ok((Self { tracing, messages }, ready))
    }

    /// Records from now on.
    pub fn begin(&mut self) -> Result<(), String> {
        let begin = Command::Begin { segment: 0 };
        self.tracing.ask(&begin, &self.messages, SET_UP_PATIENCE)?;
        Ok(())
    }

    /// Stops, and writes the trace.
    pub fn end(&mut self) -> Result<SegmentTraced, String> {
        let end = self
            .tracing
            .ask(&Command::End, &self.messages, WRITE_PATIENCE)?;
        match end {
            Reply::Ended {
                trace: Some(trace),
                problem: None,
            } => Ok(trace),
            Reply::Ended { problem, .. } => {
                Err(problem.unwrap_or_else(|| "the probe wrote no trace".into()))
            }
            _ => Err("the probe gave an answer to another question".into()),
        }
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        // The end of its input tells it to remove its instance and leave. An error means that it
        // is gone already.
        let _ = self.child.wait();
    }
}

impl Running<'_> {
    /// Has the probe record from now on.
    pub(super) fn begin_trace(&mut self, segment: u32) -> Result<(), MeasureError> {
        let Some(tracing) = &mut self.tracing else {
            return Ok(());
        };
        match tracing.ask(&Command::Begin { segment }, &self.messages, SET_UP_PATIENCE) {
            Ok(_) => Ok(()),
            Err(reason) => self.give_up_tracing(&reason),
        }
    }

    /// Has it stop and write what it recorded.
    pub(super) fn end_trace(&mut self, segment: &Segment) -> Result<(), MeasureError> {
        let Some(tracing) = &mut self.tracing else {
            return Ok(());
        };
        match tracing.ask(&Command::End, &self.messages, WRITE_PATIENCE) {
            Ok(Reply::Ended { trace, problem }) => {
                let written = trace.is_some();
                if let Some(trace) = trace {
                    self.recording.append(Event::SegmentTraced(trace))?;
                }
                if written {
                    self.observer.traced(segment, self.directory);
                }
                match problem {
                    Some(problem) => {
                        let PlannedSegment {
                            condition, phase, ..
                        } = &segment.planned;
                        self.say(&format!("{condition}, {phase}: not traced: {problem}"))
                    }
                    None => Ok(()),
                }
            }
            Ok(_) => self.give_up_tracing("the probe gave an answer to another question"),
            Err(reason) => self.give_up_tracing(&reason),
        }
    }

    /// Has the kernel measure by itself, under the loads of the phase that is about to end.
    pub(super) fn kernel_measures(&mut self, phase: &str) -> Result<(), MeasureError> {
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
        for (for_ns, command) in [timerlat, osnoise].into_iter().flatten() {
            let Some(tracing) = &mut self.tracing else {
                return Ok(());
            };
            let cpus = self.plan.loop_cpus.len().max(1) as u32;
            let patience = SET_UP_PATIENCE + Duration::from_nanos(for_ns) * cpus;
            match tracing.ask(&command, &self.messages, patience) {
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
                Ok(_) => self.give_up_tracing("the probe gave an answer to another question")?,
                Err(reason) => self.give_up_tracing(&reason)?,
            }
        }
        Ok(())
    }

    fn give_up_tracing(&mut self, reason: &str) -> Result<(), MeasureError> {
        self.tracing = None;
        // What it left in the kernel goes at once; what can't be removed is left to the next start.
        let _ = wakepath_probe::remove_orphans();
        self.say(&format!("nothing more is traced: {reason}"))
    }
}
