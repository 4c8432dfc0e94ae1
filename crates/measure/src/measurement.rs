//! A run from its first event to its last: phases in their order, the loads of each, facts before,
//! during and after. What happens in a segment is in `segment`.

use crate::cache_allocation::{self, Places};
use crate::litmus_plugin;
use crate::load_proofs::PhaseLoads;
use crate::own_processes::OwnProcesses;
use crate::own_program;
use crate::plan::{PhaseRun, Plan, segment_ns};
use crate::recording::Recording;
use crate::segment::{NotMeasured, UnderWay};
use crate::stacks::Taken;
use crate::tracing::{TraceOrder, Tracing, traced_cpus};
use crate::{Interrupt, MeasureError, NotTraced, Observer, own_executable};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use wakepath_archive::{Ending, Event, FactsTaken, RunStarted, When};
use wakepath_directory::Directory;
use wakepath_load::{Caches, Loads, StartOptions};
use wakepath_machine::{Facts, Root};
use wakepath_probe::Ready;
use wakepath_rt::{affinity, clock, put_back_cobalt_affinity};
use wakepath_scenario::Scenario;

/// How long a load may take to do its first work: programs read files, start children, warm up.
const LOAD_START: Duration = Duration::from_secs(20);

/// Name of the loads' directory in the run directory.
pub const SCRATCH: &str = "scratch";

/// The parts of a run, and its observer.
pub struct Measurement<'a> {
    /// The measurements and their terms.
    pub scenario: &'a Scenario,
    /// The scenario laid out for this host.
    pub plan: &'a Plan,
    /// The run directory, which is empty.
    pub directory: &'a Directory,
    /// How the run describes itself in its first event; the plan is filled in here.
    pub start: RunStarted,
    /// Data caches, for loads whose working set is a cache's share.
    pub caches: Caches,
    /// Output of a user's program of the start that lists its loops.
    pub printed_before: Vec<u8>,
    /// How ready the machine is for this loop; recorded with its first facts.
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
    /// If measuring can't continue; data recorded until then is in the run directory.
    pub fn carry_out(self) -> Result<Ending, MeasureError> {
        // Everything but the loop and the loads stays off the loop's CPUs; children inherit it.
        affinity::pin(&self.plan.other_cpus()).map_err(MeasureError::Affinity)?;
        let recording = Recording::start(self.scenario, self.directory)?;
        if !self.printed_before.is_empty() {
            own_program::keep_printed(self.directory, &self.printed_before)
                .map_err(MeasureError::Program)?;
        }
        let scratch = self.directory.make_below(SCRATCH);
        let scratch = scratch.map_err(|source| MeasureError::Scratch {
            path: self.directory.path_of(SCRATCH),
            source,
        })?;
        let scratch = Scratch(self.directory, scratch);

        let longest_ns = self.segment_lengths(self.plan).max().unwrap_or(0);
        let traced = match &self.scenario.trace {
            None => None,
            Some(terms) => {
                let order = TraceOrder {
                    terms,
                    cpus: &traced_cpus(&self.plan.traced_cpus),
                    segment_ns: longest_ns,
                    marks: &[],
                    is_awaited: false,
                };
                let shared = recording.memory.file();
                Some(Tracing::start(&order, self.directory, shared))
            }
        };
        let untraced = match traced {
            Some(Err(_)) => Some(self.plan.untraced()),
            _ => None,
        };
        let plan = untraced.as_ref().unwrap_or(self.plan);
        let planned_ns = self.segment_lengths(plan).sum();
        self.observer.begun(plan, planned_ns, self.directory.path());
        let mut running = Running {
            scenario: self.scenario,
            plan,
            observer: self.observer,
            interrupt: self.interrupt,
            caches: self.caches,
            scratch: &scratch.1,
            directory: self.directory,
            recording,
            unavailable: HashMap::new(),
            said_once: HashMap::new(),
            tracing: None,
            stacks: None,
            own: OwnProcesses::default(),
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
        let ended = running.recording.end(ending);
        outcome.and_then(|ending| ended.map(|()| ending))
    }

    /// Time that each measured segment takes, without starting loads and processes.
    fn segment_lengths<'p>(&self, plan: &'p Plan) -> impl Iterator<Item = u64> + use<'p> {
        plan.segments()
            .map(|segment| segment_ns(&segment.loop_spec))
    }
}

/// A run under way.
pub(crate) struct Running<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) plan: &'a Plan,
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) interrupt: &'a Interrupt,
    caches: Caches,
    scratch: &'a Path,
    pub(crate) directory: &'a Directory,
    pub(crate) recording: Recording,
    /// Conditions in a phase that this process can't measure, with the reason.
    pub(crate) unavailable: HashMap<(String, String), NotMeasured>,
    /// Notes that need saying only once.
    said_once: HashMap<String, u64>,
    pub(crate) tracing: Option<Tracing>,
    /// Where the threads of the user's program waited in traced segments.
    pub(crate) stacks: Option<Taken>,
    /// Wakepath's own processes while a traced segment runs.
    pub(crate) own: OwnProcesses,
}

impl Running<'_> {
    fn all_phases(
        &mut self,
        start: RunStarted,
        readiness: serde_json::Value,
        traced: Option<Result<(Tracing, Ready), NotTraced>>,
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
            Ok(true) => self.say("released the share of the cache that a killed run had left")?,
            Err(reason) => self.say(&format!(
                "a share of the cache could not be released: {reason}"
            ))?,
        }
        if put_back_cobalt_affinity() {
            self.say("restored Cobalt's CPUs for new threads, which a killed run had restricted")?;
        }
        match litmus_plugin::put_back_litmus_plugin() {
            Ok(None) => {}
            Ok(Some(plugin)) => self.say(&format!(
                "restored LITMUS^RT's plugin {plugin}, which a killed run had switched"
            ))?,
            Err(reason) => self.say(&reason.to_string())?,
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
        self.keep_stacks()?;
        self.count_repeated()?;
        Ok(if self.interrupt.requested() {
            Ending::Interrupted
        } else {
            Ending::Complete
        })
    }

    /// Records how tracing is set up, or why there is none.
    fn note_tracing(
        &mut self,
        traced: Option<Result<(Tracing, Ready), NotTraced>>,
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

        let mut loads = if phase.loads.is_empty() {
            PhaseLoads::Idle
        } else {
            match self.start_loads(run) {
                Ok(loads) => PhaseLoads::Working(Box::new(loads)),
                Err(error) => {
                    let reason = error.to_string();
                    self.say(&format!("phase {}: {reason}", phase.name))?;
                    PhaseLoads::Missing(reason)
                }
            }
        };
        let middle = run.segments.len() / 2;
        for (position, segment) in run.segments.iter().enumerate() {
            if self.interrupt.requested() {
                break;
            }
            if position == middle {
                self.take_facts(When::During, Some(run))?;
            }
            UnderWay {
                run: self,
                segment,
                loads: &mut loads,
                stacks: None,
            }
            .carry_out()?;
        }
        if !self.interrupt.requested() {
            self.kernel_measures(&phase.name)?;
            self.core_latencies(run)?;
        }
        // The loads' own reports come with their end; each segment has its proof already.
        if let PhaseLoads::Working(loads) = loads {
            let _ = loads.stop();
        }
        self.take_facts(When::After, Some(run))
    }

    fn start_loads(&self, run: &PhaseRun) -> Result<Loads, wakepath_load::LoadError> {
        let mut options = StartOptions::new(own_executable(), self.scratch);
        options.measured_cpus = self.plan.loop_cpus.clone();
        options.caches = self.caches;
        options.delays = run.load_delays.clone();
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
        let mut facts = facts.to_json().map_err(MeasureError::Facts)?;
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

    /// Reports a note to the observer and the record, unless it was reported before.
    pub(crate) fn say_once(&mut self, text: String) -> Result<(), MeasureError> {
        let times = self.said_once.entry(text.clone()).or_insert(0);
        *times += 1;
        match *times {
            1 => self.say(&text),
            _ => Ok(()),
        }
    }

    /// Records how often each note that was written once came.
    fn count_repeated(&mut self) -> Result<(), MeasureError> {
        let mut repeated: Vec<(String, u64)> = self.said_once.drain().collect();
        repeated.retain(|(_, times)| *times > 1);
        repeated.sort_unstable();
        repeated.iter().try_for_each(|(text, times)| {
            // Its details and its fix were written the first time.
            let short = text.split(" (").next().unwrap_or(text);
            self.say(&format!("{times} times in all: {short}"))
        })
    }

    /// Tells the watcher and the record.
    pub(crate) fn say(&mut self, text: &str) -> Result<(), MeasureError> {
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
struct Scratch<'a>(&'a Directory, PathBuf);

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        // `wakepath recover` names anything that can't be removed.
        let _ = self.0.remove_below(SCRATCH);
    }
}
