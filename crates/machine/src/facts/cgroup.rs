//! A process's control group: which CPUs it grants, how much of them, and how much
//! real-time. It follows the hierarchy the process is really in, version 1, 2 or both.

use serde::{Deserialize, Serialize};

use super::MemoryLimitHits;
use crate::{Misread, Reading, Root};
use wakepath_timeline::{Budget, ControlGroup, CpuSet, Hierarchy};

/// Which hierarchies are mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CgroupLayout {
    /// Version 1 alone.
    V1,
    /// Version 2 alone.
    V2,
    /// Version 1 for some controllers, version 2 for the others.
    Hybrid,
    /// Not mounted.
    None,
    /// Not told.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The group and what it grants.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Cgroup {
    /// Version 1, 2 or both.
    pub layout: CgroupLayout,
    /// The process's group in the hierarchy that holds the `cpu` controller.
    pub group: Reading<String>,
    /// The CPUs that the group may use, as in effect.
    pub cpus: Reading<CpuSet>,
    /// CPU quotas of the group and of those above it, own first; only groups that have one.
    pub quotas: Vec<GroupQuota>,
    /// How often the group and those above it ran into their quotas, own first: each stops the group.
    pub throttled: Vec<GroupThrottling>,
    /// How often it ran into its memory limits.
    pub memory_limit_hits: Reading<MemoryLimitHits>,
    /// Real-time budgets of the group and of those above it, own first. Empty unless the kernel
    /// has RT_GROUP_SCHED and version 1 holds the `cpu` controller.
    pub real_time: Vec<GroupBudget>,
}

/// A quota: CPU time in each period, over all CPUs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupQuota {
    /// The group's path.
    pub group: String,
    /// CPU time, µs.
    pub runtime_us: u64,
    /// The period, µs.
    pub period_us: u64,
    /// The file that holds the quota; empty in facts of earlier versions.
    pub file: String,
}

/// Counters of one group's quota.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupThrottling {
    /// The group's path.
    pub group: String,
    /// Its file that holds the quota.
    pub file: String,
    /// How often it was stopped, and for how long, since the group was made.
    pub since_made: CpuThrottling,
}

impl GroupThrottling {
    /// The quota that was used up.
    pub fn budget(&self) -> Budget {
        Budget::CpuQuota {
            group: self.group.clone(),
            file: self.file.clone(),
        }
    }
}

impl GroupQuota {
    /// As a budget.
    pub fn budget(&self) -> Budget {
        Budget::CpuQuota {
            group: self.group.clone(),
            file: self.file.clone(),
        }
    }
}

/// A group's real-time budget on each CPU.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupBudget {
    /// The group's path.
    pub group: String,
    /// Granted in each period, µs; 0 forbids real-time policies, −1 is no limit.
    pub runtime_us: Reading<i64>,
    /// The period, µs.
    pub period_us: Reading<i64>,
}

/// Counters of a group's quota since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuThrottling {
    /// Periods in which it ran.
    pub periods: u64,
    /// Periods in which it was stopped.
    pub times: u64,
    /// Time for which it was stopped, µs.
    pub stopped_us: u64,
}

impl Cgroup {
    /// The groups that ran into their quotas since `earlier`, own first, with counters of that time alone.
    pub fn throttled_since(&self, earlier: &Self) -> Vec<GroupThrottling> {
        let since = |now: &GroupThrottling| {
            let mut earlier = earlier.throttled.iter();
            let was = earlier.find(|was| was.file == now.file)?.since_made;
            let times = now.since_made.times.checked_sub(was.times)?;
            (times > 0).then(|| GroupThrottling {
                since_made: CpuThrottling {
                    periods: now.since_made.periods.saturating_sub(was.periods),
                    times,
                    stopped_us: now.since_made.stopped_us.saturating_sub(was.stopped_us),
                },
                ..now.clone()
            })
        };
        self.throttled.iter().filter_map(since).collect()
    }

    /// The group of another process.
    pub fn of_process(root: &Root, pid: u32) -> Self {
        Self::read(root, &format!("/proc/{pid}"))
    }

    /// The group of the process at `process`: `/proc/self`, or `/proc/PID`.
    pub(super) fn read(root: &Root, process: &str) -> Self {
        let mounts = root.text("/proc/self/mountinfo");
        let Some(mounts) = mounts.known().map(|text| Hierarchy::all(text)) else {
            return Self {
                group: mounts.without_value(),
                ..Self::default()
            };
        };
        let file = format!("{process}/cgroup");
        let memberships = root.text(&file);
        let Some(memberships) = memberships.known() else {
            return Self {
                group: memberships,
                ..Self::default()
            };
        };
        let has = |is_v2| mounts.iter().any(|mount| mount.is_v2 == is_v2);
        let layout = match (has(false), has(true)) {
            (true, true) => CgroupLayout::Hybrid,
            (true, false) => CgroupLayout::V1,
            (false, true) => CgroupLayout::V2,
            (false, false) => CgroupLayout::None,
        };
        let Some(cpu) = ControlGroup::new("cpu", &mounts, memberships) else {
            let why = "its hierarchy is not mounted here";
            return Self {
                layout,
                group: Reading::unreadable(file, "", why),
                ..Self::default()
            };
        };
        let cpuset = ControlGroup::new("cpuset", &mounts, memberships);
        let memory = ControlGroup::new("memory", &mounts, memberships);
        Self {
            layout,
            cpus: cpuset.map_or(Reading::NotRead, |group| cpus(root, &group)),
            quotas: cpu
                .upwards()
                .filter_map(|group| quota(root, group))
                .collect(),
            throttled: cpu
                .upwards()
                .filter_map(|group| group_throttling(root, group))
                .collect(),
            memory_limit_hits: memory.map_or(Reading::NotRead, |group| {
                MemoryLimitHits::read(root, &group)
            }),
            real_time: real_time(root, &cpu),
            group: Reading::found(cpu.path, file),
        }
    }
}

/// The nearest group upwards that has the cpuset controller decides.
fn cpus(root: &Root, group: &ControlGroup) -> Reading<CpuSet> {
    let mut own = None;
    for group in group.upwards() {
        let list = root.cpus(&group.file(group.allowed_cpus_file()));
        if !list.is_absent() {
            return list;
        }
        own.get_or_insert(list);
    }
    own.unwrap_or_default()
}

/// None for a group without counters: the top, or one without the controller.
fn group_throttling(root: &Root, group: ControlGroup) -> Option<GroupThrottling> {
    let stat = root.parsed(&group.file("cpu.stat"), throttling);
    Some(GroupThrottling {
        since_made: *stat.known()?,
        file: group.file(group.quota_file()),
        group: group.path,
    })
}

fn quota(root: &Root, group: ControlGroup) -> Option<GroupQuota> {
    let name = group.quota_file();
    let file = group.file(name);
    let (runtime_us, period_us) = if group.is_v2 {
        let text = root.parsed(&file, cpu_max);
        text.known().copied().flatten()?
    } else {
        let number = |name| root.number::<i64>(&group.file(name)).known().copied();
        let quota = u64::try_from(number(name)?).ok()?;
        (quota, u64::try_from(number("cpu.cfs_period_us")?).ok()?)
    };
    Some(GroupQuota {
        group: group.path,
        runtime_us,
        period_us,
        file,
    })
}

fn real_time(root: &Root, group: &ControlGroup) -> Vec<GroupBudget> {
    let budgets = group.upwards().map(|group| GroupBudget {
        runtime_us: root.number(&group.file("cpu.rt_runtime_us")),
        period_us: root.number(&group.file("cpu.rt_period_us")),
        group: group.path,
    });
    budgets
        .filter(|budget| !budget.runtime_us.is_absent())
        .collect()
}

/// `max 100000` (no quota) or `50000 100000`.
fn cpu_max(text: &str) -> Result<Option<(u64, u64)>, Misread> {
    let mut words = text.split_whitespace();
    let wrong = || Misread::NotOfForm("e.g. `max 100000`");
    let (quota, period) = (
        words.next().ok_or_else(wrong)?,
        words.next().ok_or_else(wrong)?,
    );
    let period = period.parse().map_err(|_| wrong())?;
    match quota {
        "max" => Ok(None),
        number => Ok(Some((number.parse().map_err(|_| wrong())?, period))),
    }
}

fn throttling(text: &str) -> Result<CpuThrottling, Misread> {
    let value = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
    };
    // Version 1 counts nanoseconds, version 2 microseconds.
    let stopped_us = value("throttled_usec ").or_else(|| Some(value("throttled_time ")? / 1_000));
    match (value("nr_throttled "), stopped_us) {
        (Some(times), Some(stopped_us)) => Ok(CpuThrottling {
            periods: value("nr_periods ").unwrap_or(0),
            times,
            stopped_us,
        }),
        _ => Err(Misread::lacks("quota counters")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotas_are_read_or_none() {
        assert_eq!(cpu_max("max 100000"), Ok(None));
        assert_eq!(cpu_max("50000 100000"), Ok(Some((50_000, 100_000))));
        assert!(cpu_max("max").is_err());
    }

    #[test]
    fn both_versions_of_the_quota_counters_become_microseconds() {
        let expected = CpuThrottling {
            periods: 9,
            times: 2,
            stopped_us: 5,
        };
        assert_eq!(
            throttling("nr_periods 9\nnr_throttled 2\nthrottled_time 5000"),
            Ok(expected)
        );
        assert_eq!(
            throttling("nr_periods 9\nnr_throttled 2\nthrottled_usec 5"),
            Ok(expected)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(
            text in "(max|nr_throttled|throttled_usec|[0-9 \n])*",
        ) {
            let _ = (cpu_max(&text), throttling(&text));
        }
    }
}
