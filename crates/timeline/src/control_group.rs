//! A process's control group in the hierarchy that holds a controller, version 1, 2 or both mounted:
//! where its files are, and the groups above it. It reads no file.

use std::fmt;

use crate::one_line;

/// Groups nest a handful deep; more is a damaged file.
const DEEPEST: usize = 64;

/// A control group of one hierarchy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ControlGroup {
    /// Where the hierarchy is mounted, `/sys/fs/cgroup` or `/sys/fs/cgroup/cpu`.
    pub mount: String,
    /// The group's path below the mount; `/` is the top.
    pub path: String,
    /// Whether the hierarchy is of version 2.
    pub is_v2: bool,
}

/// One mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// The group that is mounted, `/` outside containers.
    top: String,
    folder: String,
    /// Whether it is of version 2.
    pub is_v2: bool,
    /// Controllers and options of a version 1 hierarchy.
    controllers: Vec<String>,
}

impl Hierarchy {
    /// The hierarchies in the text of `/proc/self/mountinfo`; its fields are in proc_pid_mountinfo(5).
    pub fn all(mountinfo: &str) -> Vec<Self> {
        let mount = |line: &str| {
            let (before, after) = line.split_once(" - ")?;
            let mut before = before.split(' ').skip(3);
            let (top, folder) = (before.next()?, before.next()?);
            let mut after = after.split(' ');
            let is_v2 = match after.next()? {
                "cgroup2" => true,
                "cgroup" => false,
                _ => return None,
            };
            let options = after.nth(1).unwrap_or("");
            Some(Self {
                top: top.to_owned(),
                folder: folder.to_owned(),
                is_v2,
                controllers: options.split(',').map(str::to_owned).collect(),
            })
        };
        mountinfo.lines().filter_map(mount).collect()
    }
}

impl ControlGroup {
    /// A process's group for `controller`, from its `/proc/PID/cgroup` and the hierarchies mounted here. A
    /// controller is in version 1 if a hierarchy of version 1 has it, else in version 2. `None` if no
    /// hierarchy has it here, or the group is outside the part that is mounted.
    pub fn new(controller: &str, hierarchies: &[Hierarchy], memberships: &str) -> Option<Self> {
        let has = |hierarchy: &Hierarchy| hierarchy.controllers.iter().any(|c| c == controller);
        let mount = hierarchies
            .iter()
            .find(|hierarchy| !hierarchy.is_v2 && has(hierarchy))
            .or_else(|| hierarchies.iter().find(|hierarchy| hierarchy.is_v2))?;
        // `NUMBER:CONTROLLERS:GROUP`, without controllers for version 2.
        let group = memberships.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, group) = (parts.next()?, parts.next()?);
            let is_it = if mount.is_v2 {
                controllers.is_empty()
            } else {
                controllers.split(',').any(|name| name == controller)
            };
            is_it.then_some(group)
        })?;
        let below = match mount.top.as_str() {
            "/" => group,
            top => group.strip_prefix(top)?,
        };
        Some(Self {
            mount: mount.folder.clone(),
            path: if below.is_empty() { "/" } else { below }.to_owned(),
            is_v2: mount.is_v2,
        })
    }

    /// The path of one of the group's files.
    pub fn file(&self, name: &str) -> String {
        format!("{}{}/{name}", self.mount, self.path.trim_end_matches('/'))
    }

    /// The name of the file that holds the CPUs in effect for a group of the cpuset controller.
    pub fn allowed_cpus_file(&self) -> &'static str {
        if self.is_v2 {
            "cpuset.cpus.effective"
        } else {
            "cpuset.effective_cpus"
        }
    }

    /// The name of the file that holds a group's CPU quota.
    pub fn quota_file(&self) -> &'static str {
        if self.is_v2 {
            "cpu.max"
        } else {
            "cpu.cfs_quota_us"
        }
    }

    /// The group, then those above it, up to the top.
    pub fn upwards(&self) -> impl Iterator<Item = Self> + use<> {
        let parent = |group: &Self| {
            let cut = group.path.trim_end_matches('/').rfind('/')?;
            let path = match cut {
                0 => "/",
                _ => &group.path[..cut],
            };
            Some(Self {
                path: path.to_owned(),
                ..group.clone()
            })
        };
        std::iter::successors(Some(self.clone()), parent).take(DEEPEST)
    }
}

/// A control group that forbids SCHED_FIFO and SCHED_RR to everyone, root too: with RT_GROUP_SCHED, a group of
/// version 1 whose real-time budget is 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoRealTimeBudget {
    /// The group's path.
    pub group: String,
    /// The file that holds its budget, µs in each period.
    pub file: String,
}

impl NoRealTimeBudget {
    /// Whether a group with this budget forbids real-time policies, µs; `machine_us` is
    /// `kernel.sched_rt_runtime_us`, negative for no limit, which lifts the groups' budgets too
    /// (`__sched_setscheduler` in the kernel's `kernel/sched/syscalls.c`).
    pub fn forbids(group_us: i64, machine_us: Option<i64>) -> bool {
        group_us == 0 && machine_us.is_none_or(|us| us >= 0)
    }

    /// The reason, without the fix.
    pub fn reason(&self) -> String {
        format!(
            "control group {} has no real-time budget",
            one_line(&self.group)
        )
    }

    /// The fix.
    pub fn fix(&self) -> String {
        format!(
            "write microseconds to {}, and first to the groups above it; or move the process to the top \
             group",
            one_line(&self.file)
        )
    }
}

impl fmt::Display for NoRealTimeBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason(), self.fix())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_container_s_mount_hides_the_groups_above_it() {
        let mounts = Hierarchy::all("9 8 0:1 /pod/a /sys/fs/cgroup rw - cgroup2 cgroup rw");
        let group = ControlGroup::new("cpu", &mounts, "0::/pod/a/job").unwrap();
        assert_eq!(group.file("cpu.max"), "/sys/fs/cgroup/job/cpu.max");
        let paths: Vec<String> = group.upwards().map(|group| group.path).collect();
        assert_eq!(paths, ["/job", "/"]);
    }

    #[test]
    fn a_controller_of_version_1_is_not_looked_for_in_version_2() {
        let mounts = Hierarchy::all(
            "9 8 0:1 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
             9 8 0:1 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
        );
        let memberships = "3:cpu,cpuacct:/robot\n0::/unified";
        let group = ControlGroup::new("cpu", &mounts, memberships).unwrap();
        assert_eq!(
            (group.file("cpu.stat").as_str(), group.is_v2),
            ("/sys/fs/cgroup/cpu,cpuacct/robot/cpu.stat", false)
        );
        let group = ControlGroup::new("memory", &mounts, memberships).unwrap();
        assert_eq!((group.path.as_str(), group.is_v2), ("/unified", true));
    }

    #[test]
    fn a_budget_of_nothing_forbids_unless_the_machine_has_no_limit() {
        assert!(NoRealTimeBudget::forbids(0, Some(950_000)));
        assert!(NoRealTimeBudget::forbids(0, None));
        assert!(!NoRealTimeBudget::forbids(0, Some(-1)));
        assert!(!NoRealTimeBudget::forbids(20_000, Some(950_000)));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(
            mounts in "((/[a-zé]{0,3}){0,3}| - |cgroup2? |cpu,|[0-9: \n])*",
            groups in "([0-9]?:(cpu)?:(/[a-zé]{0,3}){0,4}\n?)*",
        ) {
            if let Some(group) = ControlGroup::new("cpu", &Hierarchy::all(&mounts), &groups) {
                prop_assert!(group.upwards().count() <= DEEPEST);
            }
        }
    }
}
