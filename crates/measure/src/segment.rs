//! One segment: a loop's process from its start to its end, with the counts of both ends. When it is
//! to be stopped or held for dead is decided in `course`.

use crate::MeasureError;
use crate::cache_allocation::{CacheAllocation, CacheError, Places};
use crate::course::{Course, END_PATIENCE, Noticed, READY_PATIENCE, Step};
use crate::litmus_plugin::{self, Switched};
use crate::load_proofs::{PhaseLoads, Readings};
use crate::loop_process::LoopProcess;
use crate::measurement::Running;
use crate::own_group::{self, GroupClosed};
use crate::own_program::OwnProgram;
use crate::plan::Segment;
use crate::program::{NoProgram, loop_program};
use crate::recorder::{LiveThread, SegmentRings};
use crate::stacks::Stacks;
use crate::supervisor::Child;
use crate::thread_records::{LoopEnd, ended_threads, started_threads};
use crate::watch::threads_of;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wakepath_archive::{Event, Obstacle, SegmentEnded, SegmentStarted, ThreadEnd, ThreadStarted};
use wakepath_machine::{Facts, Root};
use wakepath_measured_loop::{ThreadReady, ThreadSpec};
use wakepath_probe::FeatherRecorder;
use wakepath_rt::shared::SharedMemory;
use wakepath_scenario::PluginSwitch;
use wakepath_timeline::LoadProof;
use wakepath_verdict::Limits;

/// Between two looks at the interrupt and at the recorder, for the watcher too.
const TICK: Duration = Duration::from_millis(100);

/// Why a condition can't be measured here. The run continues with the others.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum NotMeasured {
    #[error("its load could not be started")]
    NoLoad(String),
    #[error(transparent)]
    NoProgram(#[from] NoProgram),
    #[error(transparent)]
    GroupClosed(#[from] Arc<GroupClosed>),
    #[error("{0}")]
    NoCacheShare(String),
    #[error("{0}")]
    NoPlugin(String),
    #[error("{1}")]
    Refused(Obstacle, String),
    #[error("the loop's process died{within} before it was ready: {how}")]
    Died { within: String, how: String },
    #[error("the loop was not ready after {} s", READY_PATIENCE.as_secs())]
    NotReady,
}

impl From<CacheError> for NotMeasured {
    fn from(error: CacheError) -> Self {
        Self::NoCacheShare(error.to_string())
    }
}

/// Outcome for the loop's process.
enum Outcome {
    /// It was measured, and the record of it is complete.
    Measured,
    /// It was not, and the same condition need not be tried again.
    Not(NotMeasured),
}

/// How long a segment of these threads is to last.
fn lasting(threads: &[ThreadSpec]) -> Duration {
    let each = threads
        .iter()
        .map(|thread| thread.period_ns.saturating_mul(thread.end_cycle));
    Duration::from_nanos(each.max().unwrap_or(0))
}

/// A segment under way.
pub(crate) struct UnderWay<'r, 'a> {
    pub(crate) run: &'r mut Running<'a>,
    pub(crate) segment: &'r Segment,
    pub(crate) loads: &'r mut PhaseLoads,
    /// Stacks of the user's program, while the segment is traced.
    pub(crate) stacks: Option<Stacks>,
}

impl UnderWay<'_, '_> {
    /// Measures it, or records why it was not measured.
    ///
    /// # Errors
    /// If the run can't continue.
    pub(crate) fn carry_out(mut self) -> Result<(), MeasureError> {
        if let PhaseLoads::Missing(reason) = self.loads {
            let reason = reason.clone();
            return self.not_measured(&NotMeasured::NoLoad(reason));
        }
        if let Some(reason) = self.run.unavailable.get(&self.key()).cloned() {
            return self.not_measured(&reason);
        }
        let program = match loop_program(&self.segment.loop_spec) {
            Ok(program) => program,
            Err(error) => return self.not_measured(&error.into()),
        };
        let number = self.segment.planned.segment;
        self.run.recording.memory.reset();
        if self.segment.planned.traced {
            self.run.begin_trace(number)?;
        }
        let feather_trace = self.begin_feather_trace(number)?;
        let spec = &self.segment.loop_spec;
        let outcome = match spec.program() {
            Some(_) => {
                let planned = &self.segment.planned;
                let mark = format!("segment {number}: {}, {}", planned.condition, planned.phase);
                let started = OwnProgram::start(spec, self.run.directory, self.memory(), &mark);
                self.with_process(&mut started.map_err(not_started)?)?
            }
            None => {
                let child = Child::start(&program, "loop", self.memory().file(), None);
                self.with_process(&mut child.map_err(not_started)?)?
            }
        };
        if let Outcome::Not(reason) = outcome {
            self.run.unavailable.insert(self.key(), reason.clone());
            self.not_measured(&reason)?;
        }
        if let Some(Err(error)) = feather_trace.map(FeatherRecorder::end) {
            self.run.say(&no_feather_trace(&error))?;
        }
        if self.segment.planned.traced {
            self.run.end_trace(self.segment)
        } else {
            Ok(())
        }
    }

    /// LITMUS^RT's own tracing, if the segment is traced and its loops use it.
    fn begin_feather_trace(
        &mut self,
        number: u32,
    ) -> Result<Option<FeatherRecorder>, MeasureError> {
        let threads = &self.segment.loop_spec.threads;
        let on_litmus = threads
            .iter()
            .any(|thread| thread.preparation.policy.of_litmus().is_some());
        if !self.segment.planned.traced || !on_litmus {
            return Ok(None);
        }
        match FeatherRecorder::start(self.run.directory, number) {
            Ok(recorder) => Ok(recorder),
            Err(error) => {
                self.run.say(&no_feather_trace(&error))?;
                Ok(None)
            }
        }
    }

    fn memory(&self) -> &SharedMemory {
        &self.run.recording.memory
    }

    fn with_process(&mut self, child: &mut dyn LoopProcess) -> Result<Outcome, MeasureError> {
        let outcome = self.with_child(child);
        self.run.stacks = self
            .stacks
            .take()
            .map_or(self.run.stacks.take(), Stacks::end);
        child.kill();
        if let Some(late) = child.left_late() {
            self.run.say_once(late)?;
        }
        outcome
    }

    /// Places the process before it receives its specification: its threads then start there.
    fn with_child(&mut self, child: &mut dyn LoopProcess) -> Result<Outcome, MeasureError> {
        let spec = &self.segment.loop_spec;
        if let Err(closed) = own_group::enter(spec, child.id()) {
            return Ok(Outcome::Not(Arc::new(closed).into()));
        }
        let Some(plugin) = self.plugin_wanted() else {
            return self.with_plugin(child);
        };
        let places = litmus_plugin::Places::under(Path::new("/"));
        let switched = match Switched::to(&places, plugin) {
            Ok(switched) => switched,
            Err(error) => return Ok(Outcome::Not(NotMeasured::NoPlugin(error.to_string()))),
        };
        if switched.is_some() {
            let condition = &self.segment.planned.condition;
            self.run.say_once(format!(
                "{condition}: LITMUS^RT's plugin is switched to {plugin} while it is measured"
            ))?;
        }
        let outcome = self.with_plugin(child);
        // The plugin can go when it has no tasks.
        child.kill();
        if let Some(Err(error)) = switched.map(Switched::back) {
            self.run.say(&error.to_string())?;
        }
        outcome
    }

    /// The plugin of LITMUS^RT that the segment's threads need, if switching is allowed.
    fn plugin_wanted(&self) -> Option<&'static str> {
        let threads = self.segment.loop_spec.threads.iter();
        let mut plugins = threads.filter_map(|of| of.preparation.policy.of_litmus());
        let (plugin, _) = plugins.next()?;
        let may = self.run.scenario.litmus_plugin == PluginSwitch::Switch;
        may.then(|| plugin.name())
    }

    fn with_plugin(&mut self, child: &mut dyn LoopProcess) -> Result<Outcome, MeasureError> {
        let Some(share) = self.segment.l3_share else {
            return self.with_place(child);
        };
        let places = Places::under(Path::new("/"));
        let allocation = match CacheAllocation::set(&places, share, child.id()) {
            Ok(allocation) => allocation,
            Err(error) => return Ok(Outcome::Not(error.into())),
        };
        let phase = &self.segment.planned.phase;
        let said = self
            .run
            .say_once(format!("{phase}: {}", allocation.effective));
        let outcome = said.and_then(|()| self.with_place(child));
        // The group can be removed when it is empty.
        child.kill();
        if let Err(error) = allocation.remove() {
            self.run.say(&error.to_string())?;
        }
        outcome
    }

    /// Follows the loop's course from its specification to its end.
    fn with_place(&mut self, child: &mut dyn LoopProcess) -> Result<Outcome, MeasureError> {
        let spec = &self.segment.loop_spec;
        child.tell(spec).map_err(not_started)?;
        let told = Instant::now();
        let mut course = Course::new(spec);
        let mut begun = None;
        let mut readings = Readings::default();
        let end = loop {
            let heard = child.hear(TICK);
            self.run.observer.tick();
            self.run.recording.listen(self.run.observer)?;
            let words = self.run.recording.memory.words();
            let step = course.step(Noticed {
                at: told.elapsed(),
                heard,
                end_wanted: self.run.interrupt.requested()
                    || words.recorder_failed.load(Ordering::Acquire) != 0,
                guard_tripped: words.guard_tripped.load(Ordering::Acquire) != 0,
            });
            match step {
                Step::Wait => {
                    if let Some((at, _)) = &begun {
                        readings.go_on(self.loads, Instant::elapsed(at));
                    }
                }
                Step::Stop => words.stop.store(1, Ordering::Release),
                Step::Begin(start_ns, ready) => {
                    self.begin_cycles(start_ns, &ready)?;
                    if self.segment.planned.traced && spec.program().is_some() {
                        self.run.trace_calls(child.id())?;
                        self.take_stacks(child.id());
                    }
                    readings = Readings::begin(self.loads, lasting(&spec.threads));
                    begun = Some((Instant::now(), ready));
                }
                Step::Refused(obstacle, reason) => {
                    return Ok(Outcome::Not(NotMeasured::Refused(obstacle, reason)));
                }
                Step::NotReady => return Ok(Outcome::Not(NotMeasured::NotReady)),
                Step::Died { was_ready: false } => {
                    let (within, how) = (self.in_controller(), child.end());
                    return Ok(Outcome::Not(NotMeasured::Died { within, how }));
                }
                Step::Died { was_ready: true } => {
                    let (within, how) = (self.in_controller(), child.end());
                    let core = self.core_that_is_gone();
                    let reason = format!("the loop's process died{within}: {how}{core}");
                    break LoopEnd::Of(ThreadEnd::died(reason));
                }
                Step::Ended(threads) => break LoopEnd::Reported(threads),
                Step::Overdue { guard_tripped } => {
                    child.kill();
                    break self.overdue(guard_tripped);
                }
            }
        };
        for remark in child.remarks() {
            self.run.say_once(remark)?;
        }
        let ready = begun.map_or_else(Vec::new, |(_, ready)| ready);
        let proofs = readings.proofs(self.loads);
        let (recorded, remarks) = self.run.recording.take_rest(self.run.observer)?;
        for remark in remarks {
            self.run.say(&remark)?;
        }
        let no_counters = ready.into_iter().map(|thread| thread.no_counters).collect();
        self.finish(&end, &recorded, proofs, no_counters)?;
        Ok(Outcome::Measured)
    }

    /// Records where the program's threads wait, from now on: those that are there now.
    fn take_stacks(&mut self, process: u32) {
        self.stacks = Stacks::begin(self.run.stacks.take().unwrap_or_default());
        if let Some(stacks) = &mut self.stacks {
            let threads = threads_of(process).into_iter();
            stacks.follow(threads.map(|(process, thread)| (thread, process)).collect());
        }
    }

    fn begin_cycles(&mut self, start_ns: u64, ready: &[ThreadReady]) -> Result<(), MeasureError> {
        let spec = &self.segment.loop_spec;
        self.begin(started_threads(spec, start_ns, ready))?;
        for shortfall in ready.iter().flat_map(|thread| &thread.shortfalls) {
            // The same of every policy that it is true of: one note.
            self.run.say_once(shortfall.to_string())?;
        }
        self.run.recording.take(SegmentRings {
            segment: self.segment.planned.segment,
            threads: spec.threads.iter().map(|of| self.live(of)).collect(),
        })?;
        self.run.observer.segment_begun(self.segment);
        if self.segment.planned.traced && self.run.tracing.is_some() {
            // The loop's own process is there now, and gone when the trace ends.
            self.run.own.look();
        }
        Ok(())
    }

    /// A thread as the live figures need it; the verdict counts again, from the recording.
    fn live(&self, thread: &ThreadSpec) -> LiveThread {
        let scenario = self.run.scenario;
        let shortest = scenario.tasks.iter().map(|task| task.period_ns).min();
        let deadline_ns = scenario.criterion.deadline_ns;
        LiveThread {
            limits: Limits {
                latency_ns: scenario.criterion.latency_ns,
                // A deadline of one period is each task's own.
                deadline_ns: Some(if shortest == Some(deadline_ns) {
                    thread.period_ns
                } else {
                    deadline_ns
                }),
            },
            period_ns: thread.period_ns,
            judged: Some(thread.first_judged_cycle..thread.end_cycle),
        }
    }

    fn overdue(&self, guard_tripped: bool) -> LoopEnd {
        let within = self.in_controller();
        LoopEnd::Of(if guard_tripped {
            ThreadEnd::Failed {
                obstacle: Obstacle::Guard,
                reason: format!(
                    "the guard stopped a loop that took the CPU without sleeping{within}"
                ),
            }
        } else {
            ThreadEnd::died(format!(
                "the loop had not ended{within} {} s after its last due time, and was killed",
                END_PATIENCE.as_secs()
            ))
        })
    }

    fn begin(&mut self, threads: Vec<ThreadStarted>) -> Result<(), MeasureError> {
        let planned = &self.segment.planned;
        let started = SegmentStarted {
            segment: planned.segment,
            phase: planned.phase.clone(),
            repetition: planned.repetition,
            condition: planned.condition.clone(),
            traced: planned.traced,
            threads,
        };
        self.run.recording.append(Event::SegmentStarted(started))
    }

    fn finish(
        &mut self,
        end: &LoopEnd,
        recorded: &[u64],
        loads: Vec<LoadProof>,
        no_counters: Vec<Option<String>>,
    ) -> Result<(), MeasureError> {
        let memory = &self.run.recording.memory;
        let spec = &self.segment.loop_spec;
        let threads = ended_threads(spec, end, recorded, no_counters, memory);
        let problem = threads.iter().find_map(|thread| match &thread.ended {
            ThreadEnd::Failed { reason, .. } => Some(reason.clone()),
            ThreadEnd::Overrun => Some("stopped at its first overrun".into()),
            _ => None,
        });
        self.run
            .recording
            .append(Event::SegmentEnded(SegmentEnded {
                segment: self.segment.planned.segment,
                threads,
                loads,
            }))?;
        let observer = &mut self.run.observer;
        observer.segment_ended(self.segment, problem.as_deref());
        self.run.recording.check()
    }

    /// Records that it was not measured, and why.
    fn not_measured(&mut self, why: &NotMeasured) -> Result<(), MeasureError> {
        let spec = &self.segment.loop_spec;
        self.begin(started_threads(spec, 0, &[]))?;
        self.run.recording.memory.reset();
        let loads = match why {
            NotMeasured::NoLoad(reason) => {
                vec![LoadProof::missing(&self.segment.planned.phase, reason)]
            }
            _ => Vec::new(),
        };
        let obstacle = match why {
            NotMeasured::Refused(obstacle, _) => *obstacle,
            NotMeasured::Died { .. } | NotMeasured::NotReady => Obstacle::Died,
            _ => Obstacle::Other,
        };
        let end = LoopEnd::Of(ThreadEnd::Failed {
            obstacle,
            reason: why.to_string(),
        });
        self.finish(&end, &[], loads, Vec::new())
    }

    /// Where a loop that works for a controller of the user's own can be thought to be.
    fn in_controller(&self) -> String {
        let spec = &self.segment.loop_spec;
        match (spec.library(), spec.program()) {
            (Some(file), _) => format!(" in the controller {file}"),
            (None, Some([program, ..])) => format!(" in the program {program}"),
            (None, _) => String::new(),
        }
    }

    /// Why a loop could no longer run on its real-time core, if that is so: a core that is stopped ends those that
    /// are on it.
    fn core_that_is_gone(&self) -> String {
        let threads = self.segment.loop_spec.threads.iter();
        let policies = threads.map(|thread| thread.preparation.policy);
        let mut of_a_core = policies.filter(|policy| policy.is_of_a_co_kernel());
        let refusal = of_a_core.next().and_then(|policy| {
            let facts = Facts::read(&Root::host());
            facts.varying.cores.refusal(policy)
        });
        refusal.map_or_else(String::new, |why| format!("; {why}"))
    }

    /// A phase's own work or share of the cache might be the obstacle, so the policy can be measurable in
    /// another.
    fn key(&self) -> (String, String) {
        let planned = &self.segment.planned;
        (planned.condition.clone(), planned.phase.clone())
    }
}

fn not_started(source: std::io::Error) -> MeasureError {
    MeasureError::Start {
        which: "loop's",
        source,
    }
}

fn no_feather_trace(error: &std::io::Error) -> String {
    format!("LITMUS^RT's own tracing (Feather-Trace) is not recorded: {error}")
}
