//! The facts in a dozen labelled lines for a terminal.
//!
//! Unknown facts are shown as unknown, with the reason; nothing is judged.

use crate::{
    DebugFiles, Facts, LatencyHolders, NO_LATENCY_REQUEST_US, Reading, Standing, TICK_NS,
    VirtualisedBy,
};
use serde::Serialize;
use std::fmt;
use wakepath_timeline::count::counted;

/// Topic of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the labels say it")]
pub enum Topic {
    Machine,
    Kernel,
    Preemption,
    Cpus,
    Caches,
    Isolation,
    Frequency,
    IdleStates,
    Clock,
    RealTime,
    Core,
    ControlGroup,
    Virtual,
    Memory,
    Heat,
}

impl Topic {
    /// As printed in front of the line.
    pub fn label(self) -> &'static str {
        match self {
            Self::Machine => "Machine",
            Self::Kernel => "Kernel",
            Self::Preemption => "Preemption",
            Self::Cpus => "CPUs",
            Self::Caches => "Caches",
            Self::Isolation => "Isolation",
            Self::Frequency => "Frequency",
            Self::IdleStates => "Idle states",
            Self::Clock => "Clock",
            Self::RealTime => "Real time",
            Self::Core => "Core",
            Self::ControlGroup => "Control group",
            Self::Virtual => "Virtual",
            Self::Memory => "Memory",
            Self::Heat => "Heat",
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.label())
    }
}

/// One line: in JSON a pair of label and text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(into = "(&'static str, String)")]
pub struct SummaryLine {
    /// Its topic.
    pub topic: Topic,
    /// The whole text.
    pub text: String,
    /// The same in a few words for a heading; none if there is nothing to name.
    pub brief: Option<String>,
}

impl From<SummaryLine> for (&'static str, String) {
    fn from(line: SummaryLine) -> Self {
        (line.topic.label(), line.text)
    }
}

/// The lines in the order of reading.
pub(crate) fn lines(facts: &Facts) -> Vec<SummaryLine> {
    let line = |topic, text, brief| SummaryLine { topic, text, brief };
    let whole = |topic, text| line(topic, text, None);
    let (name, release) = (
        facts.fixed.platform.name(),
        facts.fixed.kernel.release.known(),
    );
    let clock = facts.varying.clock_source.current.to_string();
    let mut lines = vec![
        line(
            Topic::Machine,
            name.clone()
                .unwrap_or_else(|| "not named by its firmware".to_owned()),
            name,
        ),
        line(Topic::Kernel, kernel(facts), release.cloned()),
        line(
            Topic::Preemption,
            preemption(facts),
            Some(facts.varying.preemption.model.word().to_owned()),
        ),
        line(Topic::Cpus, cpus(facts), Some(cpus_in_brief(facts))),
        whole(Topic::Caches, caches(facts)),
        whole(Topic::Isolation, isolation(facts)),
        whole(Topic::Frequency, frequency(facts)),
        whole(Topic::IdleStates, idle(facts)),
        whole(Topic::Clock, clock),
        whole(Topic::RealTime, real_time(facts)),
    ];
    // Most kernels have none, and need no line for it.
    let cores = facts.varying.cores.lines().into_iter();
    lines.extend(cores.map(|core| whole(Topic::Core, core)));
    lines.extend([
        whole(Topic::ControlGroup, cgroup(facts)),
        line(
            Topic::Virtual,
            virtualisation(facts),
            hypervisor(facts).map(|(name, _)| name),
        ),
        whole(Topic::Memory, memory(facts)),
        whole(Topic::Heat, heat(facts)),
    ]);
    lines
}

fn kernel(facts: &Facts) -> String {
    let kernel = &facts.fixed.kernel;
    match kernel.architecture.known() {
        Some(architecture) => format!("{}, {architecture}", kernel.release),
        None => kernel.release.to_string(),
    }
}

fn preemption(facts: &Facts) -> String {
    let found = &facts.varying.preemption;
    let standing = match found.standing {
        Standing::InEffect => "in effect",
        Standing::AsRequested => "as requested on the command line, not confirmed",
        Standing::AsConfigured => "as configured, not confirmed",
        Standing::Unknown => "unknown",
    };
    let remedy = found
        .remedy
        .as_ref()
        .map_or(String::new(), |text| format!("; to confirm: {text}"));
    format!("{} ({standing}{remedy})", found.model.word())
}

fn cpus(facts: &Facts) -> String {
    let cpus = &facts.fixed.cpus;
    let online = &facts.varying.cpu_time.online;
    let kinds: Vec<String> = cpus
        .models
        .known()
        .into_iter()
        .flatten()
        .map(|kind| {
            let name = kind.name.as_deref().unwrap_or("unnamed");
            let microcode = kind.microcode.as_deref();
            let microcode = microcode.map_or(String::new(), |text| format!(", microcode {text}"));
            format!("{} × {name}{microcode}", kind.cpus.len())
        })
        .collect();
    let shared = if cpus.has_shared_cores() {
        "; cores shared (SMT)"
    } else {
        ""
    };
    let off = match (cpus.present.known(), online.known()) {
        (Some(present), Some(online)) if !present.without(online).is_empty() => {
            format!("; offline: {}", present.without(online))
        }
        _ => String::new(),
    };
    if kinds.is_empty() {
        return format!("{online}{shared}{off}");
    }
    format!("{}; online: {online}{shared}{off}", kinds.join(", "))
}

/// Their models with the number of each, or the CPUs that are online.
fn cpus_in_brief(facts: &Facts) -> String {
    let models = facts.fixed.cpus.models.known().into_iter().flatten();
    let named = models.map(|kind| {
        let name = kind.name.as_deref().unwrap_or("unnamed");
        format!("{} × {name}", kind.cpus.len())
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() {
        facts.varying.cpu_time.online.to_string()
    } else {
        named.join(" + ")
    }
}

fn caches(facts: &Facts) -> String {
    let sizes = facts.caches();
    let parts: Vec<String> = [("L1d", sizes.l1d), ("L2", sizes.l2), ("L3", sizes.l3)]
        .into_iter()
        .filter_map(|(name, bytes)| Some(format!("{name} {} KiB", bytes? / 1024)))
        .collect();
    if parts.is_empty() {
        "sizes unknown".to_owned()
    } else {
        parts.join(", ")
    }
}

fn isolation(facts: &Facts) -> String {
    let time = &facts.varying.cpu_time;
    let set = |list: &Reading<wakepath_timeline::CpuSet>| match list {
        Reading::Known { value, .. } if value.is_empty() => "none".to_owned(),
        Reading::Absent { .. } => "none (not in this kernel)".to_owned(),
        other => other.to_string(),
    };
    let affinity = &facts.varying.process.affinity;
    let (isolated, tickless) = (set(&time.isolated), set(&time.nohz_full));
    format!("isolated {isolated}; nohz_full {tickless}; this process can use {affinity}")
}

fn frequency(facts: &Facts) -> String {
    let policies = &facts.varying.frequency.policies;
    if policies.is_empty() {
        return "not controlled by this kernel".to_owned();
    }
    let mut groups: Vec<(String, Vec<u16>)> = Vec::new();
    for policy in policies {
        let megahertz = |khz: &Reading<u64>| khz.clone().map(|value| value / 1_000).to_string();
        let text = format!(
            "{}, {}–{} MHz",
            policy.governor,
            megahertz(&policy.minimum_khz),
            megahertz(&policy.maximum_khz)
        );
        let cpus = policy.cpus.known().map_or(&[][..], |list| list.numbers());
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, members)) => members.extend(cpus),
            None => groups.push((text, cpus.to_vec())),
        }
    }
    let each = groups.into_iter().map(|(text, cpus)| {
        format!(
            "CPUs {}: {text}",
            cpus.into_iter().collect::<wakepath_timeline::CpuSet>()
        )
    });
    each.collect::<Vec<_>>().join("; ")
}

fn idle(facts: &Facts) -> String {
    let idle = &facts.varying.idle;
    let states = match (&idle.groups, idle.deepest_enabled()) {
        (Reading::Known { .. }, Some(state)) => {
            format!(
                "down to {} ({} µs according to the driver)",
                state.name, state.latency_us
            )
        }
        (Reading::Known { .. }, None) => "all switched off".to_owned(),
        (Reading::Absent { .. }, _) => "not controlled by this kernel".to_owned(),
        (other, _) => other.clone().map(|_| "").to_string(),
    };
    let request = &facts.varying.latency_request;
    let bound = match &request.bound_us {
        Reading::Known {
            value: NO_LATENCY_REQUEST_US,
            ..
        } => "no bound requested".to_owned(),
        Reading::Known { value, .. } => {
            let held = request.holders.known().map_or(String::new(), holders);
            format!("a bound of {value} µs is requested{held}")
        }
        other => format!("bound {other}"),
    };
    format!("{states}; {bound}")
}

fn holders(found: &LatencyHolders) -> String {
    let names = found
        .processes
        .iter()
        .map(|(process, name)| format!("{name} ({process})"));
    let names = names.collect::<Vec<_>>().join(", ");
    match (names.is_empty(), found.hidden) {
        (false, _) => format!(" by {names}"),
        (true, 0) => String::new(),
        (true, hidden) => format!(" by one of {hidden} processes hidden from this one"),
    }
}

fn real_time(facts: &Facts) -> String {
    let found = &facts.varying.real_time;
    let throttling = match (found.runtime_us.known(), found.period_us.known()) {
        (Some(..=-1), _) => "RT throttling off".to_owned(),
        (Some(runtime), Some(period)) => {
            format!("RT throttling {}", share_of_time(*runtime, *period))
        }
        _ => format!("RT throttling {}", found.runtime_us),
    };
    let server = match &found.fair_server {
        Reading::Known { value, .. } => match value.first() {
            None => "; fair server on no CPU".to_owned(),
            Some(first) => {
                let same = value.iter().all(|server| {
                    (server.runtime_ns, server.period_ns) == (first.runtime_ns, first.period_ns)
                });
                let more = if same { "" } else { " on CPU 0, others differ" };
                let micros = |ns: u64| ns / 1_000;
                let (runtime, period) = (micros(first.runtime_ns), micros(first.period_ns));
                format!("; fair server {runtime} of {period} µs{more}")
            }
        },
        // Before 6.12 there is none; later, its absence only means that this user can't see it.
        _ if facts.fixed.kernel.release_numbers()
            < Some(crate::Release {
                major: 6,
                minor: 12,
            }) =>
        {
            String::new()
        }
        _ => match facts.varying.debug_files {
            DebugFiles::Readable => "; no fair server".to_owned(),
            state => {
                let remedy = state
                    .remedy()
                    .map_or(String::new(), |text| format!(" (to read it: {text})"));
                format!("; fair server not readable{remedy}")
            }
        },
    };
    throttling + &server
}

/// A time of each period, in the largest unit that gives whole numbers for both.
fn share_of_time(runtime_us: impl Into<i128>, period_us: impl Into<i128>) -> String {
    let (runtime, period) = (runtime_us.into(), period_us.into());
    if runtime % 1_000 == 0 && period % 1_000 == 0 {
        format!("{} of {} ms", runtime / 1_000, period / 1_000)
    } else {
        format!("{runtime} of {period} µs")
    }
}

fn cgroup(facts: &Facts) -> String {
    let group = &facts.varying.cgroup;
    let quota = match group.quotas.first() {
        Some(quota) => format!("quota {}", share_of_time(quota.runtime_us, quota.period_us)),
        None => "no CPU quota".to_owned(),
    };
    let budget = match group.real_time.first() {
        Some(own) => match (own.runtime_us.known(), own.period_us.known()) {
            (Some(runtime), Some(period)) => {
                format!("; real-time budget {}", share_of_time(*runtime, *period))
            }
            _ => format!("; real-time budget {}", own.runtime_us),
        },
        None => String::new(),
    };
    format!("{}; {quota}{budget}", group.group)
}

/// Name of the hypervisor, and the file that shows it.
fn hypervisor(facts: &Facts) -> Option<(String, String)> {
    match facts.fixed.virtualisation.conclusion() {
        VirtualisedBy::Hypervisor { name, path } => {
            let name = name.unwrap_or_else(|| "an unknown hypervisor".to_owned());
            Some((name, path))
        }
        VirtualisedBy::NoSign => None,
    }
}

fn virtualisation(facts: &Facts) -> String {
    let found = &facts.fixed.virtualisation;
    let beneath = match hypervisor(facts) {
        Some((name, path)) => {
            let stolen = facts.varying.cpu_time.stolen();
            let stolen = stolen.map_or("unknown".to_owned(), |ticks| {
                format!("{ticks} ticks of {} ms", TICK_NS / 1_000_000)
            });
            format!("{name} ({path}); stolen since boot: {stolen}")
        }
        None => "no hypervisor detected".to_owned(),
    };
    match &found.container {
        Some(mark) => format!("{beneath}; in a container ({mark})"),
        None => beneath,
    }
}

fn memory(facts: &Facts) -> String {
    let memory = &facts.varying.memory;
    let mebibytes = |kib: &Reading<u64>| kib.clone().map(|value| value / 1_024).to_string();
    let swap = match memory.swap_total_kib.known() {
        Some(0) => "no swap".to_owned(),
        _ => format!(
            "swap {} of {} MiB used",
            mebibytes(&memory.swap_used_kib),
            mebibytes(&memory.swap_total_kib)
        ),
    };
    let pages = match &memory.huge_pages {
        Reading::Absent { .. } => "none".to_owned(),
        other => other.to_string(),
    };
    let (available, total) = (
        mebibytes(&memory.available_kib),
        mebibytes(&memory.total_kib),
    );
    format!("{available} of {total} MiB available; {swap}; huge pages: {pages}")
}

fn heat(facts: &Facts) -> String {
    let cooling = &facts.varying.cooling;
    let hottest = match cooling.hottest_millidegrees() {
        Some(value) => format!("hottest zone {:.1} °C", value as f64 / 1_000.0),
        None => "no thermometer".to_owned(),
    };
    let slowing = cooling
        .devices
        .iter()
        .filter(|device| !device.is_fan() && device.state.known().is_some_and(|&state| state > 0));
    let slowing = match slowing.count() {
        0 => String::new(),
        1 => "; a cooling device slows the machine down".to_owned(),
        count => format!("; {count} cooling devices slow the machine down"),
    };
    let counts = cooling
        .heat_throttling
        .iter()
        .filter_map(|cpu| cpu.core.known());
    // CPUs that share a core count the same event, so they are not added up.
    let throttled = match counts.max() {
        None | Some(0) => String::new(),
        Some(times) => format!(
            "; a core throttled {} since boot",
            counted(*times, "time", "times")
        ),
    };
    let alarm = cooling
        .under_voltage
        .iter()
        .any(|monitor| monitor.alarm.known() == Some(&1));
    let alarm = if alarm {
        "; supply voltage too low"
    } else {
        ""
    };
    format!("{hottest}{slowing}{throttled}{alarm}")
}
