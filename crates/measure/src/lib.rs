//! Carrying a scenario out: the recorder is started, phases follow each other, loads run through
//! their phases, one loop's process after the other is measured. Nothing is judged here; what
//! happened is in the run directory afterwards.

mod cache_allocation;
mod child;
mod error;
mod interrupt;
mod load_proofs;
mod observer;
mod own_group;
mod plan;
mod program;
pub mod recorder;
mod recording;
mod segment;
mod thread_records;
mod tracing;
mod trial;
pub mod watch;
mod work;

pub use child::own_executable;
pub use error::MeasureError;
pub use interrupt::Interrupt;
pub use observer::Observer;
pub use plan::{HostCpus, Plan, Segment};
pub use recorder::LiveFigures;
pub use tracing::{Watching, traced_cpus};
pub use trial::load_controllers;

use cache_allocation::Places;
use child::FromChild;
use load_proofs::SegmentLoads;
use plan::{PhaseRun, segment_ns};
use recorder::Reply;
use recording::Recording;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;
use tracing::{TraceOrder, Tracing};
use wakepath_archive::{Ending, Event, FactsTaken, RunStarted, When};
use wakepath_load::{Caches, Loads, StartOptions};
use wakepath_machine::{Facts, Root};
use wakepath_probe::Ready;
use wakepath_rt::{affinity, clock};
use wakepath_scenario::Scenario;

use wakepath_measured_loop::LoopReply;

/// How long a load may take to do its first work: programs read files, start children, warm up.
const LOAD_START: Duration = Duration::from_secs(20);

/// What comes from the processes that take part.
enum Message {
    Recorder(FromChild<Reply>),
    /// From the loop's process of this segment.
    Loop(u32, FromChild<LoopReply>),
    Probe(FromChild<wakepath_probe::Reply>),
}

/// What a run is made of, and who watches it.
pub struct Measurement<'a> {
    /// What is measured on which terms.
    pub scenario: &'a Scenario,
    /// The scenario laid out for this host.
    pub plan: &'a Plan,
    /// The run directory; empty or not there yet.
    pub directory: &'a Path,
    /// How the run describes itself in its first event; the plan is filled in here.
    pub start: RunStarted,
    /// Data caches, for loads whose working set is a cache's share.
    pub caches: Caches,
    /// How ready the machine is for this loop; recorded beside its first facts.
    pub readiness: serde_json::Value,
    /// Who watches.
    pub observer: &'a mut dyn Observer,
    /// Whether someone asked for the end.
    pub interrupt: &'a Interrupt,
}

impl Measurement<'_> {
    /// Carries the run out and returns how it ended.
    ///
    /// # Errors
    /// When measuring can't go on; what was recorded until then is in the run directory.
    pub fn carry_out(self) -> Result<Ending, MeasureError> {
        // Everything but the loop and the loads stays off the loop's CPUs; children inherit it.
        affinity::pin(&self.plan.other_cpus()).map_err(MeasureError::Affinity)?;
        let (sender, messages) = mpsc::channel();
        let recording = Recording::start(self.scenario, self.directory, &sender, &messages)?;
        let scratch = self.directory.join("scratch");
        std::fs::create_dir(&scratch).map_err(|source| MeasureError::Scratch {
            path: scratch.clone(),
            source,
        })?;
        let scratch = Scratch(scratch);

        let longest_ns = self.segment_lengths(self.plan).max().unwrap_or(0);
        let traced = match &self.scenario.trace {
            None => None,
            Some(terms) => {
                let order = TraceOrder {
                    terms,
                    cpus: &traced_cpus(&self.plan.loop_cpus),
                    segment_ns: longest_ns,
                };
                let shared = recording.memory.file();
                Some(Tracing::start(
                    &order,
                    self.directory,
                    shared,
                    &sender,
                    &messages,
                )?)
            }
        };
        let untraced = match traced {
            Some(Err(_)) => Some(self.plan.untraced()),
            _ => None,
        };
        let plan = untraced.as_ref().unwrap_or(self.plan);
        let planned_ns = self.segment_lengths(plan).sum();
        self.observer.begun(plan, planned_ns, self.directory);
        let mut running = Running {
            scenario: self.scenario,
            plan,
            observer: self.observer,
            interrupt: self.interrupt,
            caches: self.caches,
            scratch: &scratch.0,
            directory: self.directory,
            sender,
            messages,
            recording,
            unavailable: HashMap::new(),
            said_once: HashSet::new(),
            tracing: None,
        };
        let outcome = running.all_phases(self.start, self.readiness, traced);
        // The probe leaves before the log ends: nothing of it outlives the run.
        running.tracing = None;
        running.observer.finishing();
        let ending = match &outcome {
            Ok(ending) => ending.clone(),
            Err(error) => Ending::Failed {
                reason: error.to_string(),
            },
        };
        let ended = running.recording.end(ending, &running.messages);
        outcome.and_then(|ending| ended.map(|()| ending))
    }

    /// Time that each measured segment takes, without starting loads and processes.
    fn segment_lengths<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = u64> + 'a {
        plan.segments()
            .map(|segment| segment_ns(&plan.loop_spec(self.scenario, segment)))
    }
}

/// A run under way.
struct Running<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    observer: &'a mut dyn Observer,
    interrupt: &'a Interrupt,
    caches: Caches,
    scratch: &'a Path,
    directory: &'a Path,
    sender: Sender<Message>,
    messages: Receiver<Message>,
    recording: Recording,
    /// Conditions in a phase that this process can't measure, with the reason.
    unavailable: HashMap<(String, String), String>,
    /// Notes that need saying only once.
    said_once: HashSet<String>,
    tracing: Option<Tracing>,
}

impl Running<'_> {
    fn all_phases(
        &mut self,
        start: RunStarted,
        readiness: serde_json::Value,
        traced: Option<Result<(Tracing, Ready), String>>,
    ) -> Result<Ending, MeasureError> {
        let planned = self
            .plan
            .segments()
            .map(|segment| segment.planned.clone())
            .collect();
        self.recording
            .append(Event::RunStarted(Box::new(RunStarted { planned, ..start })))?;
        self.note_tracing(traced)?;
        let _latency_request = self.request_latency()?;
        match cache_allocation::remove_leftover(&Places::under(Path::new("/"))) {
            Ok(false) => {}
            Ok(true) => {
                self.say("the share of the cache that a killed run had left was given back")?
            }
            Err(reason) => {
                self.say(&format!("a share of the cache is not given back: {reason}"))?
            }
        }
        self.facts_with(When::Before, None, Some(readiness))?;
        let plan = self.plan;
        for phase in &plan.phases {
            if self.interrupt.requested() {
                break;
            }
            self.phase(phase)?;
        }
        self.take_facts(When::After, None)?;
        Ok(match self.interrupt.requested() {
            true => Ending::Interrupted,
            false => Ending::Complete,
        })
    }

    /// Records how tracing is set up, or why there is none.
    fn note_tracing(
        &mut self,
        traced: Option<Result<(Tracing, Ready), String>>,
    ) -> Result<(), MeasureError> {
        match traced {
            None => Ok(()),
            Some(Err(reason)) => self.say(&format!("not traced: {reason}")),
            Some(Ok((tracing, ready))) => {
                self.tracing = Some(tracing);
                for name in &ready.orphans {
                    self.say(&format!(
                        "removed the tracefs instance {name}, left by a process that was killed"
                    ))?;
                }
                self.recording.append(Event::TracingSetUp(ready.set_up))
            }
        }
    }

    fn phase(&mut self, run: &PhaseRun) -> Result<(), MeasureError> {
        let phase = &self.scenario.phases[run.phase];
        let names: Vec<String> = phase
            .loads
            .iter()
            .map(|load| load.kind.name().to_owned())
            .collect();
        self.observer.phase(&phase.name, run.repetition, &names);
        self.take_facts(When::Before, Some(run))?;

        let mut loads = match phase.loads.is_empty() {
            true => SegmentLoads::Idle,
            false => match self.start_loads(run) {
                Ok(loads) => SegmentLoads::Working(Box::new(loads)),
                Err(error) => {
                    let reason = error.to_string();
                    self.say(&format!("phase {}: {reason}", phase.name))?;
                    SegmentLoads::Missing(reason)
                }
            },
        };
        let middle = run.segments.len() / 2;
        for (position, segment) in run.segments.iter().enumerate() {
            if self.interrupt.requested() {
                break;
            }
            if position == middle {
                self.take_facts(When::During, Some(run))?;
            }
            self.segment(segment, &mut loads)?;
        }
        if !self.interrupt.requested() {
            self.kernel_measures(&phase.name)?;
        }
        // The loads' own reports come with their end; each segment has its proof already.
        if let SegmentLoads::Working(loads) = loads {
            let _ = loads.stop();
        }
        self.take_facts(When::After, Some(run))
    }

    fn start_loads(&self, run: &PhaseRun) -> Result<Loads, wakepath_load::LoadError> {
        let mut options = StartOptions::new(own_executable(), self.scratch);
        options.measured_cpus = self.plan.loop_cpus.clone();
        options.caches = self.caches;
        let mut loads = Loads::start(&self.scenario.phases[run.phase].loads, &options)?;
        loads.wait_until_working(LOAD_START)?;
        Ok(loads)
    }

    fn take_facts(&mut self, when: When, run: Option<&PhaseRun>) -> Result<(), MeasureError> {
        self.facts_with(when, run, None)
    }

    fn facts_with(
        &mut self,
        when: When,
        run: Option<&PhaseRun>,
        readiness: Option<serde_json::Value>,
    ) -> Result<(), MeasureError> {
        let facts = Facts::read(&Root::host());
        let mut facts = serde_json::to_value(&facts).map_err(MeasureError::Facts)?;
        if let (Some(readiness), Some(facts)) = (readiness, facts.as_object_mut()) {
            facts.insert(wakepath_readiness::READINESS_KEY.to_owned(), readiness);
        }
        self.recording.append(Event::FactsTaken(FactsTaken {
            when,
            phase: run.map(|run| self.scenario.phases[run.phase].name.clone()),
            repetition: run.map(|run| run.repetition),
            at_ns: clock::monotonic_ns(),
            facts,
        }))
    }

    /// Tells the watcher and the record.
    fn say(&mut self, text: &str) -> Result<(), MeasureError> {
        self.observer.note(text);
        self.recording.append(Event::Note { text: text.into() })
    }

    /// Holds `/dev/cpu_dma_latency` for as long as the result lives: the kernel takes the request
    /// back when its holder ends, however it ends.
    fn request_latency(&mut self) -> Result<Option<File>, MeasureError> {
        let Some(microseconds) = self.scenario.cpu_dma_latency_us else {
            return Ok(None);
        };
        let request = || -> std::io::Result<File> {
            let mut file = File::options().write(true).open("/dev/cpu_dma_latency")?;
            file.write_all(&(microseconds as i32).to_ne_bytes())?;
            Ok(file)
        };
        let file = request().map_err(MeasureError::CpuDmaLatency)?;
        self.say(&format!(
            "/dev/cpu_dma_latency is held at {microseconds} µs during the run"
        ))?;
        Ok(Some(file))
    }
}

/// The loads' directory, which goes when the run is over.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed is named by `wakepath recover`.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
