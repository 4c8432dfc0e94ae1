//! Device interrupts: their CPUs, and who sets them.

use super::{network, own_interrupt};
use crate::{Check, Confidence, Finding, Group, Inspection, Severity, rivals};
use wakepath_machine::Reading;
use wakepath_timeline::CpuSet;

pub const CHECKS: &[Check] = &[
    Check {
        id: "Q1",
        group: Group::Interrupts,
        title: "interrupts on the loop's CPU",
        reads: "/proc/irq/*/effective_affinity_list, counts of /proc/interrupts",
        why: "Each interrupt stops the loop for its handler and the SoftIRQ that follows. On x86 a move can stay \
              pending until the next interrupt, so the allowed CPUs are not yet the effective ones.",
        now: "write the other CPUs to /proc/irq/N/smp_affinity_list",
        boot: "irqaffinity=CPUS",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: on_loop,
    },
    Check {
        id: "Q2",
        group: Group::Interrupts,
        title: "default affinity",
        reads: "/proc/irq/default_smp_affinity",
        why: "Interrupts of devices plugged in later go to these CPUs.",
        now: "write the other CPUs' mask to /proc/irq/default_smp_affinity",
        boot: "irqaffinity=CPUS",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: default_affinity,
    },
    Check {
        id: "Q3",
        group: Group::Interrupts,
        title: "interrupts managed by drivers",
        reads: "/proc/irq/*/{smp_affinity_list,effective_affinity_list}, /proc/interrupts (names of \
                queues)",
        why: "A driver that spreads its queues over all CPUs manages their interrupts itself: a \
              write gives EPERM (EIO before Linux 6.12). They occur only if a program on that CPU uses the device.",
        now: "",
        boot: "isolcpus=managed_irq,CPUS: best effort",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: managed,
    },
    Check {
        id: "Q4",
        group: Group::Interrupts,
        title: "interrupts of the Raspberry Pi 5's south bridge",
        reads: "/proc/interrupts (rp1), /proc/irq/*/effective_affinity_list",
        why: "A write to the affinity of RP1's interrupts gives EINVAL on some kernels, the \
              effective mask is empty, and a threaded handler might not move.",
        now: "run the loop on a CPU that they don't use",
        boot: "a newer kernel from the board's vendor",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: south_bridge,
    },
    Check {
        id: "Q5",
        group: Group::Interrupts,
        title: "the loop's own interrupt",
        reads: "/proc/PID/fd and /proc/interrupts do not show which device a loop waits for: give \
                the program to see its CPU",
        why: "A loop that waits for a device whose interrupt is taken on another CPU pays a \
              wake-up across CPUs.",
        now: "write the loop's CPU to /proc/irq/N/smp_affinity_list of its own device",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: own_interrupt::judge,
    },
    Check {
        id: "Q6",
        group: Group::Interrupts,
        title: "priorities of interrupt threads",
        reads: "/proc/PID/stat of irq/*, ksoftirqd/*, rcuc/*, ktimers/*",
        why: "Threaded handlers have FIFO 50. A loop below or equal waits for each of them on its \
              CPU; a loop above waits for its own input if it needs one of them.",
        now: "a priority above 50 for the loop, or chrt -f -p PRIORITY PID for its own device's \
              thread",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: priorities,
    },
    Check {
        id: "Q7",
        group: Group::Interrupts,
        title: "network interrupt coalescing",
        reads: "ethtool -c (a netlink request, which is not made here)",
        why: "A network card can delay a packet for tens of µs to save interrupts.",
        now: "ethtool -C DEVICE adaptive-rx off rx-usecs 0",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: network::coalescing,
    },
    Check {
        id: "Q8",
        group: Group::Interrupts,
        title: "steering of network packets",
        reads: "/sys/class/net/*/queues/*/{rps_cpus,xps_cpus}",
        why: "It moves packet SoftIRQs to the CPUs in its mask.",
        now: "write the other CPUs' mask",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: network::steering,
    },
    Check {
        id: "Q9",
        group: Group::Interrupts,
        title: "irqbalance",
        reads: "the processes; /proc/PID/environ of irqbalance (IRQBALANCE_BANNED_CPULIST)",
        why: "It moves interrupts back every ten seconds. It reads the isolated CPUs only at its start, so it \
              ignores a partition made later.",
        now: "systemctl stop irqbalance, or IRQBALANCE_BANNED_CPULIST=CPUS in \
              /etc/default/irqbalance and a restart",
        boot: "systemctl disable irqbalance",
        weight: Severity::Grave,
        confidence: Confidence::Source,
        judge: balancer,
    },
];

/// A finding for a machine on which nothing can be moved away from the loop.
pub(super) fn alone(seen: &Inspection) -> Option<Finding> {
    (!seen.has_others()).then(|| {
        Finding::does_not_apply(
            "there is no other CPU to move anything to",
            "/sys/devices/system/cpu",
        )
    })
}

fn on_loop(seen: &Inspection) -> Finding {
    if let Some(finding) = alone(seen) {
        return finding;
    }
    if seen.interrupts.source.known().is_none() {
        return Finding::unread(&seen.interrupts.source);
    }
    let own = &seen.subject.cpus;
    let mut here = Vec::new();
    let mut unread = None;
    for line in &seen.interrupts.lines {
        // A line that no device uses has no action behind its chip and kind.
        let taken_here = own
            .numbers()
            .iter()
            .any(|cpu| line.taken.get(cpu).is_some_and(|&count| count > 0));
        match &line.effective {
            Reading::Known { value, .. } if !seen.on_loop(value).is_empty() && taken_here => {
                here.push(format!("{} {}", line.number, short(&line.action)));
            }
            Reading::Known { .. } | Reading::Absent { .. } => {}
            other => unread = Some(Finding::unread(other)),
        }
    }
    let counted = match &seen.interrupts_before {
        None => String::new(),
        Some((time, before)) => {
            let counts = seen.interrupts.taken_since(before, own);
            let sum: u64 = counts.values().sum();
            format!("; {sum} taken there in {} ms", time.as_millis())
        }
    };
    let path = "/proc/irq/*/effective_affinity_list";
    match (here.is_empty(), unread) {
        (true, Some(unread)) => unread,
        (true, None)
            if seen
                .interrupts
                .lines
                .iter()
                .all(|line| line.effective.is_absent()) =>
        {
            Finding::unknown("the kernel does not show effective masks", path)
        }
        (true, None) => Finding::good(format!("none in use{counted}"), path),
        (false, _) => Finding::bad(
            format!("{} in use: {}{counted}", here.len(), listed(&here)),
            path,
        ),
    }
}

/// The device's name: the last word of `/proc/interrupts`' line.
pub(super) fn short(action: &str) -> &str {
    action.rsplit(' ').next().unwrap_or(action)
}

/// At most six names and how many more.
pub(super) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 6;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

fn default_affinity(seen: &Inspection) -> Finding {
    if let Some(finding) = alone(seen) {
        return finding;
    }
    let read = seen.root.parsed("/proc/irq/default_smp_affinity", |text| {
        Ok(CpuSet::of_mask(text)?)
    });
    match read.known() {
        None => Finding::unread(&read),
        Some(cpus) => {
            let own = seen.on_loop(cpus);
            Finding::judged(own.is_empty(), format!("CPU {cpus}"), read.path())
        }
    }
}

/// Whether an interrupt looks managed by its driver: a queue of a block device or network card.
/// The kernel shows the flag in debugfs alone.
fn managed(seen: &Inspection) -> Finding {
    if let Some(finding) = alone(seen) {
        return finding;
    }
    let folder = "/sys/kernel/debug/irq/irqs";
    let names = seen.root.names(folder);
    let Some(names) = names.known() else {
        return Finding::unread(&names);
    };
    let mut own = Vec::new();
    for name in names {
        let text = seen.root.text(&format!("{folder}/{name}"));
        let Some(text) = text.known() else {
            return Finding::unread(&text);
        };
        if !text.contains("IRQD_AFFINITY_MANAGED") {
            continue;
        }
        let effective = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("effectiv:"))
            .and_then(|list| list.trim().parse::<CpuSet>().ok());
        if effective.is_none_or(|list| !seen.on_loop(&list).is_empty()) {
            own.push(name.clone());
        }
    }
    if own.is_empty() {
        Finding::good("none on the loop's CPU", folder)
    } else {
        Finding::bad(
            format!("managed by their drivers: {}", listed(&own)),
            folder,
        )
    }
}

fn south_bridge(seen: &Inspection) -> Finding {
    if seen.interrupts.source.known().is_none() {
        return Finding::unread(&seen.interrupts.source);
    }
    let lines: Vec<_> = seen
        .interrupts
        .lines
        .iter()
        .filter(|line| line.action.contains("rp1"))
        .collect();
    if lines.is_empty() {
        return Finding::does_not_apply("no interrupt of an RP1", "/proc/interrupts");
    }
    let mut stuck = Vec::new();
    for line in lines {
        match line.effective.known() {
            None => return Finding::unread(&line.effective),
            Some(cpus) if cpus.is_empty() || !seen.on_loop(cpus).is_empty() => {
                stuck.push(format!("{} {}", line.number, short(&line.action)));
            }
            Some(_) => {}
        }
    }
    let path = "/proc/irq/*/effective_affinity_list";
    if stuck.is_empty() {
        Finding::good("none on the loop's CPU", path)
    } else {
        Finding::bad(
            format!("empty mask or on its CPU: {}", listed(&stuck)),
            path,
        )
    }
}

fn priorities(seen: &Inspection) -> Finding {
    let path = "/proc/PID/stat";
    let Some(own) = seen.subject.priority else {
        return Finding::does_not_apply("the loop has no real-time priority", path);
    };
    if seen.processes.all.is_empty() {
        return Finding::unknown("no process is readable", path);
    }
    let kinds = ["irq/", "ksoftirqd/", "rcuc/", "ktimers/"];
    let above: Vec<String> = seen
        .processes
        .of_kernel()
        .filter(|thread| kinds.iter().any(|kind| thread.name.starts_with(kind)))
        .filter(|thread| thread.priority >= own)
        .filter(|thread| {
            let allowed = thread.allowed.as_ref();
            allowed.is_none_or(|cpus| !seen.on_loop(cpus).is_empty())
        })
        .map(|thread| format!("{} ({})", thread.name, thread.priority))
        .collect();
    if above.is_empty() {
        Finding::good(format!("none at {own} or above on the loop's CPU"), path)
    } else {
        Finding::bad(format!("at {own} or above: {}", listed(&above)), path)
    }
}

fn balancer(seen: &Inspection) -> Finding {
    let path = "/proc/*/comm";
    if seen.processes.all.is_empty() {
        return Finding::unknown("no process is readable", path);
    }
    let Some(process) = seen.processes.running(&[rivals::BALANCER]).next() else {
        return Finding::good("does not run", path);
    };
    if process.paused {
        return Finding::good(format!("paused ({})", process.pid), path);
    }
    let file = format!("/proc/{}/environ", process.pid);
    let environment = seen.root.text(&file);
    let Some(variables) = environment.known() else {
        return Finding::unread(&environment);
    };
    let banned = variables
        .split('\0')
        .find_map(|variable| variable.strip_prefix("IRQBALANCE_BANNED_CPULIST="))
        .and_then(|list| list.parse::<CpuSet>().ok())
        .unwrap_or_default();
    let own = &seen.subject.cpus;
    if own.without(&banned).is_empty() {
        Finding::good(format!("runs, with CPU {banned} banned"), file)
    } else {
        Finding::bad(
            format!("runs ({}); CPU {own} is not banned", process.pid),
            file,
        )
    }
}
