//! Programs that write the same settings, or strike at the wrong time.

use crate::{Check, Confidence, Finding, Group, Inspection, Severity, rivals};

pub const CHECKS: &[Check] = &[
    Check {
        id: "V1",
        group: Group::Services,
        title: "other writers of the same settings",
        reads: "the processes: tuned, power-profiles-daemon, tlp, auto-cpufreq, thermald",
        why: "Two writers of one setting undo each other's work, at a time of their own.",
        now: "systemctl stop NAME before tuning, or let it alone do the work",
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
        why: "It boosts starving threads above FIFO loops. Its own README says that it is not for \
              safety-critical use.",
        now: "decide: a starving kernel thread, or a late loop; systemctl stop stalld",
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
        why: "They read and write for minutes, at a time of their own: bursts of I/O and memory \
              use during the mission.",
        now: "systemctl mask --runtime NAME for the mission",
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
        return Finding::unknown("no process can be read", path);
    }
    let found: Vec<String> = seen
        .processes
        .running(names)
        .filter(|process| !process.paused)
        .map(|process| format!("{} ({})", process.name, process.pid))
        .collect();
    match found.is_empty() {
        true => Finding::good("none runs", path),
        false => Finding::bad(found.join(", "), path),
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
