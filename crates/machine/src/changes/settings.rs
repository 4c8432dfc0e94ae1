//! Settings that differ between two readings.
//!
//! A value that was known and no longer is counts as changed: files vanish together with their
//! feature.

use std::fmt::Display;

use super::{ChangedFact, Changes, Severity};
use crate::{Facts, Idle, NO_LATENCY_REQUEST_US, Reading};
use wakepath_timeline::CpuSet;

pub(super) fn compare(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    fixed(earlier, later, changes);
    scheduling(earlier, later, changes);
    frequencies(earlier, later, changes);
    idle(earlier, later, changes);
    surroundings(earlier, later, changes);
}

/// Compares the parts that even a reboot doesn't change: the board and its CPUs.
pub(super) fn compare_hardware(one: &Facts, other: &Facts, changes: &mut Changes) {
    let serious = Severity::Serious;
    let (before, after) = (&one.fixed, &other.fixed);
    let (old, new) = (before.platform.name(), after.platform.name());
    if let (Some(old), Some(new)) = (&old, &new)
        && old != new
    {
        changes.add(serious, "machine", after.platform.product.path(), old, new);
    }
    changes.differs(
        serious,
        "architecture",
        &before.kernel.architecture,
        &after.kernel.architecture,
    );
    changes.differs(
        serious,
        "CPUs present",
        &before.cpus.present,
        &after.cpus.present,
    );
    let names = |kinds: &[crate::CpuModel]| {
        let name = |kind: &crate::CpuModel| kind.name.clone().unwrap_or_else(|| "unnamed".into());
        kinds.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let models = (&before.cpus.models, &after.cpus.models);
    if let (Some(old), Some(new)) = (models.0.known(), models.1.known())
        && names(old) != names(new)
    {
        changes.add(
            serious,
            "CPU model",
            models.1.path(),
            names(old),
            names(new),
        );
    }
}

/// Facts that only a reboot should change. Microcode can be loaded late and memory hot-plugged.
fn fixed(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    let (before, after) = (&earlier.fixed, &later.fixed);
    let serious = Severity::Serious;
    changes.differs(
        serious,
        "kernel release",
        &before.kernel.release,
        &after.kernel.release,
    );
    let line = (&before.command_line.text, &after.command_line.text);
    changes.differs(serious, "kernel command line", line.0, line.1);
    let (Some(old), Some(new)) = (before.cpus.models.known(), after.cpus.models.known()) else {
        return;
    };
    let microcode = |kinds: &[crate::CpuModel]| {
        let mut versions: Vec<String> = kinds
            .iter()
            .filter_map(|kind| kind.microcode.clone())
            .collect();
        versions.dedup();
        versions.join(", ")
    };
    let (old, new) = (microcode(old), microcode(new));
    if old != new {
        changes.add(serious, "microcode", after.cpus.models.path(), old, new);
    }
}

/// Compares each core's own description; a core in only one of the readings means another kernel.
fn cores(before: &crate::RealTimeCores, after: &crate::RealTimeCores, changes: &mut Changes) {
    let serious = Severity::Serious;
    if let (Some(old), Some(new)) = (&before.evl, &after.evl) {
        changes.differs(serious, "EVL's state", &old.state, &new.state);
        changes.differs(serious, "EVL's ABI", &old.abi, &new.abi);
        let gravity = (&old.gravity_ns, &new.gravity_ns);
        changes.differs(serious, "EVL's timer gravity (ns)", gravity.0, gravity.1);
    }
    if let (Some(old), Some(new)) = (&before.cobalt, &after.cobalt) {
        changes.differs(serious, "Cobalt's version", &old.version, &new.version);
        changes.differs(serious, "Cobalt's state", &old.state, &new.state);
        let revisions = (&old.revision, &new.revision);
        changes.differs(serious, "Cobalt's ABI revision", revisions.0, revisions.1);
        let gravity = (&old.gravity_ns, &new.gravity_ns);
        changes.differs(serious, "Cobalt's timer gravity (ns)", gravity.0, gravity.1);
    }
    if let (Some(old), Some(new)) = (&before.litmus, &after.litmus) {
        changes.differs(serious, "LITMUS^RT's plugin", &old.plugin, &new.plugin);
        let masters = (&old.release_master, &new.release_master);
        changes.differs(serious, "LITMUS^RT's release master", masters.0, masters.1);
    }
}

fn scheduling(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    let serious = Severity::Serious;
    let (before, after) = (&earlier.varying, &later.varying);
    let (old, new) = (&before.preemption, &after.preemption);
    if old.model != new.model && old.standing == new.standing {
        let path = &new.evidence;
        changes.add(
            serious,
            "preemption model",
            path,
            old.model.word(),
            new.model.word(),
        );
    }
    cores(&before.cores, &after.cores, changes);
    let (old, new) = (&before.real_time, &after.real_time);
    changes.differs(
        serious,
        "real-time throttling, runtime (µs)",
        &old.runtime_us,
        &new.runtime_us,
    );
    changes.differs(
        serious,
        "real-time throttling, period (µs)",
        &old.period_us,
        &new.period_us,
    );
    changes.differs(
        serious,
        "sched_ext state",
        &old.extension_state,
        &new.extension_state,
    );
    changes.differs(
        Severity::Warning,
        "timer migration",
        &old.timer_migration,
        &new.timer_migration,
    );
    if let (Some(was), Some(is)) = (old.fair_server.known(), new.fair_server.known()) {
        for server in is {
            let Some(other) = was.iter().find(|other| other.cpu == server.cpu) else {
                continue;
            };
            if other != server {
                let budget = |s: &crate::FairServer| format!("{}/{} ns", s.runtime_ns, s.period_ns);
                let path = format!("{}/cpu{}/runtime", new.fair_server.path(), server.cpu);
                let what = format!("fair server of CPU {}", server.cpu);
                changes.add(serious, what, &path, budget(other), budget(server));
            }
        }
    }
    let (old, new) = (&before.cpu_time, &after.cpu_time);
    changes.differs(serious, "CPUs online", &old.online, &new.online);
    changes.differs(serious, "CPUs isolated", &old.isolated, &new.isolated);
    changes.differs(serious, "CPUs without tick", &old.nohz_full, &new.nohz_full);
    changes.differs(
        serious,
        "shared cores in use",
        &old.smt_active,
        &new.smt_active,
    );
    let (old, new) = (&before.cgroup, &after.cgroup);
    changes.differs(serious, "CPUs of the control group", &old.cpus, &new.cpus);
    changes.fact_differs(
        ChangedFact::OwnControlGroup,
        serious,
        "control group of wakepath",
        &old.group,
        &new.group,
    );
    if old.group.known() == new.group.known() && old.quotas != new.quotas {
        let text = |quotas: &[crate::GroupQuota]| match quotas.first() {
            Some(quota) => format!("{} in {} µs", quota.runtime_us, quota.period_us),
            None => "none".to_owned(),
        };
        let (was, is) = (text(&old.quotas), text(&new.quotas));
        changes.add_fact(
            ChangedFact::OwnCpuQuota,
            serious,
            "CPU quota of the control group",
            new.group.path(),
            was,
            is,
        );
    }
    for budget in &new.real_time {
        if let Some(was) = old
            .real_time
            .iter()
            .find(|other| other.group == budget.group)
        {
            let what = format!("real-time budget of group {} (µs)", budget.group);
            changes.differs(serious, what, &was.runtime_us, &budget.runtime_us);
        }
    }
    let (old, new) = (&before.process, &after.process);
    changes.fact_differs(
        ChangedFact::OwnAffinity,
        Severity::Note,
        "affinity of wakepath itself",
        &old.affinity,
        &new.affinity,
    );
}

fn frequencies(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    let serious = Severity::Serious;
    let (before, after) = (&earlier.varying.frequency, &later.varying.frequency);
    for new in &after.policies {
        let Some(old) = before.policies.iter().find(|old| old.policy == new.policy) else {
            continue;
        };
        let of = match new.cpus.known() {
            Some(cpus) => format!("of CPUs {cpus}"),
            None => format!("of policy {}", new.policy),
        };
        changes.differs(
            serious,
            format!("governor {of}"),
            &old.governor,
            &new.governor,
        );
        let bound = |which| format!("{which} frequency {of} (kHz)");
        changes.differs(serious, bound("lowest"), &old.minimum_khz, &new.minimum_khz);
        changes.differs(
            serious,
            bound("highest"),
            &old.maximum_khz,
            &new.maximum_khz,
        );
        let preference = (&old.energy_preference, &new.energy_preference);
        changes.differs(
            serious,
            format!("energy preference {of}"),
            preference.0,
            preference.1,
        );
    }
    changes.differs(serious, "boost", &before.boost, &after.boost);
    changes.differs(
        serious,
        "turbo forbidden",
        &before.no_turbo,
        &after.no_turbo,
    );
}

fn idle(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    let serious = Severity::Serious;
    let (before, after) = (&earlier.varying.idle, &later.varying.idle);
    changes.differs(serious, "idle governor", &before.governor, &after.governor);
    // Per CPU, and only those in both: one that went offline is reported as that.
    let mut changed = Vec::new();
    for group in after.groups.known().into_iter().flatten() {
        let differs = |&cpu: &u16| {
            before
                .states_of(cpu)
                .is_some_and(|states| states != group.states.as_slice())
        };
        changed.extend(group.cpus.numbers().iter().copied().filter(differs));
    }
    if !changed.is_empty() {
        let what = format!(
            "idle states of CPUs {}",
            changed.iter().copied().collect::<CpuSet>()
        );
        let allowed = |idle: &Idle| {
            let states = idle.states_of(changed[0]).unwrap_or_default();
            let names = states.iter().filter(|state| !state.disabled);
            names
                .map(|state| state.name.as_str())
                .collect::<Vec<_>>()
                .join(" ")
        };
        changes.add(
            serious,
            what,
            after.groups.path(),
            allowed(before),
            allowed(after),
        );
    }
    for new in &after.resume_latency {
        for old in &before.resume_latency {
            let both = |cpu: &u16| old.cpus.contains(*cpu);
            let cpus: CpuSet = new.cpus.numbers().iter().copied().filter(both).collect();
            if !cpus.is_empty() {
                let what = format!("wake-up latency limit of CPUs {cpus} (µs, 0 is none)");
                changes.differs(serious, what, &old.limit, &new.limit);
            }
        }
    }
    let (old, new) = (
        &earlier.varying.latency_request,
        &later.varying.latency_request,
    );
    let text = |bound: &Reading<i32>| {
        bound.clone().map(|us| match us {
            NO_LATENCY_REQUEST_US => "no bound".to_owned(),
            us => format!("{us} µs"),
        })
    };
    let (was, is) = (text(&old.bound_us), text(&new.bound_us));
    changes.differs(serious, "requested wake-up latency bound", &was, &is);
}

fn surroundings(earlier: &Facts, later: &Facts, changes: &mut Changes) {
    let (before, after) = (&earlier.varying, &later.varying);
    let (old, new) = (&before.clock_source, &after.clock_source);
    changes.fact_differs(
        ChangedFact::ClockSource,
        Severity::Serious,
        "clock source",
        &old.current,
        &new.current,
    );
    let (old, new) = (&before.cooling, &after.cooling);
    changes.differs(
        Severity::Serious,
        "Jetson power mode",
        &old.jetson_power_mode,
        &new.jetson_power_mode,
    );
    changes.differs(
        Severity::Serious,
        "Raspberry Pi throttling bits",
        &old.pi_throttled,
        &new.pi_throttled,
    );
    for device in &new.devices {
        let Some(was) = old.devices.iter().find(|was| was.device == device.device) else {
            continue;
        };
        let (Some(&start), Some(&end)) = (was.state.known(), device.state.known()) else {
            continue;
        };
        if end.max(0) != start.max(0) {
            let kind = device.kind.known().map_or("cooling device", String::as_str);
            let slows = !device.is_fan() && end > start;
            let severity = if slows {
                Severity::Warning
            } else {
                Severity::Note
            };
            changes.add(
                severity,
                format!("cooling by {kind}"),
                device.state.path(),
                start,
                end,
            );
        }
    }
    for (position, monitor) in new.under_voltage.iter().enumerate() {
        if let Some(was) = old.under_voltage.get(position) {
            changes.differs(
                Severity::Serious,
                "supply voltage alarm",
                &was.alarm,
                &monitor.alarm,
            );
        }
    }
    let (old, new) = (&before.memory, &after.memory);
    changes.differs(
        Severity::Warning,
        "huge pages",
        &old.huge_pages,
        &new.huge_pages,
    );
    changes.differs(
        Severity::Warning,
        "merging of equal pages",
        &old.merging,
        &new.merging,
    );
    changes.differs(
        Severity::Warning,
        "NUMA balancing",
        &old.numa_balancing,
        &new.numa_balancing,
    );
}

impl Changes {
    /// Adds a change if the two readings disagree. Readings that were never taken, or failed both
    /// times, are ignored.
    fn differs<T: PartialEq + Display>(
        &mut self,
        severity: Severity,
        what: impl Into<String>,
        before: &Reading<T>,
        after: &Reading<T>,
    ) {
        self.fact_differs(ChangedFact::Other, severity, what, before, after);
    }

    fn fact_differs<T: PartialEq + Display>(
        &mut self,
        fact: ChangedFact,
        severity: Severity,
        what: impl Into<String>,
        before: &Reading<T>,
        after: &Reading<T>,
    ) {
        let same = match (before, after) {
            (Reading::Known { value: old, .. }, Reading::Known { value: new, .. }) => old == new,
            (Reading::NotRead | Reading::Skipped { .. }, _)
            | (_, Reading::NotRead | Reading::Skipped { .. }) => true,
            (old, new) => old.known().is_none() && new.known().is_none(),
        };
        if !same {
            self.add_fact(fact, severity, what, after.path(), before, after);
        }
    }
}
