//! How many CPUs, and what they share.

use crate::{Check, Confidence, Finding, Group, Inspection, Severity};
use wakepath_timeline::CpuSet;

pub const CHECKS: &[Check] = &[
    Check {
        id: "T1",
        group: Group::Topology,
        title: "number of CPUs",
        reads: "/sys/devices/system/cpu/online",
        why: "With one CPU nothing can be isolated: only priorities decide which thread runs.",
        now: "priorities; `wakepath tune plan` lists the remaining options",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: count,
    },
    Check {
        id: "T2",
        group: Group::Topology,
        title: "shared cores",
        reads: "/sys/devices/system/cpu/smt/active, topology/thread_siblings_list",
        why: "A sibling thread shares the core's execution units and first caches with the loop.",
        now: "echo off > /sys/devices/system/cpu/smt/control, or leave the sibling idle too",
        boot: "nosmt",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: siblings,
    },
    Check {
        id: "T3",
        group: Group::Topology,
        title: "CPU of the loop",
        reads: "/sys/devices/system/cpu/online; of a running program, /proc/PID/status",
        why: "The kernel keeps one housekeeping CPU; the boot CPU takes timekeeping and most \
              interrupts, and can't be emptied.",
        now: "another CPU for the loop: taskset -cp CPU PID, or wakepath exec --policy 'FIFO 80' --cpu CPU -- COMMAND",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: boot_cpu,
    },
    Check {
        id: "T4",
        group: Group::Topology,
        title: "shared cache",
        reads: "/sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_list",
        why: "CPUs that share the last cache evict the loop's data and compete for memory bandwidth: a load on \
              another CPU lengthens the loop's work, even on an isolated CPU.",
        now: "place memory-hungry work on another cluster, if there is one",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: caches,
    },
];

fn count(seen: &Inspection) -> Finding {
    let online = &seen.facts.varying.cpu_time.online;
    match online.known() {
        None => Finding::unread(online),
        Some(cpus) => Finding::judged(
            cpus.len() > 1,
            format!("{} online: {cpus}", cpus.len()),
            online.path(),
        ),
    }
}

fn siblings(seen: &Inspection) -> Finding {
    let active = &seen.facts.varying.cpu_time.smt_active;
    match active.known() {
        Some(0) => return Finding::good("off", active.path()),
        Some(_) => {}
        None if active.is_absent() && seen.is_x86() == Some(false) => {
            return Finding::does_not_apply("no SMT on this architecture", active.path());
        }
        None => return Finding::unread(active),
    }
    for place in &seen.facts.fixed.cpus.places {
        if !seen.subject.cpus.contains(place.cpu) {
            continue;
        }
        let Some(siblings) = place.siblings.known() else {
            return Finding::unread(&place.siblings);
        };
        let isolated = seen.facts.varying.cpu_time.isolated.known();
        let isolated = isolated.cloned().unwrap_or_default();
        let foreign = siblings.without(&seen.subject.cpus);
        if !foreign.without(&isolated).is_empty() {
            return Finding::bad(
                format!("CPU {} shares its core with CPU {foreign}", place.cpu),
                place.siblings.path(),
            );
        }
    }
    Finding::good(
        "on, but nothing else runs on the loop's core",
        active.path(),
    )
}

fn boot_cpu(seen: &Inspection) -> Finding {
    let online = &seen.facts.varying.cpu_time.online;
    let Some(cpus) = online.known() else {
        return Finding::unread(online);
    };
    let path = online.path();
    let own = &seen.subject.cpus;
    if cpus.len() == 1 {
        return Finding::does_not_apply("there is only one", path);
    }
    if let Some(missing) = own.numbers().iter().find(|cpu| !cpus.contains(**cpu)) {
        return Finding::bad(format!("CPU {missing} is not online"), path)
            .costing(crate::Magnitude::Prevents);
    }
    if cpus.without(own).is_empty() {
        return Finding::bad("the loop uses every CPU: none is left for the kernel", path);
    }
    if let Some(thread) = seen.leading_thread()
        && let Some(allowed) = &thread.allowed
        && cpus.without(allowed).is_empty()
    {
        let path = format!("/proc/{}/status", thread.tid);
        let found = format!("the program is not pinned: it can run on CPU {allowed}");
        return Finding::bad(found, path).remedied_by(format!("taskset -cp {own} {}", thread.tid));
    }
    if own.contains(0) {
        Finding::bad("the loop is on CPU 0, the boot CPU", path)
    } else {
        Finding::good(format!("CPU {own}, not the boot CPU"), path)
    }
}

fn caches(seen: &Inspection) -> Finding {
    let caches = &seen.facts.fixed.cpus.caches;
    if caches.known().is_none() {
        return Finding::unread(caches);
    }
    let path = "/sys/devices/system/cpu/cpu*/cache";
    for group in seen.facts.fixed.cpus.last_level_groups() {
        let own = seen.on_loop(&group);
        let foreign: CpuSet = group.without(&seen.subject.cpus);
        if !own.is_empty() && !foreign.is_empty() {
            return Finding::bad(
                format!("CPU {own} shares its last cache with CPU {foreign}"),
                path,
            );
        }
    }
    Finding::good("the loop doesn't share its last cache", path)
}
