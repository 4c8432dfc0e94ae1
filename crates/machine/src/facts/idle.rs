//! The CPUs' idle states: their wake-up times, and which are enabled.

use serde::{Deserialize, Serialize};

use crate::{Reading, Root};
use wakepath_timeline::CpuSet;

const CPUS: &str = "/sys/devices/system/cpu";

/// Idle states and the limits on them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Idle {
    /// The driver: `intel_idle`, `acpi_idle`, `psci_idle`, `none`, …
    pub driver: Reading<String>,
    /// The governor that chooses the state: `menu`, `teo`, `haltpoll`, …
    pub governor: Reading<String>,
    /// CPUs with the same states, together. Absent if the kernel controls none.
    pub groups: Reading<Vec<IdleGroup>>,
    /// Per-CPU limits on wake-up latency, equal ones together.
    pub resume_latency: Vec<ResumeLatency>,
}

/// CPUs with the same idle states.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IdleGroup {
    /// The CPUs.
    pub cpus: CpuSet,
    /// Their states, shallowest first.
    pub states: Vec<IdleState>,
}

/// One idle state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IdleState {
    /// `POLL`, `C1`, `WFI`, …
    pub name: String,
    /// Time to leave it according to the driver, µs. Not measured.
    pub latency_us: u64,
    /// Whether it was switched off by hand.
    pub disabled: bool,
}

/// A limit on wake-up latency set for some CPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResumeLatency {
    /// The CPUs.
    pub cpus: CpuSet,
    /// In the kernel's form: `0` is no limit, `n/a` is no latency allowed, otherwise µs.
    pub limit: Reading<String>,
}

impl Idle {
    pub(super) fn read(root: &Root) -> Self {
        let cpus = root.numbered(CPUS, "cpu");
        Self {
            driver: root.text(&format!("{CPUS}/cpuidle/current_driver")),
            governor: root
                .text(&format!("{CPUS}/cpuidle/current_governor"))
                .or_else(|| root.text(&format!("{CPUS}/cpuidle/current_governor_ro"))),
            groups: groups(root, &cpus),
            resume_latency: resume_latency(root, &cpus),
        }
    }

    /// The states of one CPU, shallowest first.
    pub fn states_of(&self, cpu: u16) -> Option<&[IdleState]> {
        let group = self
            .groups
            .known()?
            .iter()
            .find(|group| group.cpus.contains(cpu))?;
        Some(&group.states)
    }

    /// The enabled state with the longest wake-up time on any CPU, according to the driver.
    pub fn deepest_enabled(&self) -> Option<&IdleState> {
        let states = self.groups.known()?.iter().flat_map(|group| &group.states);
        states
            .filter(|state| !state.disabled)
            .max_by_key(|state| state.latency_us)
    }
}

fn groups(root: &Root, cpus: &[u16]) -> Reading<Vec<IdleGroup>> {
    let mut groups: Vec<(Vec<IdleState>, Vec<u16>)> = Vec::new();
    let folder = |cpu: u16| format!("{CPUS}/cpu{cpu}/cpuidle");
    for &cpu in cpus {
        let mut states = Vec::new();
        for number in root.numbered::<u32>(&folder(cpu), "state") {
            match state(root, &format!("{}/state{number}", folder(cpu))) {
                Reading::Known { value, .. } => states.push(value),
                // Half a list of states would hide the deepest one.
                other => return other.without_value(),
            }
        }
        if states.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|(known, _)| *known == states) {
            Some((_, members)) => members.push(cpu),
            None => groups.push((states, vec![cpu])),
        }
    }
    let path = folder(cpus.first().copied().unwrap_or(0));
    if groups.is_empty() {
        return Reading::Absent { path };
    }
    let groups = groups.into_iter();
    Reading::found(
        groups
            .map(|(states, cpus)| IdleGroup {
                cpus: cpus.into_iter().collect(),
                states,
            })
            .collect(),
        path,
    )
}

fn state(root: &Root, folder: &str) -> Reading<IdleState> {
    let name = match root.text(&format!("{folder}/name")) {
        Reading::Known { value, .. } => value,
        other => return other.without_value(),
    };
    let latency_us = match root.number(&format!("{folder}/latency")) {
        Reading::Known { value, .. } => value,
        other => return other.without_value(),
    };
    // The driver's own bit and the hand's share this file: not zero means not entered.
    root.number::<u64>(&format!("{folder}/disable"))
        .map(|disable| IdleState {
            name,
            latency_us,
            disabled: disable != 0,
        })
}

fn resume_latency(root: &Root, cpus: &[u16]) -> Vec<ResumeLatency> {
    let mut limits: Vec<(Reading<String>, Vec<u16>)> = Vec::new();
    for &cpu in cpus {
        let limit = root.text(&format!("{CPUS}/cpu{cpu}/power/pm_qos_resume_latency_us"));
        let same = |known: &Reading<String>| match (known.known(), limit.known()) {
            (None, None) => true,
            (a, b) => a == b,
        };
        match limits.iter_mut().find(|(known, _)| same(known)) {
            Some((_, members)) => members.push(cpu),
            None => limits.push((limit, vec![cpu])),
        }
    }
    limits
        .into_iter()
        .map(|(limit, cpus)| ResumeLatency {
            cpus: cpus.into_iter().collect(),
            limit,
        })
        .collect()
}
