//! One segment: a loop's process from its start to its end, with the counts of both ends.

use super::cache_allocation::{CacheAllocation, Places};
use super::child::{FromChild, JsonChild};
use super::load_proofs::{SegmentLoads, proofs, snapshot};
use super::own_group;
use super::plan::segment_ns;
use super::program::loop_program;
use super::recorder::{Reply, SegmentRings};
use super::thread_records::{LoopEnd, ended_threads, started_threads};
use super::{MeasureError, Message, Running, Segment};
use serde_json::json;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};
use wakepath_archive::{Event, SegmentEnded, SegmentStarted, ThreadEnd, ThreadStarted};
use wakepath_measured_loop::{LoopReply, LoopSpec, ThreadReady};

/// Between two looks at the interrupt, for the watcher too.
const TICK: Duration = Duration::from_millis(100);
/// How long threads may take to get ready: locking and touching memory on a slow, loaded board.
pub(super) const READY_PATIENCE: Duration = Duration::from_secs(30);
/// How long a loop may take beyond its last due time. A starved SCHED_IDLE loop is late, not dead.
const END_PATIENCE: Duration = Duration::from_secs(10);

/// Where a loop that works for a controller of the user's own can be thought to be.
fn in_controller(spec: &LoopSpec) -> String {
    let library = spec.library();
    library.map_or(String::new(), |file| format!(" in the controller {file}"))
}

/// How a child that is gone ended.
fn how(child: &mut JsonChild) -> String {
    let status = child.wait();
    status.map_or_else(|error| error.to_string(), |status| status.to_string())
}

impl Running<'_> {
    pub(super) fn segment(
        &mut self,
        segment: &Segment,
        loads: &mut SegmentLoads,
    ) -> Result<(), MeasureError> {
        let spec = self.plan.loop_spec(self.scenario, segment);
        if let SegmentLoads::Missing(reason) = loads {
            let proof =
                json!({ "name": segment.planned.phase, "working": false, "reason": reason });
            return self.not_run(segment, &spec, "its load could not be started", vec![proof]);
        }
        if let Some(reason) = self.unavailable.get(&unavailable_key(segment)).cloned() {
            return self.not_run(segment, &spec, &reason, Vec::new());
        }

        let program = match loop_program(spec.library()) {
            Ok(program) => program,
            Err(reason) => return self.not_run(segment, &spec, &reason, Vec::new()),
        };
        self.recording.memory.reset();
        if segment.planned.traced {
            self.begin_trace(segment.planned.segment)?;
        }
        let number = segment.planned.segment;
        let mut child = JsonChild::start(
            &program,
            "loop",
            self.recording.memory.file(),
            &[],
            self.sender.clone(),
            move |said| Message::Loop(number, said),
        )
        .map_err(not_started)?;

        // Before it is told what to run: its threads then start in the groups.
        if let Err(reason) = own_group::enter(&spec, child.id()) {
            child.kill();
            return self.cannot_run(segment, &spec, reason);
        }
        let share = self
            .scenario
            .phases
            .iter()
            .find(|phase| phase.name == segment.planned.phase);
        let places = Places::under(Path::new("/"));
        let allocation = share
            .and_then(|phase| phase.l3_share)
            .map(|share| CacheAllocation::set(&places, share, child.id()))
            .transpose();
        let (outcome, allocation) = match allocation {
            Ok(own) => {
                let outcome = self.run_child(segment, &spec, own.as_ref(), &mut child, loads);
                (outcome, own)
            }
            Err(reason) => (self.cannot_run(segment, &spec, reason), None),
        };
        child.kill();
        if let Some(Err(reason)) = allocation.map(CacheAllocation::remove) {
            self.say(&reason)?;
        }
        if segment.planned.traced {
            self.end_trace(segment)?;
        }
        outcome
    }

    fn run_child(
        &mut self,
        segment: &Segment,
        spec: &LoopSpec,
        allocation: Option<&CacheAllocation>,
        child: &mut JsonChild,
        loads: &mut SegmentLoads,
    ) -> Result<(), MeasureError> {
        if let Some(allocation) = allocation {
            let text = format!("{}: {}", segment.planned.phase, allocation.effective);
            if self.said_once.insert(text.clone()) {
                self.say(&text)?;
            }
        }
        child.say(spec).map_err(not_started)?;
        match self.wait_until_ready(segment.planned.segment, spec, child)? {
            Ok((start_ns, ready)) => self.measure(segment, spec, start_ns, &ready, child, loads),
            Err(reason) => self.cannot_run(segment, spec, reason),
        }
    }

    /// Records that a condition can't be measured; the same one isn't tried again.
    fn cannot_run(
        &mut self,
        segment: &Segment,
        spec: &LoopSpec,
        reason: String,
    ) -> Result<(), MeasureError> {
        self.unavailable
            .insert(unavailable_key(segment), reason.clone());
        self.not_run(segment, spec, &reason, Vec::new())
    }

    /// The inner error is the reason why this condition can't be measured.
    #[allow(clippy::type_complexity)]
    fn wait_until_ready(
        &mut self,
        segment: u32,
        spec: &LoopSpec,
        child: &mut JsonChild,
    ) -> Result<Result<(u64, Vec<ThreadReady>), String>, MeasureError> {
        let deadline = Instant::now() + READY_PATIENCE;
        while Instant::now() < deadline {
            match self.next_message(segment)? {
                Some(FromChild::Said(LoopReply::Ready { start_ns, threads })) => {
                    return Ok(Ok((start_ns, threads)));
                }
                Some(FromChild::Said(LoopReply::CannotRun { reason })) => return Ok(Err(reason)),
                Some(FromChild::Said(LoopReply::Ended { .. }) | FromChild::Gone) => {
                    let died = format!("died{} before it was ready", in_controller(spec));
                    return Ok(Err(format!("the loop's process {died}: {}", how(child))));
                }
                None => {}
            }
        }
        Ok(Err(format!(
            "the loop was not ready after {} s",
            READY_PATIENCE.as_secs()
        )))
    }

    fn measure(
        &mut self,
        segment: &Segment,
        spec: &LoopSpec,
        start_ns: u64,
        ready: &[ThreadReady],
        child: &mut JsonChild,
        loads: &mut SegmentLoads,
    ) -> Result<(), MeasureError> {
        let threads = started_threads(spec, start_ns, ready);
        self.begin(segment, threads)?;
        for shortfall in ready.iter().flat_map(|thread| &thread.shortfalls) {
            let text = format!("{}: {shortfall}", segment.planned.condition);
            if self.said_once.insert(text.clone()) {
                self.say(&text)?;
            }
        }
        self.recording.take(SegmentRings {
            segment: segment.planned.segment,
            threads: spec.threads.len() as u16,
        })?;
        self.observer.segment_begun(segment);

        let before = snapshot(loads);
        let end = self.wait_until_ended(segment, spec, child)?;
        let proofs = proofs(loads, before);
        let recorded = {
            let observer = &mut *self.observer;
            self.recording.take_rest(&self.messages, |reply| {
                if let Reply::Live(figures) = reply {
                    observer.live(figures);
                }
            })?
        };
        let no_counters = ready
            .iter()
            .map(|thread| thread.no_counters.clone())
            .collect();
        self.finish(segment, spec, &end, &recorded, proofs, no_counters)
    }

    fn wait_until_ended(
        &mut self,
        segment: &Segment,
        spec: &LoopSpec,
        child: &mut JsonChild,
    ) -> Result<LoopEnd, MeasureError> {
        let planned = Duration::from_nanos(segment_ns(spec) + spec.lead_ns);
        let mut deadline = Instant::now() + planned + END_PATIENCE;
        let mut told_to_stop = false;
        loop {
            match self.next_message(segment.planned.segment)? {
                Some(FromChild::Said(LoopReply::Ended { threads })) => {
                    return Ok(LoopEnd::Reported(threads));
                }
                Some(FromChild::Said(_)) | None => {}
                Some(FromChild::Gone) => {
                    return Ok(LoopEnd::Failed(format!(
                        "the loop's process died{}: {}",
                        in_controller(spec),
                        how(child)
                    )));
                }
            }
            let recorder_failed = self
                .recording
                .memory
                .words()
                .recorder_failed
                .load(Ordering::Acquire);
            if !told_to_stop && (self.interrupt.requested() || recorder_failed != 0) {
                told_to_stop = true;
                self.recording
                    .memory
                    .words()
                    .stop
                    .store(1, Ordering::Release);
                let longest = spec.threads.iter().map(|t| t.period_ns).max().unwrap_or(0);
                deadline = Instant::now() + Duration::from_nanos(longest) + END_PATIENCE;
            }
            if Instant::now() > deadline {
                let guarded = self
                    .recording
                    .memory
                    .words()
                    .guard_tripped
                    .load(Ordering::Acquire)
                    != 0;
                child.kill();
                let within = in_controller(spec);
                return Ok(LoopEnd::Failed(match guarded {
                    true => format!(
                        "the guard stopped a loop that took the CPU without sleeping{within}"
                    ),
                    false => format!(
                        "the loop had not ended{within} {} s after its last due time and was killed",
                        END_PATIENCE.as_secs()
                    ),
                }));
            }
        }
    }

    /// The next thing the loop's process of `segment` says, within a tick; live figures are passed
    /// on meanwhile.
    fn next_message(&mut self, segment: u32) -> Result<Option<FromChild<LoopReply>>, MeasureError> {
        let message = self.messages.recv_timeout(TICK);
        self.observer.tick();
        match message {
            Ok(Message::Loop(from, said)) if from == segment => Ok(Some(said)),
            // The last words of an earlier segment's process.
            Ok(Message::Loop(..) | Message::Probe(_)) => Ok(None),
            Ok(Message::Recorder(FromChild::Said(reply))) => {
                self.recording.note_failure(&reply);
                if let Reply::Live(figures) = &reply {
                    self.observer.live(figures);
                }
                Ok(None)
            }
            Ok(Message::Recorder(FromChild::Gone)) => Err(self.recording.died()),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
        }
    }

    fn begin(
        &mut self,
        segment: &Segment,
        threads: Vec<ThreadStarted>,
    ) -> Result<(), MeasureError> {
        let planned = &segment.planned;
        self.recording.append(Event::SegmentStarted(SegmentStarted {
            segment: planned.segment,
            phase: planned.phase.clone(),
            repetition: planned.repetition,
            condition: planned.condition.clone(),
            traced: planned.traced,
            threads,
        }))
    }

    fn finish(
        &mut self,
        segment: &Segment,
        spec: &LoopSpec,
        end: &LoopEnd,
        recorded: &[u64],
        loads: Vec<serde_json::Value>,
        no_counters: Vec<Option<String>>,
    ) -> Result<(), MeasureError> {
        let threads = ended_threads(spec, end, recorded, no_counters, &self.recording.memory);
        let problem = threads.iter().find_map(|thread| match &thread.ended {
            ThreadEnd::Failed { reason } => Some(reason.clone()),
            ThreadEnd::Overrun => Some("stopped at its first overrun".into()),
            _ => None,
        });
        self.recording.append(Event::SegmentEnded(SegmentEnded {
            segment: segment.planned.segment,
            threads,
            loads,
        }))?;
        self.observer.segment_ended(segment, problem.as_deref());
        self.recording.check()
    }

    /// Records that a segment was not measured, and why.
    fn not_run(
        &mut self,
        segment: &Segment,
        spec: &LoopSpec,
        reason: &str,
        loads: Vec<serde_json::Value>,
    ) -> Result<(), MeasureError> {
        self.begin(segment, started_threads(spec, 0, &[]))?;
        self.recording.memory.reset();
        let end = LoopEnd::Failed(reason.into());
        self.finish(segment, spec, &end, &[], loads, Vec::new())
    }
}

fn not_started(source: std::io::Error) -> MeasureError {
    MeasureError::Start {
        which: "loop's",
        source,
    }
}

/// A phase's own work or share of the cache may be what stands in the way, so that the policy may be
/// measured in another.
fn unavailable_key(segment: &Segment) -> (String, String) {
    let planned = &segment.planned;
    (planned.condition.clone(), planned.phase.clone())
}
