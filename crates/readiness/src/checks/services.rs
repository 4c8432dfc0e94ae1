//! Programs that write the same settings, or strike at the wrong time.

use crate::{Check, Confidence, Finding, Group, Inspection, Severity, rivals};

pub const CHECKS: &[Check] = &[
    Check {
        id: "V1",
        group: Group::Services,
        title: "other writers of the same settings",
        reads: "the processes: tuned, power-profiles-daemon, tlp, auto-cpufreq, thermald",
        why: "Two programs that write one setting undo each other's changes at unpredictable times.",
        now: "systemctl stop NAME before tuning, or leave all tuning to it",
        boot: "systemctl disable NAME",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: writers,
    },
    Check {
        id: "V2",
        group: Group::Services,
        title: "stalld",
        reads: "the processes: stalld",
        why: "It boosts starving threads above FIFO loops. Its README warns against safety-critical use.",
        now: "systemctl stop stalld, if a late loop is worse than a starving kernel thread",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: stalld,
    },
    Check {
        id: "V3",
        group: Group::Services,
        title: "periodic services",
        reads: "the processes: unattended-upgrade, snapd, packagekitd, apt, dnf, updatedb",
        why: "They read and write for minutes at unpredictable times, with bursts of I/O and memory use.",
        now: "systemctl mask --runtime NAME during operation",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: periodic,
    },
];

/// Running ones are bad; a paused one writes nothing.
fn running(seen: &Inspection, names: &[&str]) -> Finding {
    let path = "/proc/*/stat";
    if seen.processes.all.is_empty() {
        return Finding::unknown("no process is readable", path);
    }
    let found: Vec<String> = seen
        .processes
        .running(names)
        .filter(|process| !process.paused)
        .map(|process| format!("{} ({})", process.name, process.pid))
        .collect();
    if found.is_empty() {
        Finding::good("none runs", path)
    } else {
        Finding::bad(found.join(", "), path)
    }
}

fn writers(seen: &Inspection) -> Finding {
    running(seen, rivals::WRITERS)
}

fn stalld(seen: &Inspection) -> Finding {
    running(seen, &["stalld"])
}

fn periodic(seen: &Inspection) -> Finding {
    let names = [
        "unattended-upgrade",
        "unattended-upgr",
        "snapd",
        "packagekitd",
        "apt.systemd.daily",
        "apt-get",
        "dnf",
        "updatedb",
        "fstrim",
    ];
    running(seen, &names)
}
