//! Whether the nice value of an ordinary program counts against other sessions.

use crate::{Check, Confidence, Finding, Group, Inspection, Severity};
use wakepath_machine::Reading;

pub const CHECKS: &[Check] = &[Check {
    id: "S9",
    group: Group::Scheduler,
    title: "autogroup",
    reads: "/proc/sys/kernel/sched_autogroup_enabled",
    why: "The scheduler groups ordinary threads by session and shares the CPU between the sessions first: the \
          nice value of a program counts only against others of its session.",
    now: "sysctl kernel.sched_autogroup_enabled=0",
    boot: "noautogroup",
    weight: Severity::Minor,
    confidence: Confidence::Source,
    judge: autogroup,
}];

fn autogroup(seen: &Inspection) -> Finding {
    let read: Reading<u32> = seen.root.number("/proc/sys/kernel/sched_autogroup_enabled");
    if read.is_absent() {
        return Finding::does_not_apply("a kernel without autogroups", read.path());
    }
    let Some(&value) = read.known() else {
        return Finding::unread(&read);
    };
    if value == 0 {
        return Finding::good("off", read.path());
    }
    match seen.leading_thread() {
        None => Finding::does_not_apply("no running program given (--program)", read.path()),
        Some(thread) if thread.is_real_time() || thread.nice == 0 => Finding::does_not_apply(
            format!("the program runs under {}", thread.policy_words()),
            read.path(),
        ),
        Some(thread) => Finding::bad(
            format!("on, and the program runs under {}", thread.policy_words()),
            read.path(),
        ),
    }
}
