//! The budgets of CPU time that a thread can run out of: who grants each, and how to lift it.

use std::fmt;

use crate::one_line;

/// A budget of CPU time, or a stop that ends when it is lifted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Budget {
    /// A control group's CPU quota, for ordinary threads.
    CpuQuota {
        /// The group's path.
        group: String,
        /// Its `cpu.max`, or `cpu.cfs_quota_us`.
        file: String,
    },
    /// A control group's real-time budget (RT_GROUP_SCHED), for FIFO and RR.
    GroupRealTime {
        /// The group's path.
        group: String,
        /// Its `cpu.rt_runtime_us`.
        file: String,
    },
    /// The machine's limit for FIFO and RR, `kernel.sched_rt_runtime_us`.
    MachineRealTime,
    /// The reservation that ordinary threads have against FIFO and RR on a CPU, from Linux 6.12 on.
    FairServer,
    /// The thread's own SCHED_DEADLINE runtime.
    Reservation,
}

impl Budget {
    /// The fix, in one line.
    pub fn fix(&self) -> String {
        match self {
            Self::CpuQuota { group, file } => {
                let value = if file.ends_with("cpu.max") { "max" } else { "-1" };
                let by = manager(group);
                format!("lift the quota: echo {value} > {}{by}", one_line(file))
            }
            Self::GroupRealTime { file, .. } => format!(
                "raise the group's budget: write more microseconds to {}, and first to the groups above it, or shorten the work",
                one_line(file)
            ),
            Self::MachineRealTime => {
                "shorten the work, or sysctl kernel.sched_rt_runtime_us=-1 with a watchdog: a loop that spins then locks its CPU up".into()
            }
            Self::FairServer => {
                "let no FIFO or RR thread on the loop's CPU use all of its time, as one that spins does, or move the ordinary threads to other CPUs, or echo 0 > /sys/kernel/debug/sched/fair_server/cpuN/runtime for the loop's CPU".into()
            }
            Self::Reservation => {
                "the work needs more than the reservation's runtime: enlarge it, or shorten the work".into()
            }
        }
    }
}

/// How the group's manager lifts a quota for good, by the group's name.
fn manager(group: &str) -> String {
    let parts = || group.split('/').filter(|part| !part.is_empty());
    let is_container = |part: &str| {
        ["docker", "crio", "cri-containerd", "kubepods", "libpod"]
            .iter()
            .any(|name| part.starts_with(name))
    };
    if parts().any(is_container) {
        return "; for good: the container's CPU limit (--cpus, resources.limits.cpu)".into();
    }
    let unit = parts().next_back().filter(|part| {
        [".service", ".slice", ".scope"]
            .iter()
            .any(|end| part.ends_with(end))
    });
    match unit {
        Some(unit) => format!(
            "; for good: systemctl set-property {} CPUQuota=",
            one_line(unit)
        ),
        None => "; for good: --cpus of a container, CPUQuota= of a unit".into(),
    }
}

/// The budget that was used up, as a cause.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CpuQuota { group, .. } => {
                write!(f, "control group {} used up its CPU quota", one_line(group))
            }
            Self::GroupRealTime { group, .. } => write!(
                f,
                "control group {} used up its real-time budget",
                one_line(group)
            ),
            Self::MachineRealTime => {
                f.write_str("real-time threads used up kernel.sched_rt_runtime_us")
            }
            Self::FairServer => {
                f.write_str("the fair server gave ordinary threads their share of the CPU")
            }
            Self::Reservation => f.write_str("the DEADLINE reservation was used up"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(group: &str, file: &str) -> String {
        let (group, file) = (group.into(), file.into());
        Budget::CpuQuota { group, file }.fix()
    }

    #[test]
    fn a_quota_is_lifted_in_its_file_and_at_its_manager() {
        let fix = quota("/robot", "/sys/fs/cgroup/cpu/robot/cpu.cfs_quota_us");
        assert!(
            fix.contains("echo -1 > /sys/fs/cgroup/cpu/robot/cpu.cfs_quota_us"),
            "{fix}"
        );
        let fix = quota(
            "/system.slice/robot.service",
            "/sys/fs/cgroup/system.slice/robot.service/cpu.max",
        );
        assert!(
            fix.contains("echo max > /sys/fs/cgroup/system.slice/robot.service/cpu.max"),
            "{fix}"
        );
        assert!(
            fix.contains("set-property robot.service CPUQuota="),
            "{fix}"
        );
        let fix = quota("/system.slice/docker-8d.scope", "/sys/fs/cgroup/x/cpu.max");
        assert!(
            fix.contains("--cpus") && !fix.contains("systemctl"),
            "{fix}"
        );
    }
}
