//! CPU quotas of the control group: cgroups, containers, systemd's CPUQuota=.

use crate::{Check, Confidence, Finding, Group, Inspection, Magnitude, Severity};

pub const CHECKS: &[Check] = &[Check {
    id: super::CPU_QUOTA,
    group: Group::Scheduler,
    title: "CPU quota of the control group",
    reads: "cpu.max, or cpu.cfs_quota_us and cpu.cfs_period_us, of the group and those above it",
    why: "Ordinary threads of a group that has used up its quota are stopped until the quota's period \
          ends, 100 ms by default, however idle the CPU is. Real-time threads are not.",
    now: "docker update --cpus 0 CONTAINER, systemctl set-property UNIT CPUQuota=, or max in cpu.max",
    boot: "",
    weight: Severity::Minor,
    confidence: Confidence::Source,
    judge: quota,
}];

fn quota(seen: &Inspection) -> Finding {
    let group = &seen.facts.varying.cgroup;
    let Some(own) = group.group.known() else {
        return Finding::unread(&group.group);
    };
    // A quota of as much as all CPUs give stops nobody.
    let cpus = seen.online().len().max(1) as u64;
    let bites = |quota: &&wakepath_machine::GroupQuota| {
        quota.runtime_us < quota.period_us.saturating_mul(cpus)
    };
    let Some(quota) = group.quotas.iter().find(bites) else {
        return Finding::good(format!("{own} has none"), group.group.path());
    };
    let counted = group.throttled.iter().find(|of| of.file == quota.file);
    let times = counted.map_or(0, |of| of.since_made.times);
    let stopped = match times {
        0 => String::new(),
        times => format!(", which stopped it {times} times since it was made"),
    };
    let found = format!(
        "{} has {} µs of each {} µs{stopped}",
        quota.group, quota.runtime_us, quota.period_us
    );
    let ordinary = match seen.leading_thread() {
        Some(thread) => !thread.is_real_time(),
        None => seen.subject.priority.is_none(),
    };
    let stop_us = quota.period_us.saturating_sub(quota.runtime_us);
    let ns = stop_us.saturating_mul(1_000);
    let cost = match (ordinary && stop_us > 0, times) {
        (false, _) => Magnitude::NotKnown,
        (true, 0) => Magnitude::Stop {
            ns,
            every_ns: quota.period_us.saturating_mul(1_000),
        },
        // It has struck.
        (true, _) => Magnitude::Delay { ns },
    };
    Finding::bad(found, &quota.file)
        .costing(cost)
        .remedied_by(quota.budget().fix())
}
