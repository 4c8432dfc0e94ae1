//! Real-time threads that gather on one isolated CPU.

use crate::{Check, Confidence, Finding, Group, Inspection, ProgramThread, Severity};
use std::collections::BTreeMap;

pub const CHECKS: &[Check] = &[Check {
    id: "T5",
    group: Group::Topology,
    title: "real-time threads on the isolated CPU",
    reads: "/sys/devices/system/cpu/isolated, /proc/PID/task/*/{stat,status}",
    why: "The kernel doesn't balance isolated CPUs: threads allowed on several of them can stay on one CPU, where \
          the lower priority waits for the higher while the CPU next to it idles.",
    now: "taskset -cp CPU TID, with another CPU for each of the threads",
    boot: "",
    weight: Severity::Notable,
    confidence: Confidence::Source,
    judge: crowd,
}];

fn crowd(seen: &Inspection) -> Finding {
    let isolated = &seen.facts.varying.cpu_time.isolated;
    let Some(list) = isolated.known() else {
        return Finding::unread(isolated);
    };
    if seen.on_loop(list).is_empty() {
        return Finding::does_not_apply("the loop's CPU is not isolated", isolated.path());
    }
    let path = "/proc/*/task/*/stat";
    if seen.processes.all.is_empty() {
        return Finding::unknown("no process is readable", path);
    }
    let programs = seen.processes.all.iter();
    let threads = programs
        .filter(|process| !process.of_kernel && !process.ended)
        .flat_map(|process| ProgramThread::all(&seen.root, process.pid));
    let mut on_cpu: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for thread in threads.filter(ProgramThread::is_real_time) {
        let may = thread.allowed.as_ref();
        let is_isolated = may.is_some_and(|may| may.without(list).is_empty() && !may.is_empty());
        if let (true, Some(cpu)) = (is_isolated, thread.last_cpu) {
            let text = format!(
                "{} ({}, {})",
                thread.name,
                thread.tid,
                thread.policy_words()
            );
            on_cpu.entry(cpu).or_default().push(text);
        }
    }
    match on_cpu.iter().find(|(_, threads)| threads.len() > 1) {
        Some((cpu, threads)) => Finding::bad(format!("CPU {cpu} has {}", threads.join(", ")), path),
        None => Finding::good("no two share an isolated CPU", path),
    }
}
