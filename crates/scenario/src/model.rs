//! The resolved scenario, for the code that measures.
//!
//! Everything optional in the file has its value here.

use crate::{Criterion, FlightTerms, LoadSpec, Work};
use serde::Serialize;
use wakepath_timeline::{CpuSet, Overrun, Policy, WakeUp};

/// A checked scenario with every default filled in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scenario {
    /// Short name, such as `pi5-250hz`.
    pub name: String,
    /// The experiment's purpose, one or two sentences.
    pub description: String,
    /// Period of the loop in nanoseconds. With a task set or stepped periods: the shortest.
    pub period_ns: u64,
    /// Judged due times of each condition (a policy under a phase's load), over all repetitions,
    /// of the thread with the shortest period.
    pub cycles: u64,
    /// How often the whole list of phases and policies is gone through, so that drift hits all
    /// conditions alike. Each repetition has its share of the cycles.
    pub repetitions: u32,
    /// Recorded but not judged, at the start of every segment, in nanoseconds.
    pub warm_up_ns: u64,
    /// The policies to compare; each makes one condition with each phase. Empty for a task set in
    /// which every task has its own policy.
    pub policies: Vec<Policy>,
    /// Idle and loads, in order.
    pub phases: Vec<Phase>,
    /// The loop's threads; at least one.
    pub tasks: Vec<Task>,
    /// How a thread is woken.
    pub wake_up: WakeUp,
    /// Behaviour when work runs into the next due time.
    pub overrun: Overrun,
    /// Timer slack for policies that are not real-time.
    pub timer_slack: TimerSlack,
    /// Upper bound on idle exit latency to request through `/dev/cpu_dma_latency`, in
    /// microseconds; `None` leaves it untouched.
    pub cpu_dma_latency_us: Option<u32>,
    /// Whether to switch LITMUS^RT's plugin to the one that a condition needs.
    pub litmus_plugin: PluginSwitch,
    /// Duration of EVL's or Cobalt's own measurement of latencies, for each of its policies at the
    /// end of each phase, in nanoseconds: whole seconds. `None`: no measurement.
    pub core_latency_ns: Option<u64>,
    /// Values to read at every cycle in addition to the clock.
    pub accounting: Accounting,
    /// Kernel events, recorded in further segments of each condition; `None`: none are.
    pub trace: Option<Trace>,
    /// The loop's tolerance.
    pub criterion: Criterion,
    /// The vehicle to fly through the measured times; `None`: no flight.
    pub flight: Option<FlightTerms>,
}

impl Scenario {
    /// Whether tasks are replicas of one loop and judged as one: same period, and the condition's
    /// policy. Threads of different periods have different deadlines and can't share a figure.
    pub fn are_alike(tasks: &[Task]) -> bool {
        tasks
            .windows(2)
            .all(|two| two[0].period_ns == two[1].period_ns)
            && tasks.iter().all(|task| task.policy.is_none())
    }
}

/// Part of the run under one set of loads.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Phase {
    /// Name shown in tables, such as `idle` or `stress`.
    pub name: String,
    /// Loads that run together; none for idle.
    pub loads: Vec<LoadSpec>,
    /// The loop's work in this phase, instead of its tasks' own.
    pub work: Option<Work>,
    /// Share of the last-level cache that the loop has to itself in this phase; `None`: it shares
    /// all of it with everything else.
    pub l3_share: Option<f64>,
}

/// One thread of the loop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Task {
    /// Name, shown if there are several tasks.
    pub name: String,
    /// Period in nanoseconds.
    pub period_ns: u64,
    /// CPUs to which the thread is pinned; `None`: wakepath chooses the highest CPU (never CPU 0 if
    /// there is another).
    pub cpus: Option<CpuSet>,
    /// The thread's own policy in a task set; `None`: the condition's.
    pub policy: Option<Policy>,
    /// Behaviour when its work runs into the next due time; `None`: the scenario's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overrun: Option<Overrun>,
    /// Its work in each cycle.
    pub work: Work,
    /// The bound on its response from an analysis, in nanoseconds, which is compared with the
    /// observed responses. `None`: no bound.
    pub response_bound_ns: Option<u64>,
}

/// Timer slack of loops whose policy is not real-time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimerSlack {
    /// Keep the inherited slack (50 µs by default), as a loop that doesn't set it has.
    Leave,
    /// Set this number of nanoseconds; 1 by default.
    Set(u64),
}

/// Permission to switch LITMUS^RT's active plugin, which affects the whole machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PluginSwitch {
    /// Leave it: policies of another plugin are refused.
    #[default]
    Leave,
    /// Switch to that of each condition while it is measured, and back.
    Switch,
}

/// Values to read at every cycle in addition to the clock; each costs a system call in the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Accounting {
    /// Thread CPU time.
    pub cpu_time: bool,
    /// Involuntary context switches.
    pub switches: bool,
    /// Hardware counters around the work; no system call, if the machine has them.
    pub counters: bool,
}

/// Kernel events recorded in traced segments: each segment of the run is measured once more, with
/// tracing, next to the one without. Conditions are judged by those without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Trace {
    /// The recording backend; `None`: a tracefs instance, or perf if none can be created.
    pub backend: Option<TraceBackend>,
    /// Mode of the buffer; `None`: a flight recorder if the longest segment fits, else drained.
    pub mode: Option<TraceBuffer>,
    /// Bytes of each CPU's buffer; `None`: chosen by the segment's length and the memory there is.
    pub buffer_bytes: Option<u64>,
    /// Wake-up latency in nanoseconds above which the events around a cycle are kept; `None`: all
    /// events are kept.
    pub keep_above_ns: Option<u64>,
    /// Duration of the kernel's own measurement in each phase, in nanoseconds; `None`: no
    /// measurement.
    pub timerlat_ns: Option<u64>,
    /// Duration of the kernel's measurement of withheld CPU time in each phase, in nanoseconds;
    /// `None`: no measurement.
    pub osnoise_ns: Option<u64>,
    /// Duration of the measurement of the kernel's sections in each phase, in nanoseconds; `None`:
    /// no measurement.
    pub sections_ns: Option<u64>,
}

impl Trace {
    /// Time of each phase in addition to its cycles, for each CPU of the loop, in nanoseconds.
    pub fn by_kernel_ns(&self) -> u64 {
        let all = [self.timerlat_ns, self.osnoise_ns, self.sections_ns];
        all.into_iter().flatten().sum()
    }
}

/// Backends for recording kernel events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceBackend {
    /// An instance of tracefs.
    Tracefs,
    /// `perf_event_open`.
    Perf,
}

/// How a trace's buffer is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceBuffer {
    /// Nobody reads while the segment runs; the oldest events are overwritten.
    FlightRecorder,
    /// A process empties it while the segment runs.
    Drained,
}

impl Scenario {
    /// The work of every task and of every phase that has its own.
    pub fn works(&self) -> impl Iterator<Item = &Work> {
        let own = self.phases.iter().filter_map(|phase| phase.work.as_ref());
        self.tasks.iter().map(|task| &task.work).chain(own)
    }

    /// A task's work in a phase.
    pub fn work_in<'a>(&'a self, phase: &str, task: &'a Task) -> &'a Work {
        let named = self.phases.iter().find(|known| known.name == phase);
        named
            .and_then(|phase| phase.work.as_ref())
            .unwrap_or(&task.work)
    }

    /// As [`Self::works`], mutable: used to replace a vehicle's file by its text.
    pub fn works_mut(&mut self) -> impl Iterator<Item = &mut Work> {
        let own = self.phases.iter_mut().filter_map(|p| p.work.as_mut());
        self.tasks.iter_mut().map(|task| &mut task.work).chain(own)
    }
}
