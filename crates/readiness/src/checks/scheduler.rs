//! Time that the scheduler takes from real-time loops, and policies that it refuses.

use crate::{Check, Confidence, Finding, Group, Inspection, Magnitude, Severity};
use wakepath_machine::{Reading, timers_elsewhere};
use wakepath_timeline::{CpuSet, NoRealTimeBudget, Policy};

pub const CHECKS: &[Check] = &[
    Check {
        id: "S1",
        group: Group::Scheduler,
        title: "real-time throttling",
        reads: "/proc/sys/kernel/sched_rt_runtime_us, sched_rt_period_us",
        why: "Real-time loops that use up their share of a period are stopped for the rest of it. This never \
              affects a loop that sleeps in each cycle; it stops one that spins by mistake.",
        now: "correct the spin; sysctl kernel.sched_rt_runtime_us=-1 only on an isolated CPU, with \
              a watchdog: a spinning loop then locks up its CPU",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: throttling,
    },
    Check {
        id: "S2",
        group: Group::Scheduler,
        title: "fair server",
        reads: "/sys/kernel/debug/sched/fair_server/cpuN/{runtime,period}",
        why: "From Linux 6.12 ordinary threads have a reservation that runs before FIFO and RR loops when they \
              starve, regardless of sched_rt_runtime_us.",
        now: "ordinary threads can then starve: echo 0 > /sys/kernel/debug/sched/fair_server/cpuN/runtime",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: fair_server,
    },
    Check {
        id: "S3",
        group: Group::Scheduler,
        title: "real-time budget of the control group",
        reads: "CONFIG_RT_GROUP_SCHED, cpu.rt_runtime_us of the group and those above it",
        why: "With RT_GROUP_SCHED, SCHED_FIFO fails with EPERM in a group without a budget, even for root. Some \
              board vendors' kernels enable it.",
        now: "write a budget to the group's cpu.rt_runtime_us, from the top down",
        boot: "a kernel without CONFIG_RT_GROUP_SCHED (newer ones: rt_group_sched=0)",
        weight: Severity::Grave,
        confidence: Confidence::Source,
        judge: group_budget,
    },
    Check {
        id: "S4",
        group: Group::Scheduler,
        title: "admission of SCHED_DEADLINE",
        reads: "/proc/PID/status (Cpus_allowed_list), the group's cpus, \
                /proc/sys/kernel/sched_deadline_period_{min,max}_us",
        why: "A thread not allowed on its whole root domain gets EPERM; one whose reservation does not fit gets \
              EBUSY.",
        now: "a separate partition for the loop",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: deadline,
    },
    Check {
        id: "S5",
        group: Group::Scheduler,
        title: "lock-up detectors",
        reads: "/proc/sys/kernel/watchdog_cpumask, nmi_watchdog",
        why: "They wake up every few seconds on each of their CPUs; the NMI watchdog also uses a performance \
              counter's interrupt.",
        now: "sysctl kernel.watchdog_cpumask=CPUS kernel.nmi_watchdog=0",
        boot: "nowatchdog",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: watchdog,
    },
    Check {
        id: "S6",
        group: Group::Scheduler,
        title: "timer migration",
        reads: "/proc/sys/kernel/timer_migration",
        why: "Timers of idle CPUs can be moved to this one, and timers of a loop on a nohz_full CPU to another.",
        now: "sysctl kernel.timer_migration=0",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::WellKnown,
        judge: timer_migration,
    },
    Check {
        id: "S7",
        group: Group::Scheduler,
        title: "real-time core",
        reads: "/dev/evl/control, /sys/devices/virtual/evl/control, /proc/xenomai, /proc/litmus",
        why: "A real-time core next to Linux's scheduler has its own policies, whose timers expire early by their \
              gravity. A core that is stopped, inaccessible to this user or of an unknown ABI can't be used.",
        now: "echo start > /sys/devices/virtual/evl/control/state; give your user access to /dev/evl/control",
        boot: "",
        weight: Severity::Minor,
        confidence: Confidence::Source,
        judge: core,
    },
];

fn throttling(seen: &Inspection) -> Finding {
    let real_time = &seen.facts.varying.real_time;
    let Some(&runtime) = real_time.runtime_us.known() else {
        return Finding::unread(&real_time.runtime_us);
    };
    let path = real_time.runtime_us.path();
    if runtime < 0 {
        return Finding::good("−1: switched off", path);
    }
    let Some(&period) = real_time.period_us.known() else {
        return Finding::unread(&real_time.period_us);
    };
    let found = format!("{runtime} of {period} µs");
    // From 6.12 on, without RT_GROUP_SCHED, the fair server has taken its place (S2).
    let group = seen.facts.fixed.config.is_set("RT_GROUP_SCHED");
    if seen.kernel_at_least(6, 12) == Some(true) && group == Some(false) {
        return Finding::good(
            format!("{found}: not in force on this kernel, see S2"),
            path,
        );
    }
    let stop_us = u64::try_from(period.saturating_sub(runtime)).unwrap_or(0);
    if stop_us == 0 {
        return Finding::good(format!("{found}: reserves nothing"), path);
    }
    let stop = Magnitude::Stop {
        ns: stop_us.saturating_mul(1_000),
        every_ns: u64::try_from(period).unwrap_or(0).saturating_mul(1_000),
    };
    Finding::bad(found, path).costing(only_if_it_spins(seen, stop))
}

/// A stop that strikes only a loop that never sleeps: its figure counts for a real-time loop; an
/// ordinary one is not concerned.
fn only_if_it_spins(seen: &Inspection, stop: Magnitude) -> Magnitude {
    match seen.subject.priority {
        Some(_) => stop,
        None => Magnitude::NotKnown,
    }
}

fn fair_server(seen: &Inspection) -> Finding {
    let servers = &seen.facts.varying.real_time.fair_server;
    let path = "/sys/kernel/debug/sched/fair_server";
    if seen.kernel_at_least(6, 12) == Some(false) {
        return Finding::does_not_apply("older than Linux 6.12", path);
    }
    let Some(known) = servers.known() else {
        return Finding::unread(servers);
    };
    let own: Vec<_> = known
        .iter()
        .filter(|server| seen.subject.cpus.contains(server.cpu))
        .collect();
    if own.is_empty() {
        return Finding::unknown("no server found for the loop's CPU", path);
    }
    match own.iter().find(|server| server.runtime_ns > 0) {
        None => Finding::good("runtime 0: switched off", path),
        Some(server) => Finding::bad(
            format!(
                "CPU {}: {} of {} µs for ordinary threads",
                server.cpu,
                server.runtime_ns / 1_000,
                server.period_ns / 1_000
            ),
            path,
        )
        .costing(only_if_it_spins(
            seen,
            Magnitude::Stop {
                ns: server.runtime_ns,
                every_ns: server.period_ns,
            },
        ))
        .remedied_by(format!("echo 0 > {path}/cpu{}/runtime", server.cpu)),
    }
}

fn group_budget(seen: &Inspection) -> Finding {
    let config = &seen.facts.fixed.config;
    match config.is_set("RT_GROUP_SCHED") {
        Some(false) => {
            return Finding::good("a kernel without RT_GROUP_SCHED", config.options.path());
        }
        None if seen.facts.varying.cgroup.real_time.is_empty() => {
            return Finding::unread(&config.options);
        }
        _ => {}
    }
    for budget in &seen.facts.varying.cgroup.real_time {
        match &budget.runtime_us {
            Reading::Known { value: 0, path } => {
                let missing = NoRealTimeBudget {
                    group: budget.group.clone(),
                    file: path.clone(),
                };
                return Finding::bad(format!("{} has 0 µs", budget.group), path)
                    .costing(Magnitude::Prevents)
                    .remedied_by(missing.fix());
            }
            Reading::Known { .. } => {}
            other => return Finding::unread(other),
        }
    }
    Finding::good(
        "every group on the way has a budget",
        seen.facts.varying.cgroup.group.path(),
    )
}

fn deadline(seen: &Inspection) -> Finding {
    let limits = &seen.facts.varying.real_time;
    for (bound, too_far) in [
        (&limits.deadline_period_min_us, std::cmp::Ordering::Less),
        (&limits.deadline_period_max_us, std::cmp::Ordering::Greater),
    ] {
        if let Some(us) = bound.known()
            && seen.subject.period_ns.cmp(&us.saturating_mul(1_000)) == too_far
        {
            return Finding::bad(
                format!("the period is outside the bound of {us} µs"),
                bound.path(),
            )
            .costing(Magnitude::Prevents);
        }
    }
    let affinity = &seen.facts.varying.process.affinity;
    let Some(allowed) = affinity.known() else {
        return Finding::unread(affinity);
    };
    let isolated = seen.facts.varying.cpu_time.isolated.known();
    let domain: CpuSet = match isolated {
        Some(isolated) => seen.online().without(isolated),
        None => return Finding::unread(&seen.facts.varying.cpu_time.isolated),
    };
    let outside = domain.without(allowed);
    if outside.is_empty() {
        Finding::good("allowed on its whole root domain", affinity.path())
    } else {
        Finding::bad(
            format!("not allowed on CPU {outside} of its root domain"),
            affinity.path(),
        )
    }
}

fn watchdog(seen: &Inspection) -> Finding {
    let folder = "/proc/sys/kernel";
    let on: Reading<u32> = seen.root.number(&format!("{folder}/watchdog"));
    let by_nmi: Reading<u32> = seen.root.number(&format!("{folder}/nmi_watchdog"));
    let cpus = seen.root.cpus(&format!("{folder}/watchdog_cpumask"));
    if on.known() == Some(&0) {
        return Finding::good("switched off", on.path());
    }
    if by_nmi.known() == Some(&1) {
        return Finding::bad("the NMI watchdog is on", by_nmi.path());
    }
    match cpus.known() {
        None if cpus.is_absent() && by_nmi.is_absent() && seen.root.exists(folder) => {
            Finding::does_not_apply("a kernel without them", cpus.path())
        }
        None => Finding::unread(&cpus),
        Some(list) => Finding::judged(
            seen.on_loop(list).is_empty(),
            format!("on CPU {list}"),
            cpus.path(),
        ),
    }
}

fn core(seen: &Inspection) -> Finding {
    let cores = &seen.facts.varying.cores;
    let path = match cores.cobalt {
        Some(_) => "/proc/xenomai/version",
        None => "/dev/evl/control",
    };
    if cores.is_empty() {
        return Finding::does_not_apply("no EVL, Cobalt or LITMUS^RT in this kernel", path);
    }
    if let Some(evl) = cores.evl.as_ref().filter(|evl| evl.abi.known().is_none()) {
        return Finding::unread(&evl.abi);
    }
    let litmus = cores
        .litmus
        .as_ref()
        .filter(|core| core.access.known() == Some(&false));
    if let Some(core) = litmus {
        let path = core.access.path();
        return Finding::bad(format!("this user can't open {path}"), path);
    }
    let of_evl = cores.evl.as_ref().map(|_| Policy::EvlFifo { priority: 1 });
    let of_cobalt = cores
        .cobalt
        .as_ref()
        .map(|_| Policy::CobaltFifo { priority: 1 });
    let wanted = of_evl.into_iter().chain(of_cobalt);
    match wanted.filter_map(|policy| cores.refusal(policy)).next() {
        Some(why) => Finding::bad(why, path),
        None => Finding::good(cores.lines().join("; "), path),
    }
}

fn timer_migration(seen: &Inspection) -> Finding {
    let read = &seen.facts.varying.real_time.timer_migration;
    let Some(&value) = read.known() else {
        return Finding::unread(read);
    };
    let elsewhere = timers_elsewhere(&seen.root, &seen.subject.cpus);
    if elsewhere.is_empty() {
        Finding::judged(value == 0, value.to_string(), read.path())
    } else {
        Finding::bad(
            format!(
                "{value}, and the loop's CPU is one of nohz_full: its timers are armed on CPU {elsewhere}, so each \
                 wake-up takes an additional interrupt"
            ),
            read.path(),
        )
    }
}
