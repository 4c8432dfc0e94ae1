//! Writes a resolved scenario as TOML that reads back to the same scenario.
//!
//! Archives store this form and reruns read it. Every default is written out. A library writes the
//! TOML itself.

mod entries;
mod ethercat;
mod work;

use crate::units::format_size;
use crate::{
    Criterion, FlightTerms, FlightVehicle, GpuInterface, LoadKind, LoadSpec, Phase, PluginSwitch,
    Scenario, Task, TimerSlack, Trace, Word, WorkingSet,
};
use entries::{Entries, word};
use toml::Value;
use wakepath_timeline::Policy;
use wakepath_timeline::duration::exact_ascii as time;
use work::work;

impl Scenario {
    /// The scenario as a TOML file. On a machine that has its CPUs, [`Scenario::parse`] reads the
    /// same scenario back.
    pub fn to_toml(&self) -> String {
        let single_loop = match self.tasks.as_slice() {
            [task]
                if task.name == "loop"
                    && task.policy.is_none()
                    && task.overrun.is_none()
                    && task.response_bound_ns.is_none() =>
            {
                Some(task)
            }
            _ => None,
        };
        let policies: Vec<Value> = self.policies.iter().map(policy).collect();
        let tasks: Vec<Value> = match single_loop {
            Some(_) => Vec::new(),
            None => self.tasks.iter().map(task).collect(),
        };
        let accounting = Entries::new()
            .with("cpu-time", self.accounting.cpu_time)
            .with("switches", self.accounting.switches)
            .with("counters", self.accounting.counters);
        let file = Entries::new()
            .with("name", self.name.as_str())
            .with("description", self.description.as_str())
            .maybe("period", single_loop.map(|task| time(task.period_ns)))
            .maybe("cpus", single_loop.and_then(cpus))
            .maybe("work", single_loop.map(|task| work(&task.work)))
            .with("cycles", self.cycles.cast_signed())
            .with("repetitions", self.repetitions)
            .with("warm-up", time(self.warm_up_ns))
            .maybe("policies", (!policies.is_empty()).then_some(policies))
            .with("wake-up", word(self.wake_up))
            .with("overrun", word(self.overrun))
            .with(
                "timer-slack",
                match self.timer_slack {
                    TimerSlack::Leave => "leave".to_owned(),
                    TimerSlack::Set(ns) => time(ns),
                },
            )
            .with(
                "cpu-dma-latency",
                match self.cpu_dma_latency_us {
                    None => "leave".to_owned(),
                    Some(us) => format!("{us} us"),
                },
            )
            .with(
                "litmus-plugin",
                match self.litmus_plugin {
                    PluginSwitch::Leave => "leave",
                    PluginSwitch::Switch => "switch",
                },
            )
            .with(
                "core-latency",
                self.core_latency_ns.map_or_else(|| "none".to_owned(), time),
            )
            .with("accounting", accounting)
            .maybe("trace", self.trace.as_ref().map(trace))
            .with("criterion", criterion(&self.criterion))
            .maybe("flight", self.flight.as_ref().map(flight))
            .with("phases", self.phases.iter().map(phase).collect::<Vec<_>>())
            .maybe("tasks", (!tasks.is_empty()).then_some(tasks));
        file.into_text()
    }
}

fn task(task: &Task) -> Value {
    Entries::new()
        .with("name", task.name.as_str())
        .with("period", time(task.period_ns))
        .with("work", work(&task.work))
        .maybe("policy", task.policy.as_ref().map(policy))
        .maybe("cpus", cpus(task))
        .maybe("overrun", task.overrun.map(word))
        .maybe("response-bound", task.response_bound_ns.map(time))
        .into()
}

fn cpus(task: &Task) -> Option<String> {
    task.cpus.as_ref().map(ToString::to_string)
}

fn policy(policy: &Policy) -> Value {
    policy.in_full().into()
}

fn phase(phase: &Phase) -> Value {
    Entries::new()
        .with("name", phase.name.as_str())
        .with("loads", phase.loads.iter().map(load).collect::<Vec<_>>())
        .maybe("work", phase.work.as_ref().map(work))
        .maybe("l3-share", phase.l3_share)
        .into()
}

fn trace(terms: &Trace) -> Value {
    let keys = Entries::new()
        .maybe("backend", terms.backend.map(word))
        .maybe("mode", terms.mode.map(word))
        .maybe("buffer", terms.buffer_bytes.map(format_size))
        .maybe("keep-above", terms.keep_above_ns.map(time))
        .maybe("timerlat", terms.timerlat_ns.map(time))
        .maybe("osnoise", terms.osnoise_ns.map(time))
        .maybe("sections", terms.sections_ns.map(time));
    match keys.is_empty() {
        true => true.into(),
        false => keys.into(),
    }
}

fn criterion(criterion: &Criterion) -> Value {
    Entries::new()
        .maybe("latency", criterion.latency_ns.map(time))
        .with("deadline", time(criterion.deadline_ns))
        .with("miss-fraction", criterion.miss_fraction)
        .maybe("evidence", criterion.evidence)
        .with("confidence", criterion.confidence)
        .maybe(
            "consecutive-misses",
            criterion.consecutive_misses.map(u64::cast_signed),
        )
        .maybe("outage", criterion.outage_ns.map(time))
        .maybe(
            "mode-switches",
            (criterion.mode_switches > 0.0).then_some(criterion.mode_switches),
        )
        .with("policies", word(criterion.policies))
        .into()
}

fn flight(terms: &FlightTerms) -> Value {
    let choices = &terms.choices;
    vehicle(&terms.vehicle)
        .with("sample", choices.sampling.word())
        .with("missed", choices.missed.word())
        .with("overrun", choices.overrun.word())
        .with("trajectory", terms.course.word())
        .with("lost", terms.criterion.lost.word())
        .with("seed", terms.seed.cast_signed())
        .maybe("task", terms.task.as_deref())
        .maybe("delay-margin", terms.criterion.delay_margin_ns.map(time))
        .maybe("peak-tilt", terms.criterion.peak_tilt_deg)
        .into()
}

fn vehicle(vehicle: &FlightVehicle) -> Entries {
    let (key, text) = match vehicle {
        FlightVehicle::BuiltIn(name) => ("vehicle", name),
        FlightVehicle::File(path) => ("vehicle-file", path),
        FlightVehicle::Text(text) => ("vehicle-text", text),
    };
    Entries::new().with(key, text.as_str())
}

fn load(load: &LoadSpec) -> Value {
    let kind = match &load.kind {
        LoadKind::Memory {
            working_set,
            access,
        } => {
            let size = match working_set {
                WorkingSet::Bytes(bytes) => format_size(*bytes),
                WorkingSet::L1 => "l1".to_owned(),
                WorkingSet::L2 => "l2".to_owned(),
                WorkingSet::L3 => "l3".to_owned(),
                WorkingSet::Dram => "dram".to_owned(),
            };
            let all = Entries::new().with("kind", "memory");
            all.with("working-set", size).with("access", access.word())
        }
        LoadKind::Ethercat { period_ns, bus } => {
            let cpus = load.cpus.as_ref().map(ToString::to_string);
            return Entries::new()
                .with("kind", "ethercat")
                .with("period", time(*period_ns))
                .and(ethercat::bus(bus))
                .maybe("cpus", cpus)
                .into();
        }
        LoadKind::Gpu {
            work,
            interface,
            device,
        } => {
            return Entries::new()
                .with("kind", "gpu")
                .with("work", work.word())
                .maybe("interface", interface.map(GpuInterface::word))
                .with("device", *device)
                .maybe("cpus", load.cpus.as_ref().map(ToString::to_string))
                .into();
        }
        // Its other kinds are written as they are called: a kind, and its words.
        other => Entries::of(other),
    };
    let workers: Value = match load.workers {
        0 => "per-cpu".into(),
        workers => workers.into(),
    };
    kind.with("workers", workers)
        .maybe("cpus", load.cpus.as_ref().map(ToString::to_string))
        .into()
}
