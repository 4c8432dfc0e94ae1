//! Boot parameters, and which of them took effect.

use crate::{Check, Confidence, Finding, Group, Inspection, Magnitude, Severity};
use wakepath_machine::Reading;
use wakepath_timeline::CpuSet;

pub const CHECKS: &[Check] = &[
    Check {
        id: "B1",
        group: Group::Boot,
        title: "isolation parameters understood",
        reads: "the kernel's log: `Housekeeping: …`, `isolcpus: …`, `nohz_full …`",
        why: "One wrong CPU number makes the kernel drop the whole parameter, with only a line in its log.",
        now: "",
        boot: "correct the parameter, reboot, and check again",
        weight: Severity::Grave,
        confidence: Confidence::Source,
        judge: understood,
    },
    Check {
        id: "B2",
        group: Group::Boot,
        title: "isolation parameters in effect",
        reads: "/proc/cmdline against /sys/devices/system/cpu/isolated and nohz_full",
        why: "The kernel did not accept what was requested at boot.",
        now: "",
        boot: "correct the parameter, or use a kernel that supports it",
        weight: Severity::Grave,
        confidence: Confidence::Source,
        judge: in_effect,
    },
    Check {
        id: "B3",
        group: Group::Boot,
        title: "parameters that this kernel does not know",
        reads: "/proc/cmdline (`kthread_cpus=`), the kernel's log (`Unknown kernel command line \
                parameters`)",
        why: "`kthread_cpus=` is documented by some vendors and distributions; a mainline kernel \
              ignores it, and kernel threads keep their CPUs.",
        now: "move the kernel threads while the machine runs: `wakepath tune plan`",
        boot: "drop it",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: foreign,
    },
    Check {
        id: "B4",
        group: Group::Boot,
        title: "nohz_full on a loop that sleeps",
        reads: "/sys/devices/system/cpu/nohz_full",
        why: "nohz_full is meant for programs that never enter the kernel. A loop that sleeps pays about 300 ns \
              more for each kernel entry, on average.",
        now: "",
        boot: "leave the loop's CPU out of nohz_full=",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: misfit,
    },
    Check {
        id: "B5",
        group: Group::Boot,
        title: "isolcpus with the flag `domain`",
        reads: "/proc/cmdline, /sys/devices/system/cpu/isolated",
        why: "It can't be undone without a reboot, and the kernel calls it deprecated; an isolated \
              partition does the same and can be taken back.",
        now: "",
        boot: "a cpuset partition in place of isolcpus=: `wakepath tune plan`",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: domain_flag,
    },
    Check {
        id: "B6",
        group: Group::Boot,
        title: "mitigations of CPU flaws",
        reads: "/sys/devices/system/cpu/vulnerabilities/*",
        why: "They slow down system calls and context switches, depending on the CPU. This is reported, not judged \
              as a fault: switching them off is a security decision.",
        now: "",
        boot: "mitigations=off, only on a machine that runs no untrusted code",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: mitigations,
    },
];

/// The parameters that isolate.
const ISOLATING: [&str; 3] = ["isolcpus", "nohz_full", "rcu_nocbs"];

fn given(seen: &Inspection) -> Result<Vec<(String, String)>, Finding> {
    let line = &seen.facts.fixed.command_line;
    if line.text.known().is_none() {
        return Err(Finding::unread(&line.text));
    }
    Ok(line
        .parameters()
        .filter(|(name, _)| ISOLATING.contains(name))
        .map(|(name, value)| (name.to_owned(), value.unwrap_or_default().to_owned()))
        .collect())
}

fn understood(seen: &Inspection) -> Finding {
    let given = match given(seen) {
        Ok(given) => given,
        Err(unread) => return unread,
    };
    if given.is_empty() {
        let path = seen.facts.fixed.command_line.text.path();
        return Finding::does_not_apply("no isolcpus=, nohz_full= or rcu_nocbs=", path);
    }
    // kernel/sched/isolation.c; the texts of several releases.
    let complaints = [
        "Housekeeping: Not enough",
        "Housekeeping: nohz_full or isolcpus= incorrect CPU range",
        "Housekeeping: must include one present CPU",
        "Housekeeping: nohz_full= must match isolcpus=",
        "Housekeeping: nohz unsupported",
        "isolcpus: Invalid",
        "isolcpus: Skipped",
        "rcu_nocbs: bad",
    ];
    let said: Vec<&str> = seen.messages.with_any(&complaints).collect();
    let path = seen.messages.messages.path();
    match seen.messages.messages {
        _ if !said.is_empty() => Finding::bad(said.join("; "), path),
        Reading::Known { .. } if seen.messages.reaches_boot() => {
            Finding::good("no complaint in the kernel's log", path)
        }
        Reading::Known { .. } => {
            Finding::unknown("the log no longer reaches back to the boot", path)
        }
        _ => Finding::unread(&seen.messages.messages),
    }
}

fn in_effect(seen: &Inspection) -> Finding {
    let given = match given(seen) {
        Ok(given) => given,
        Err(unread) => return unread,
    };
    let times = &seen.facts.varying.cpu_time;
    let mut compared = Vec::new();
    for (name, value) in &given {
        let effective = match name.as_str() {
            "isolcpus" => &times.isolated,
            "nohz_full" => &times.nohz_full,
            _ => continue,
        };
        let Some((flags, requested)) = cpus_of(value) else {
            return Finding::bad(
                format!("{name}={value} is not a list of CPUs"),
                seen.facts.fixed.command_line.text.path(),
            );
        };
        // Without the flag `domain`, isolcpus= isolates interrupts or the tick alone, and the
        // file stays empty.
        if name == "isolcpus" && !flags.is_empty() && !flags.iter().any(|flag| flag == "domain") {
            continue;
        }
        let Some(effective_cpus) = effective.known() else {
            return Finding::unread(effective);
        };
        let requested: CpuSet = {
            let online = seen.facts.fixed.cpus.present.known();
            let present = |cpu: &u16| online.is_none_or(|present| present.contains(*cpu));
            requested
                .numbers()
                .iter()
                .copied()
                .filter(present)
                .collect()
        };
        if *effective_cpus != requested {
            return Finding::bad(
                format!(
                    "{name}={value} requests CPU {requested}; in effect: CPU `{effective_cpus}`"
                ),
                effective.path(),
            );
        }
        compared.push(format!("{name}: CPU {effective_cpus}"));
    }
    if compared.is_empty() {
        Finding::does_not_apply(
            "no isolcpus= (domain) and no nohz_full=",
            seen.facts.fixed.command_line.text.path(),
        )
    } else {
        Finding::good(compared.join(", "), "/sys/devices/system/cpu")
    }
}

/// Flags and CPUs of `domain,managed_irq,1-3`. A strided range (`0-7:1/2`) is not understood here
/// and counts as no list, rather than as a wrong one.
fn cpus_of(value: &str) -> Option<(Vec<String>, CpuSet)> {
    let parts: Vec<&str> = value.split(',').collect();
    let flags = parts
        .iter()
        .take_while(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()))
        .count();
    let cpus = parts.get(flags..)?.join(",").parse().ok()?;
    let flags = parts[..flags].iter().map(|flag| (*flag).to_owned());
    Some((flags.collect(), cpus))
}

fn foreign(seen: &Inspection) -> Finding {
    let line = &seen.facts.fixed.command_line;
    if line.text.known().is_none() {
        return Finding::unread(&line.text);
    }
    // The kernel names what it passed on to init, a whole list in one line.
    let unknown = ["Unknown kernel command line parameters"];
    if let Some(said) = seen.messages.with_any(&unknown).next()
        && (said.contains("kthread_cpus") || ISOLATING.iter().any(|name| said.contains(name)))
    {
        return Finding::bad(said, seen.messages.messages.path());
    }
    if line.parameters().any(|(name, _)| name == "kthread_cpus") {
        return Finding::bad(
            "kthread_cpus= is given; mainline kernels have no such parameter",
            line.text.path(),
        );
    }
    Finding::good("none that matters here", line.text.path())
}

fn misfit(seen: &Inspection) -> Finding {
    let list = &seen.facts.varying.cpu_time.nohz_full;
    match list {
        Reading::Known { value, path } => {
            let shared = seen.on_loop(value);
            if shared.is_empty() {
                Finding::good("not on the loop's CPU", path)
            } else {
                Finding::bad(format!("on CPU {shared}"), path).costing(Magnitude::Delay { ns: 300 })
            }
        }
        Reading::Absent { path } => Finding::does_not_apply("a kernel without NO_HZ_FULL", path),
        other => Finding::unread(other),
    }
}

fn domain_flag(seen: &Inspection) -> Finding {
    let isolated = &seen.facts.varying.cpu_time.isolated;
    let Some(cpus) = isolated.known() else {
        return Finding::unread(isolated);
    };
    let asked = match given(seen) {
        Ok(given) => given.iter().any(|(name, _)| name == "isolcpus"),
        Err(unread) => return unread,
    };
    match (cpus.is_empty(), asked) {
        (true, _) => Finding::good("it isolates no CPU", isolated.path()),
        (false, true) => Finding::bad(format!("CPU {cpus}"), isolated.path()),
        (false, false) => Finding::good(
            format!("CPU {cpus} isolated, not by isolcpus="),
            isolated.path(),
        ),
    }
}

fn mitigations(seen: &Inspection) -> Finding {
    let folder = "/sys/devices/system/cpu/vulnerabilities";
    let names = seen.root.names(folder);
    let Some(names) = names.known() else {
        return Finding::unread(&names);
    };
    let mut costing = Vec::new();
    for name in names {
        let text = seen.root.text(&format!("{folder}/{name}"));
        match text.known() {
            Some(text) if text.starts_with("Mitigation") => costing.push(name.as_str()),
            Some(_) => {}
            None => return Finding::unread(&text),
        }
    }
    if costing.is_empty() {
        Finding::good("none is active", folder)
    } else {
        Finding::bad(format!("active for {}", costing.join(", ")), folder)
    }
}
