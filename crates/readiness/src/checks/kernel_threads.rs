//! The kernel's own threads: workqueues, RCU, the rest.

use crate::{Check, Confidence, Finding, Group, Inspection, Severity};
use wakepath_machine::Reading;
use wakepath_timeline::CpuSet;

pub const CHECKS: &[Check] = &[
    Check {
        id: "W1",
        group: Group::KernelThreads,
        title: "unbound workqueues",
        reads: "/sys/devices/virtual/workqueue/{cpumask,cpumask_requested,cpumask_isolated}",
        why: "Work of drivers and file systems that is not bound to a CPU runs on any of these.",
        now: "write the other CPUs' mask to /sys/devices/virtual/workqueue/cpumask",
        boot: "workqueue.unbound_cpus=CPUS",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: workqueues,
    },
    Check {
        id: "W2",
        group: Group::KernelThreads,
        title: "movable kernel threads",
        reads: "/proc/PID/{stat,status} of the kernel's threads",
        why: "They preempt an ordinary loop, and a real-time loop if their priority is higher.",
        now: "taskset -pc CPUS PID for each, kthreadd first, so that new ones inherit it",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: movable,
    },
    Check {
        id: "W3",
        group: Group::KernelThreads,
        title: "RCU callbacks",
        reads: "/proc/cmdline (rcu_nocbs=, nohz_full=), the threads rcuo*",
        why: "Without offloading, RCU callbacks run on this CPU as a SoftIRQ; with it, they run in the threads \
              rcuo*, which can be moved.",
        now: "move rcuo* to the other CPUs",
        boot: "rcu_nocbs=CPUS",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: callbacks,
    },
    Check {
        id: "W4",
        group: Group::KernelThreads,
        title: "expedited grace periods",
        reads: "/sys/kernel/rcu_expedited",
        why: "They end grace periods by interrupting every CPU.",
        now: "echo 0 > /sys/kernel/rcu_expedited",
        boot: "rcupdate.rcu_normal_after_boot=1",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: expedited,
    },
    Check {
        id: "W5",
        group: Group::KernelThreads,
        title: "memory statistics",
        reads: "/proc/sys/vm/stat_interval",
        why: "Each CPU folds its counters at this interval.",
        now: "sysctl vm.stat_interval=10",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: statistics,
    },
];

fn workqueues(seen: &Inspection) -> Finding {
    if !seen.has_others() {
        return Finding::does_not_apply("there is no other CPU to move them to", "");
    }
    let read = seen
        .root
        .parsed("/sys/devices/virtual/workqueue/cpumask", |text| {
            Ok(CpuSet::of_mask(text)?)
        });
    match read.known() {
        None => Finding::unread(&read),
        Some(cpus) => Finding::judged(
            seen.on_loop(cpus).is_empty(),
            format!("CPU {cpus}"),
            read.path(),
        ),
    }
}

fn movable(seen: &Inspection) -> Finding {
    let path = "/proc/*/status (Cpus_allowed_list)";
    if !seen.has_others() {
        return Finding::does_not_apply("there is no other CPU to move them to", path);
    }
    let threads: Vec<_> = seen
        .processes
        .of_kernel()
        .filter(|thread| !thread.not_movable && !thread.name.starts_with("rcuo"))
        .collect();
    if threads.is_empty() {
        return Finding::unknown("no kernel thread is visible (a container?)", path);
    }
    let here: Vec<&str> = threads
        .iter()
        .filter(|thread| {
            let allowed = thread.allowed.as_ref();
            allowed.is_some_and(|cpus| !seen.on_loop(cpus).is_empty())
        })
        .map(|thread| thread.name.as_str())
        .collect();
    if here.is_empty() {
        Finding::good(format!("none of {}", threads.len()), path)
    } else {
        Finding::bad(
            format!(
                "{} of {} can run there: {}{}",
                here.len(),
                threads.len(),
                here[..here.len().min(5)].join(", "),
                if here.len() > 5 { ", …" } else { "" }
            ),
            path,
        )
    }
}

fn callbacks(seen: &Inspection) -> Finding {
    let path = "/proc/*/stat (rcuo*)";
    if !seen.has_others() {
        return Finding::does_not_apply("there is no other CPU to move them to", path);
    }
    if seen.processes.of_kernel().next().is_none() {
        return Finding::unknown("no kernel thread is visible (a container?)", path);
    }
    // rcuop/N, rcuos/N, rcuob/N: N is the CPU whose callbacks it runs.
    let serves =
        |name: &str| -> Option<u16> { name.strip_prefix("rcuo")?.split_once('/')?.1.parse().ok() };
    let offloaded: CpuSet = seen
        .processes
        .of_kernel()
        .filter_map(|thread| serves(&thread.name))
        .collect();
    let missing = seen.subject.cpus.without(&offloaded);
    if !missing.is_empty() {
        return Finding::bad(format!("CPU {missing} runs its own callbacks"), path);
    }
    // The kernel starts rcuo* for every CPU in the mask, offloaded now or not; only its log lists
    // the offloaded ones.
    let here: Vec<&str> = seen
        .processes
        .of_kernel()
        .filter(|thread| serves(&thread.name).is_some())
        .filter(|thread| {
            let allowed = thread.allowed.as_ref();
            allowed.is_none_or(|cpus| !seen.on_loop(cpus).is_empty())
        })
        .map(|thread| thread.name.as_str())
        .collect();
    if here.is_empty() {
        Finding::good("offloaded, and its threads run elsewhere", path)
    } else {
        Finding::bad(
            format!(
                "offloaded, but {} can run on the loop's CPU",
                here.join(", ")
            ),
            path,
        )
    }
}

fn expedited(seen: &Inspection) -> Finding {
    let read: Reading<u32> = seen.root.number("/sys/kernel/rcu_expedited");
    match read.known() {
        None => Finding::unread(&read),
        Some(value) => Finding::judged(*value == 0, value.to_string(), read.path()),
    }
}

fn statistics(seen: &Inspection) -> Finding {
    let read = &seen.facts.varying.memory.statistics_interval_s;
    match read.known() {
        None => Finding::unread(read),
        Some(seconds) => Finding::judged(*seconds > 1, format!("every {seconds} s"), read.path()),
    }
}
