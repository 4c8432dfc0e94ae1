//! Memory: causes of page faults in the loop, and of moved pages.

use crate::{Check, Confidence, Finding, Group, Inspection, Process, Severity};
use wakepath_machine::Reading;

pub const CHECKS: &[Check] = &[
    Check {
        id: "M1",
        group: Group::Memory,
        title: "locked memory of the loop",
        reads: "/proc/PID/status (VmLck, VmRSS)",
        why: "The kernel can reclaim a page that is not locked; the next access is a fault of µs, or of ms if it is \
              read from a disk.",
        now: "mlockall(MCL_CURRENT | MCL_FUTURE) in the program, LimitMEMLOCK=infinity in its unit",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: locked,
    },
    Check {
        id: "M2",
        group: Group::Memory,
        title: "page faults of the loop",
        reads: "/proc/PID/stat (minflt, majflt), twice",
        why: "A fault costs µs if the page is in memory and ms if it is on a disk.",
        now: "touch stack and heap before the first cycle; lock them",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: faults,
    },
    Check {
        id: "M3",
        group: Group::Memory,
        title: "compaction of locked memory",
        reads: "/proc/sys/vm/compact_unevictable_allowed",
        why: "Compaction moves even locked pages; the loop then waits in a fault. PREEMPT_RT \
              kernels have 0 from the start.",
        now: "sysctl vm.compact_unevictable_allowed=0",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::Source,
        judge: compaction,
    },
    Check {
        id: "M4",
        group: Group::Memory,
        title: "transparent huge pages",
        reads: "/sys/kernel/mm/transparent_hugepage/enabled",
        why: "With `always` the kernel compacts memory to make huge pages for every program.",
        now: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        boot: "transparent_hugepage=madvise",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: huge_pages,
    },
    Check {
        id: "M5",
        group: Group::Memory,
        title: "merging of equal pages",
        reads: "/sys/kernel/mm/ksm/run",
        why: "A write to a merged page is a fault that copies it.",
        now: "echo 2 > /sys/kernel/mm/ksm/run",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: merging,
    },
    Check {
        id: "M6",
        group: Group::Memory,
        title: "NUMA balancing",
        reads: "/proc/sys/kernel/numa_balancing",
        why: "It unmaps pages to see which CPU uses them, which causes hint faults in the loop.",
        now: "sysctl kernel.numa_balancing=0",
        boot: "numa_balancing=disable",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: balancing,
    },
    Check {
        id: "M7",
        group: Group::Memory,
        title: "swap",
        reads: "/proc/meminfo (SwapTotal, SwapFree), /proc/PID/status (VmSwap)",
        why: "Reading a page back from swap takes ms.",
        now: "swapoff -a, or lock the loop's memory",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: swap,
    },
];

/// The program's process, or why there is none to look at.
fn program(seen: &Inspection) -> Result<&Process, Finding> {
    let path = "/proc/PID/status";
    let Some(program) = &seen.subject.program else {
        return Err(Finding::does_not_apply(
            "no program given (--program)",
            path,
        ));
    };
    program
        .pid
        .and_then(|pid| seen.processes.numbered(pid))
        .ok_or_else(|| Finding::unknown(format!("{} does not run", program.name), path))
}

fn locked(seen: &Inspection) -> Finding {
    let process = match program(seen) {
        Ok(process) => process,
        Err(finding) => return finding,
    };
    let path = format!("/proc/{}/status", process.pid);
    let (Some(resident), Some(locked), _) = process.memory_kib else {
        return Finding::unknown("VmRSS or VmLck is missing", path);
    };
    // Locked memory counts address space; less than the resident part can't hold all of it.
    Finding::judged(
        locked >= resident && locked > 0,
        format!("{locked} kB locked, {resident} kB resident"),
        path,
    )
}

fn faults(seen: &Inspection) -> Finding {
    let process = match program(seen) {
        Ok(process) => process,
        Err(finding) => return finding,
    };
    let path = format!("/proc/{}/stat", process.pid);
    let Some(before) = &seen.program_before else {
        return Finding::unknown("one reading gives no rate", path);
    };
    if before.started != process.started {
        return Finding::unknown("the program was restarted in the meantime", path);
    }
    let minor = process.faults.0.saturating_sub(before.faults.0);
    let major = process.faults.1.saturating_sub(before.faults.1);
    Finding::judged(
        minor + major == 0,
        format!("{minor} minor, {major} major while it was watched"),
        path,
    )
}

fn compaction(seen: &Inspection) -> Finding {
    number(&seen.facts.varying.memory.compacts_locked, 0)
}

fn number(read: &Reading<u32>, wanted: u32) -> Finding {
    match read.known() {
        None => Finding::unread(read),
        Some(value) => Finding::judged(*value == wanted, value.to_string(), read.path()),
    }
}

fn huge_pages(seen: &Inspection) -> Finding {
    let read = &seen.facts.varying.memory.huge_pages;
    match read.known().map(String::as_str) {
        None => Finding::unread(read),
        Some("always") => Finding::bad("always", read.path()),
        Some(other) => Finding::good(other, read.path()),
    }
}

fn merging(seen: &Inspection) -> Finding {
    let read = &seen.facts.varying.memory.merging;
    match read.known() {
        None if read.is_absent() && seen.root.exists("/sys/kernel/mm") => {
            Finding::does_not_apply("a kernel without KSM", read.path())
        }
        None => Finding::unread(read),
        Some(1) => Finding::bad("1: it merges", read.path()),
        Some(value) => Finding::good(value.to_string(), read.path()),
    }
}

fn balancing(seen: &Inspection) -> Finding {
    let read = &seen.facts.varying.memory.numa_balancing;
    match read.known() {
        None if read.is_absent() && seen.root.exists("/proc/sys/kernel") => {
            Finding::does_not_apply("not supported by this kernel", read.path())
        }
        _ => number(read, 0),
    }
}

fn swap(seen: &Inspection) -> Finding {
    let memory = &seen.facts.varying.memory;
    if let Ok(process) = program(seen)
        && let Some(swapped) = process.memory_kib.2.filter(|&kib| kib > 0)
    {
        return Finding::bad(
            format!("{swapped} kB of the program are in swap"),
            format!("/proc/{}/status", process.pid),
        );
    }
    match (memory.swap_total_kib.known(), memory.swap_used_kib.known()) {
        (Some(0), _) => Finding::good("no swap", memory.swap_total_kib.path()),
        (Some(total), used) => Finding::bad(
            format!(
                "{total} kB, {} used",
                used.map_or("?".into(), |kib| format!("{kib} kB"))
            ),
            memory.swap_total_kib.path(),
        ),
        (None, _) => Finding::unread(&memory.swap_total_kib),
    }
}
