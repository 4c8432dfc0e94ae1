//! Differences between two runs in machine, kernel and scenario: they forbid a comparison, might
//! explain its findings, or are only notes.

use super::cores;
use super::threads::Threads;
use crate::error::AssessmentError;
use crate::identity::scenario_of;
use crate::loads::{LoadSummary, summarise};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use wakepath_archive::Run;
use wakepath_machine::{ChangedFact, Facts, Severity};
use wakepath_scenario::{Scenario, Task, Work};
use wakepath_timeline::number::three_digits;
use wakepath_timeline::{CpuSet, one_line};
use wakepath_verdict::{counted, duration};

/// Meaning of a difference for a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// The runs measured different things.
    Forbids,
    /// It is compared, or might explain the findings.
    Explains,
    /// To be known.
    Note,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its part: `machine`, `settings`, `scenario`, `loads` or `tool`.
    pub part: &'static str,
    /// The setting that differs.
    pub what: String,
    /// As it is in the one run.
    pub base: String,
    /// As it is in the other.
    pub against: String,
    /// Its meaning.
    pub weight: Weight,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} against {}", self.what, self.base, self.against)
    }
}

/// A run as far as it is compared with others.
pub(crate) struct Subject {
    pub(crate) directory: String,
    pub(crate) scenario: Scenario,
    tool: (String, String),
    time: String,
    pub(super) facts: Option<Facts>,
    /// The threads, each a condition of its own, if the program was observed: their number is no setting of the
    /// scenario.
    pub(super) threads: Option<Threads>,
    loads: Vec<LoadSummary>,
}

/// A load whose work differs by this share from the other side's is reported.
const LOAD_APART: f64 = 0.25;

impl Subject {
    pub(crate) fn new(run: &Run) -> Result<Self, AssessmentError> {
        let manifest = &run.manifest;
        let facts = manifest.facts.first().map(|looked| looked.facts.clone());
        let scenario = scenario_of(run)?;
        let is_observed = manifest.imported.is_some() && !Scenario::are_alike(&scenario.tasks);
        Ok(Self {
            directory: run.directory().display().to_string(),
            threads: is_observed.then(|| Threads::new(run)),
            scenario,
            tool: (manifest.tool.name.clone(), manifest.tool.version.clone()),
            time: match &manifest.virtual_time {
                Some(time) => format!("virtual, {} ns an instruction", time.ns_per_instruction),
                None => "real".into(),
            },
            facts: facts.and_then(|facts| Facts::of_json(&facts).ok()),
            loads: summarise(&manifest.segments),
        })
    }

    /// For each thread of another run that is in both, its name there and the name here; `None` unless both programs
    /// were observed. If no thread is in both, each has its own name.
    pub(super) fn names_in<'a>(&'a self, other: &'a Self) -> Option<BTreeMap<&'a str, &'a str>> {
        let (own, others) = self.threads.as_ref().zip(other.threads.as_ref())?;
        let names = own.names_in(others);
        (!names.is_empty()).then_some(names)
    }

    /// Differences, most serious first.
    pub(crate) fn differences_from(&self, other: &Self) -> Vec<Difference> {
        let mut found = Found(Vec::new());
        self.tools(other, &mut found);
        self.tasks(other, &mut found);
        scenarios(&self.scenario, &other.scenario, &mut found);
        if let (Some(one), Some(two)) = (&self.facts, &other.facts) {
            machines(one, two, &mut found);
        }
        self.loads(other, &mut found);
        let mut found = found.0;
        found.sort_by_cached_key(|difference| match difference.weight {
            Weight::Forbids => 0,
            Weight::Explains => 1,
            Weight::Note => 2,
        });
        found
    }

    fn tools(&self, other: &Self, found: &mut Found) {
        found.differs(
            "tool",
            Weight::Forbids,
            "measured by",
            &self.tool.0,
            &other.tool.0,
        );
        found.differs("tool", Weight::Forbids, "time", &self.time, &other.time);
        if self.tool.0 == other.tool.0 {
            let what = format!("version of {}", self.tool.0);
            found.differs("tool", Weight::Note, &what, &self.tool.1, &other.tool.1);
        }
    }

    /// Periods and threads.
    fn tasks(&self, other: &Self, found: &mut Found) {
        let (one, two) = (&self.scenario, &other.scenario);
        if let Some((own, others)) = self.threads.as_ref().zip(other.threads.as_ref()) {
            let Some(names) = self.names_in(other) else {
                let what = "threads without one in both";
                let (own, others) = (own.list(), others.list());
                found.differs("scenario", Weight::Forbids, what, &own, &others);
                return;
            };
            let named = |tasks: &'_ [Task], name: &str| {
                tasks.iter().find(|task| task.name == name).cloned()
            };
            for (other_name, name) in names {
                let pair = named(&one.tasks, name).zip(named(&two.tasks, other_name));
                if let Some((task, twin)) = pair {
                    placed(&task, &twin, found);
                }
            }
            let count = |of: &Scenario| of.tasks.len().to_string();
            let what = "number of threads";
            found.differs("scenario", Weight::Note, what, &count(one), &count(two));
            return;
        }
        let period = |scenario: &Scenario| duration(scenario.period_ns as i64);
        let mut forbids = |what: &str, base: String, against: String| {
            found.differs("scenario", Weight::Forbids, what, &base, &against);
        };
        forbids("period", period(one), period(two));
        let threads = |scenario: &Scenario| scenario.tasks.len().to_string();
        forbids("threads of the loop", threads(one), threads(two));
        for (task, twin) in one.tasks.iter().zip(&two.tasks) {
            task_apart(task, twin, found);
        }
    }

    fn loads(&self, other: &Self, found: &mut Found) {
        for load in &self.loads {
            let same =
                |known: &&LoadSummary| (&known.phase, &known.load) == (&load.phase, &load.load);
            let Some(twin) = other.loads.iter().find(same) else {
                continue;
            };
            let (low, high) = (
                load.per_second.min(twin.per_second),
                load.per_second.max(twin.per_second),
            );
            if high > low * (1.0 + LOAD_APART) {
                let text = |load: &LoadSummary| {
                    format!("{} {}/s", three_digits(load.per_second), load.unit)
                };
                found.0.push(Difference {
                    part: "loads",
                    what: format!("work of load {}, {}", load.load, load.phase),
                    base: text(load),
                    against: text(twin),
                    weight: Weight::Note,
                });
            }
        }
    }
}

fn machines(one: &Facts, two: &Facts, found: &mut Found) {
    let apart = one.apart_from(two);
    for change in apart.hardware {
        let (what, base, against) = (&change.what, &change.before, &change.after);
        found.differs("machine", Weight::Forbids, what, base, against);
    }
    // Of the same core a change of it is among the settings.
    let (its, theirs) = (&one.varying.cores, &two.varying.cores);
    if !cores::are_the_same(its, theirs) {
        let (base, against) = (cores::gravities(its), cores::gravities(theirs));
        let what = "timer gravity of a real-time core";
        found.differs("settings", Weight::Explains, what, &base, &against);
    }
    for change in apart.settings {
        // A log-in has its own group; its limits are a separate fact.
        let incidental = change.fact == ChangedFact::OwnControlGroup;
        let weight = match change.severity {
            Severity::Serious if !incidental => Weight::Explains,
            _ => Weight::Note,
        };
        found.differs(
            "settings",
            weight,
            &change.what,
            &change.before,
            &change.after,
        );
    }
}

/// Two tasks in one place of their scenarios.
fn task_apart(task: &Task, twin: &Task, found: &mut Found) {
    let mut differs = |weight, what: &str, base: String, against: String| {
        found.differs("scenario", weight, what, &base, &against);
    };
    let forbids = Weight::Forbids;
    let of = format!("of thread {}", task.name);
    let (work, its) = match (&task.work, &twin.work) {
        (Work::Program { command }, Work::Program { command: its }) => {
            (one_line(&command.join(" ")), one_line(&its.join(" ")))
        }
        (one, two) => apart(one, two),
    };
    if matches!(task.work, Work::Program { .. }) {
        differs(
            forbids,
            "name of the program's loop",
            task.name.clone(),
            twin.name.clone(),
        );
    }
    let weight = releases(&task.work, &twin.work);
    differs(weight, &format!("work {of}"), work, its);
    let period = |task: &Task| duration(task.period_ns as i64);
    differs(forbids, &format!("period {of}"), period(task), period(twin));
    placed(task, twin, found);
}

/// Where a thread runs, and its own policy.
fn placed(task: &Task, twin: &Task, found: &mut Found) {
    let mut explains = |what: String, base: String, against: String| {
        found.differs("scenario", Weight::Explains, &what, &base, &against);
    };
    let cpus = |cpus: &Option<CpuSet>| {
        cpus.as_ref()
            .map_or("left to wakepath".into(), ToString::to_string)
    };
    let what = format!("CPUs of thread {}", task.name);
    explains(what, cpus(&task.cpus), cpus(&twin.cpus));
    if let Some((own, its)) = task.policy.zip(twin.policy) {
        let what = format!("policy of thread {}", task.name);
        explains(what, own.to_string(), its.to_string());
    }
}

fn scenarios(one: &Scenario, two: &Scenario, found: &mut Found) {
    let mut differs = |weight, what: &str, base: String, against: String| {
        found.differs("scenario", weight, what, &base, &against);
    };
    let (forbids, explains, note) = (Weight::Forbids, Weight::Explains, Weight::Note);
    for phase in &one.phases {
        let Some(twin) = two.phases.iter().find(|twin| twin.name == phase.name) else {
            continue;
        };
        let loads = |phase: &wakepath_scenario::Phase| match phase.loads.as_slice() {
            [] => "none".to_owned(),
            loads => loads.iter().map(said).collect::<Vec<_>>().join(", "),
        };
        let what = format!("loads of phase {}", phase.name);
        differs(forbids, &what, loads(phase), loads(twin));
        let what = format!("work in phase {}", phase.name);
        let (work, its) = apart(&phase.work, &twin.work);
        differs(forbids, &what, work, its);
    }
    differs(forbids, "wake-up", said(&one.wake_up), said(&two.wake_up));
    differs(
        forbids,
        "after an overrun",
        said(&one.overrun),
        said(&two.overrun),
    );
    differs(
        explains,
        "timer slack",
        said(&one.timer_slack),
        said(&two.timer_slack),
    );
    let latency = |scenario: &Scenario| match scenario.cpu_dma_latency_us {
        Some(us) => format!("{us} µs"),
        None => "left alone".to_owned(),
    };
    differs(explains, "cpu-dma-latency", latency(one), latency(two));
    differs(
        explains,
        "read at each cycle",
        said(&one.accounting),
        said(&two.accounting),
    );
    differs(
        note,
        "due times of a condition",
        one.cycles.to_string(),
        two.cycles.to_string(),
    );
    differs(
        note,
        "repetitions",
        one.repetitions.to_string(),
        two.repetitions.to_string(),
    );
    let warm_up = |scenario: &Scenario| duration(scenario.warm_up_ns as i64);
    differs(note, "warm-up", warm_up(one), warm_up(two));
    if one.criterion != two.criterion {
        differs(
            note,
            "criterion",
            "its own, used for all".into(),
            "another".into(),
        );
    }
}

/// Two releases of a user's controller or program may be compared; other work is another measurement.
fn releases(one: &Work, two: &Work) -> Weight {
    match (one, two) {
        // A changed program is exactly what one compares; whose loops are others has another number
        // of them, other periods, or other names.
        (Work::Program { .. }, Work::Program { .. }) => Weight::Explains,
        (Work::Library(one), Work::Library(two))
            if (one.is_python(), &one.flight) == (two.is_python(), &two.flight) =>
        {
            Weight::Explains
        }
        _ => Weight::Forbids,
    }
}

/// A value of the scenario in words; a file's text by its digest.
fn said(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(mut value) => {
            name_texts(&mut value);
            super::words::in_words(&value)
        }
        Err(_) => "unknown".into(),
    }
}

/// Two values of the scenario, each by what only it has.
fn apart(one: &impl Serialize, two: &impl Serialize) -> (String, String) {
    match (serde_json::to_value(one), serde_json::to_value(two)) {
        (Ok(mut one), Ok(mut two)) => {
            name_texts(&mut one);
            name_texts(&mut two);
            super::words::apart(&one, &two)
        }
        _ => (said(one), said(two)),
    }
}

/// A vehicle or a table of tasks is many lines: which one it is, its digest tells.
fn name_texts(value: &mut Value) {
    match value {
        Value::String(text) if text.contains('\n') => {
            let digest = Sha256::digest(text.as_bytes());
            let digest: String = digest[..6]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            let lines = counted(text.lines().count() as u64, "line", "lines");
            *text = format!("{lines}, SHA-256 {digest}…");
        }
        Value::Array(values) => values.iter_mut().for_each(name_texts),
        Value::Object(members) => members.values_mut().for_each(name_texts),
        _ => {}
    }
}

struct Found(Vec<Difference>);

impl Found {
    fn differs(
        &mut self,
        part: &'static str,
        weight: Weight,
        what: &str,
        base: &str,
        against: &str,
    ) {
        if base != against {
            self.0.push(Difference {
                part,
                what: what.to_owned(),
                base: base.to_owned(),
                against: against.to_owned(),
                weight,
            });
        }
    }
}

/// Questions that the differences leave open.
pub(crate) fn cautions(
    differences: &[Difference],
    base: &[Subject],
    against: &[Subject],
) -> Vec<String> {
    let mut cautions = Vec::new();
    let explain = differences
        .iter()
        .filter(|d| d.weight == Weight::Explains)
        .count();
    match explain {
        0 if differences.iter().all(|d| d.weight == Weight::Note) => cautions.push(
            "no recorded setting differs between the sides: the result is chance, drift, or an unrecorded change"
                .to_owned(),
        ),
        0 | 1 => {}
        several => cautions.push(format!(
            "{several} settings differ between the sides: this comparison can't show which one \
             matters"
        )),
    }
    let blind = base
        .iter()
        .chain(against)
        .filter(|subject| subject.facts.is_none());
    for subject in blind {
        cautions.push(format!(
            "{} holds no facts of its machine: its machine and kernel might differ",
            subject.directory
        ));
    }
    cautions
}
