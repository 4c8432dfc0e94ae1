//! The reading process's control group: which CPUs it grants, how much of them, and how much
//! real-time. It follows the hierarchy the process is really in, version 1, 2 or both.

use serde::{Deserialize, Serialize};

use crate::{Misread, Reading, Root};
use wakepath_timeline::CpuSet;

/// Groups nest a handful deep; more is a damaged file.
const DEEPEST: usize = 64;

/// Which hierarchies are mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CgroupLayout {
    /// Version 1 alone.
    V1,
    /// Version 2 alone.
    V2,
    /// Version 1 for some controllers, version 2 beside it.
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
    /// How often the group ran into its quota.
    pub throttling: Reading<CpuThrottling>,
    /// Real-time budgets of the group and of those above it, own first. Empty unless the kernel
    /// has RT_GROUP_SCHED and version 1 holds the `cpu` controller.
    pub real_time: Vec<GroupBudget>,
}

/// A quota: so much CPU time in each period, over all CPUs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupQuota {
    /// The group's path.
    pub group: String,
    /// CPU time, µs.
    pub runtime_us: u64,
    /// The period, µs.
    pub period_us: u64,
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
    /// Periods in which it was stopped.
    pub times: u64,
    /// Time for which it was stopped, µs.
    pub stopped_us: u64,
}

/// One mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Mount {
    /// The group that is mounted, `/` outside containers.
    top: String,
    folder: String,
    v2: bool,
    controllers: Vec<String>,
}

impl Cgroup {
    pub(super) fn read(root: &Root) -> Self {
        let mounts = root.text("/proc/self/mountinfo");
        let Some(mounts) = mounts.known().map(|text| mounted(text)) else {
            return Self {
                group: mounts.without_value(),
                ..Self::default()
            };
        };
        let groups = root.text("/proc/self/cgroup");
        let Some(groups) = groups.known().map(|text| memberships(text)) else {
            return Self {
                group: groups,
                ..Self::default()
            };
        };
        let (v1, v2) = (mounts.iter().any(|m| !m.v2), mounts.iter().any(|m| m.v2));
        let layout = match (v1, v2) {
            (true, true) => CgroupLayout::Hybrid,
            (true, false) => CgroupLayout::V1,
            (false, true) => CgroupLayout::V2,
            (false, false) => CgroupLayout::None,
        };
        let Some(cpu) = Place::of("cpu", &mounts, &groups) else {
            let why = "its hierarchy is not mounted here";
            let group = Reading::unreadable("/proc/self/cgroup", "", why);
            return Self {
                layout,
                group,
                ..Self::default()
            };
        };
        let cpuset = Place::of("cpuset", &mounts, &groups);
        Self {
            layout,
            cpus: cpuset.map_or(Reading::NotRead, |place| place.cpus(root)),
            quotas: cpu
                .upwards()
                .filter_map(|group| cpu.quota(root, &group))
                .collect(),
            throttling: root.parsed(&cpu.file(&cpu.group, "cpu.stat"), throttling),
            real_time: cpu.real_time(root),
            group: Reading::found(cpu.group, "/proc/self/cgroup"),
        }
    }
}

/// Where a controller's files of the own group lie.
struct Place {
    folder: String,
    /// Below `folder`; `/` for the top.
    group: String,
    v2: bool,
}

impl Place {
    fn of(controller: &str, mounts: &[Mount], groups: &[(Vec<String>, String)]) -> Option<Self> {
        let has = |list: &[String]| list.iter().any(|name| name == controller);
        // A controller is in version 1 if any v1 hierarchy has it, else in version 2.
        let mount = mounts
            .iter()
            .find(|mount| !mount.v2 && has(&mount.controllers))
            .or_else(|| mounts.iter().find(|mount| mount.v2))?;
        let (_, group) = groups.iter().find(|(controllers, _)| {
            if mount.v2 {
                controllers.is_empty()
            } else {
                has(controllers)
            }
        })?;
        let below = if mount.top == "/" {
            group
        } else {
            group.strip_prefix(&mount.top)?
        };
        let group = if below.is_empty() { "/" } else { below };
        Some(Self {
            folder: mount.folder.clone(),
            group: group.to_owned(),
            v2: mount.v2,
        })
    }

    fn file(&self, group: &str, name: &str) -> String {
        format!("{}{}/{name}", self.folder, group.trim_end_matches('/'))
    }

    /// The own group, then the ones above it, up to the top.
    fn upwards(&self) -> impl Iterator<Item = String> + use<> {
        let parent = |group: &String| {
            let cut = group.trim_end_matches('/').rfind('/')?;
            Some(if cut == 0 {
                "/".to_owned()
            } else {
                group[..cut].to_owned()
            })
        };
        std::iter::successors(Some(self.group.clone()), parent).take(DEEPEST)
    }

    /// The nearest group upwards that has the cpuset controller decides.
    fn cpus(&self, root: &Root) -> Reading<CpuSet> {
        let name = if self.v2 {
            "cpuset.cpus.effective"
        } else {
            "cpuset.effective_cpus"
        };
        let mut own = None;
        for group in self.upwards() {
            let list = root.cpus(&self.file(&group, name));
            if !list.is_absent() {
                return list;
            }
            own.get_or_insert(list);
        }
        own.unwrap_or_default()
    }

    fn quota(&self, root: &Root, group: &str) -> Option<GroupQuota> {
        let (runtime_us, period_us) = if self.v2 {
            let text = root.parsed(&self.file(group, "cpu.max"), cpu_max);
            text.known().copied().flatten()?
        } else {
            let number = |name| root.number::<i64>(&self.file(group, name)).known().copied();
            let quota = u64::try_from(number("cpu.cfs_quota_us")?).ok()?;
            (quota, u64::try_from(number("cpu.cfs_period_us")?).ok()?)
        };
        Some(GroupQuota {
            group: group.to_owned(),
            runtime_us,
            period_us,
        })
    }

    fn real_time(&self, root: &Root) -> Vec<GroupBudget> {
        let budgets = self.upwards().map(|group| GroupBudget {
            runtime_us: root.number(&self.file(&group, "cpu.rt_runtime_us")),
            period_us: root.number(&self.file(&group, "cpu.rt_period_us")),
            group,
        });
        budgets
            .filter(|budget| !budget.runtime_us.is_absent())
            .collect()
    }
}

/// Hierarchies in `/proc/self/mountinfo`; its fields are in proc_pid_mountinfo(5).
fn mounted(text: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let (top, folder) = (before.next()?, before.next()?);
        let mut after = after.split(' ');
        let v2 = match after.next()? {
            "cgroup2" => true,
            "cgroup" => false,
            _ => return None,
        };
        let options = after.nth(1).unwrap_or("");
        let controllers = options.split(',').map(str::to_owned).collect();
        Some(Mount {
            top: top.to_owned(),
            folder: folder.to_owned(),
            v2,
            controllers,
        })
    };
    text.lines().filter_map(mount).collect()
}

/// Lines of `/proc/self/cgroup`: controllers (none for version 2) and the group.
fn memberships(text: &str) -> Vec<(Vec<String>, String)> {
    let line = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?.split(',').filter(|name| !name.is_empty());
        let controllers = controllers.map(str::to_owned).collect();
        Some((controllers, parts.next()?.to_owned()))
    };
    text.lines().filter_map(line).collect()
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
        (Some(times), Some(stopped_us)) => Ok(CpuThrottling { times, stopped_us }),
        _ => Err(Misread::lacks("quota counters")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_container_s_mount_hides_the_groups_above_it() {
        let mounts = mounted("9 8 0:1 /pod/a /sys/fs/cgroup rw - cgroup2 cgroup rw");
        let place = Place::of("cpu", &mounts, &memberships("0::/pod/a/job")).unwrap();
        assert_eq!(
            place.file(&place.group, "cpu.max"),
            "/sys/fs/cgroup/job/cpu.max"
        );
        assert_eq!(place.upwards().collect::<Vec<_>>(), ["/job", "/"]);
    }

    #[test]
    fn quotas_are_read_or_none() {
        assert_eq!(cpu_max("max 100000"), Ok(None));
        assert_eq!(cpu_max("50000 100000"), Ok(Some((50_000, 100_000))));
        assert!(cpu_max("max").is_err());
    }

    #[test]
    fn both_versions_of_the_quota_counters_become_microseconds() {
        let expected = CpuThrottling {
            times: 2,
            stopped_us: 5,
        };
        assert_eq!(
            throttling("nr_throttled 2\nthrottled_time 5000"),
            Ok(expected)
        );
        assert_eq!(throttling("nr_throttled 2\nthrottled_usec 5"), Ok(expected));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(
            mounts in "((/[a-zé]{0,3}){0,3}| - |cgroup2? |cpu,|[0-9: \n])*",
            groups in "([0-9]?:(cpu)?:(/[a-zé]{0,3}){0,4}\n?)*",
        ) {
            let _ = (cpu_max(&groups), throttling(&groups));
            if let Some(place) = Place::of("cpu", &mounted(&mounts), &memberships(&groups)) {
                prop_assert!(place.upwards().count() <= DEEPEST);
            }
        }
    }
}
