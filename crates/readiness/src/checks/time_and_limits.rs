//! Clocks, timer slack, and what the loop's user may do.

use crate::{Check, Confidence, Finding, Group, Inspection, Magnitude, Severity};
use wakepath_machine::Limit;

pub const TIME: &[Check] = &[
    Check {
        id: "C1",
        group: Group::Time,
        title: "clock source",
        reads: "/sys/devices/system/clocksource/clocksource0/current_clocksource",
        why: "hpet and acpi_pm are read over the bus: each reading takes a µs or more, in the loop and in the \
              kernel's timers.",
        now: "if tsc is available: echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
        boot: "fix the cause of the unstable TSC (firmware), or tsc=reliable if it is known to be stable",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: clock_source,
    },
    Check {
        id: "C2",
        group: Group::Time,
        title: "timer slack",
        reads: "/proc/PID/timerslack_ns",
        why: "The kernel can delay the timers of a loop without a real-time policy by this much; 50 µs by default. \
              Real-time policies have none.",
        now: "prctl(PR_SET_TIMERSLACK, 1) in the program, TimerSlackNSec=1 in its unit",
        boot: "",
        weight: Severity::Notable,
        confidence: Confidence::WellKnown,
        judge: slack,
    },
];

pub const LIMITS: &[Check] = &[Check {
    id: "L1",
    group: Group::Limits,
    title: "right to a real-time priority",
    reads: "/proc/PID/{limits,status} of the program if one is named, else of this process",
    why: "Without it SCHED_FIFO fails with EPERM, and the loop often runs as an ordinary thread unnoticed.",
    now: "LimitRTPRIO=99 in the unit, --cap-add=sys_nice for a container",
    boot: "",
    weight: Severity::Grave,
    confidence: Confidence::Source,
    judge: priority,
}];

fn clock_source(seen: &Inspection) -> Finding {
    let read = &seen.facts.varying.clock_source.current;
    match read.known().map(String::as_str) {
        None => Finding::unread(read),
        Some(name @ ("hpet" | "acpi_pm" | "jiffies")) => Finding::bad(name, read.path()),
        Some(name) => Finding::good(name, read.path()),
    }
}

fn slack(seen: &Inspection) -> Finding {
    if let Some(priority) = seen.subject.priority {
        return Finding::does_not_apply(
            format!("the loop has the real-time priority {priority}"),
            "/proc/PID/timerslack_ns",
        );
    }
    if let Some(thread) = seen.leading_thread().filter(|thread| thread.is_real_time()) {
        return Finding::does_not_apply(
            format!("the program runs under {}", thread.policy_words()),
            "/proc/PID/timerslack_ns",
        );
    }
    let read = &seen.facts.varying.process.timer_slack_ns;
    match read.known() {
        None => Finding::unread(read),
        Some(&ns) => {
            let found = wakepath_timeline::duration::length(ns);
            Finding::judged(ns < seen.subject.noticeable_ns(), found, read.path())
                .costing(Magnitude::Delay { ns })
        }
    }
}

fn priority(seen: &Inspection) -> Finding {
    let process = &seen.facts.varying.process;
    let leading = seen.leading_thread();
    if let Some(thread) = leading.filter(|thread| thread.is_real_time()) {
        let found = format!("it has {} already", thread.policy_words());
        return Finding::good(found, format!("/proc/{}/stat", thread.tid));
    }
    // An ordinary program is asked for any priority at all.
    let Some(wanted) = seen.subject.priority.or(leading.map(|_| 1)) else {
        return Finding::does_not_apply(
            "the loop has no real-time priority",
            process.limits.path(),
        );
    };
    let capable = process.capabilities.known().map(|held| held.sys_nice);
    let own_namespace = process.own_user_namespace.known() == Some(&true);
    if capable == Some(true) && !own_namespace {
        return Finding::good("CAP_SYS_NICE", process.capabilities.path());
    }
    let Some(limits) = process.limits.known() else {
        return Finding::unread(&process.limits);
    };
    match limits.priority {
        Limit::Unlimited => Finding::good("no limit", process.limits.path()),
        Limit::Of(most) if most >= u64::from(wanted) => {
            Finding::good(format!("up to {most}"), process.limits.path())
        }
        Limit::Of(most) => Finding::bad(
            match leading {
                Some(_) => format!("no CAP_SYS_NICE, and RLIMIT_RTPRIO is {most}"),
                None => format!("up to {most}; the loop needs {wanted}"),
            },
            process.limits.path(),
        )
        .costing(Magnitude::Prevents),
        Limit::Unknown => Finding::unread(&process.limits),
    }
}
