//! The kernel's reason for refusing a policy or CPUs, which its error number doesn't give: from the
//! process's rights and control groups.

use std::fmt;

use wakepath_timeline::{ControlGroup, CpuSet, Hierarchy, NoRealTimeBudget};

/// `CAP_SYS_NICE`'s bit in `linux/capability.h`.
const SYS_NICE: u32 = 23;
/// The whole of `/proc/self/uid_map` in the first user namespace.
const FIRST_NAMESPACE: [&str; 3] = ["0", "0", "4294967295"];

/// The reason for `EPERM` where a policy was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyRefusal {
    /// The process's control group allows no real-time policy.
    NoBudget(NoRealTimeBudget),
    /// The process lives in a user namespace, where capabilities don't count.
    UserNamespace,
    /// It has `CAP_SYS_NICE`, and something else refuses.
    DespiteRight,
    /// It lacks the right.
    NoRight {
        /// Whether it is root all the same: of a container that drops capabilities, for example.
        is_root: bool,
    },
}

impl fmt::Display for PolicyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBudget(missing) => missing.fmt(f),
            Self::UserNamespace => f.write_str(
                "capabilities inside a user namespace don't count; run outside it (rootless container), \
                 or raise RLIMIT_RTPRIO/RLIMIT_NICE (LimitRTPRIO=99 in a unit)",
            ),
            Self::DespiteRight => f.write_str(
                "the kernel refuses it although this process has CAP_SYS_NICE: a seccomp filter or a \
                 security module may forbid it, or a control group of version 2 if the kernel has \
                 RT_GROUP_SCHED; try outside the container or unit",
            ),
            Self::NoRight { is_root: true } => f.write_str(
                "this root user has no CAP_SYS_NICE; start the container with --cap-add=sys_nice, or raise \
                 RLIMIT_RTPRIO/RLIMIT_NICE (--ulimit rtprio=99; LimitRTPRIO=99 in a unit)",
            ),
            Self::NoRight { is_root: false } => f.write_str(
                "it needs a privilege that is missing; run as root, give the program CAP_SYS_NICE, or raise \
                 RLIMIT_RTPRIO/RLIMIT_NICE (LimitRTPRIO=99 in a unit)",
            ),
        }
    }
}

impl PolicyRefusal {
    /// The reason for this process; `read` gives a file's text.
    pub(crate) fn find(read: impl Fn(&str) -> Option<String>) -> Self {
        if let Some(missing) = missing_budget(&read) {
            return Self::NoBudget(missing);
        }
        let status = read("/proc/self/status").unwrap_or_default();
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name));
        let mask = field("CapEff:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let user = field("Uid:").and_then(|ids| ids.split_whitespace().nth(1));
        if mask.is_none_or(|mask| mask & (1 << SYS_NICE) == 0) {
            return Self::NoRight {
                is_root: user == Some("0"),
            };
        }
        let is_first = |map: String| map.split_whitespace().eq(FIRST_NAMESPACE);
        if read("/proc/self/uid_map").is_none_or(is_first) {
            Self::DespiteRight
        } else {
            Self::UserNamespace
        }
    }
}

fn missing_budget(read: &impl Fn(&str) -> Option<String>) -> Option<NoRealTimeBudget> {
    let number = |file: &str| read(file)?.trim().parse::<i64>().ok();
    let group = own_group("cpu", read)?;
    let file = group.file("cpu.rt_runtime_us");
    let machine_us = number("/proc/sys/kernel/sched_rt_runtime_us");
    NoRealTimeBudget::forbids(number(&file)?, machine_us).then_some(NoRealTimeBudget {
        group: group.path,
        file,
    })
}

fn own_group(controller: &str, read: &impl Fn(&str) -> Option<String>) -> Option<ControlGroup> {
    let hierarchies = Hierarchy::all(&read("/proc/self/mountinfo")?);
    ControlGroup::new(controller, &hierarchies, &read("/proc/self/cgroup")?)
}

/// The cpuset that keeps this process from CPUs that are online.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NarrowCpuset {
    /// The control group's path.
    pub group: String,
    /// The CPUs that it allows.
    pub allowed: CpuSet,
    /// The file in which they are set.
    pub file: String,
}

impl NarrowCpuset {
    /// The cpuset of this process if it lacks one of `cpus`, all of which are online; `read` gives a file's
    /// text.
    pub(crate) fn find(cpus: &[u16], read: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let online: CpuSet = read("/sys/devices/system/cpu/online")?
            .trim()
            .parse()
            .ok()?;
        // The nearest group upwards that has the controller decides.
        let (group, allowed) = own_group("cpuset", &read)?.upwards().find_map(|group| {
            let text = read(&group.file(group.allowed_cpus_file()))?;
            Some((group, text.trim().parse::<CpuSet>().ok()?))
        })?;
        let is_cause = cpus.iter().all(|&cpu| online.contains(cpu))
            && cpus.iter().any(|&cpu| !allowed.contains(cpu));
        is_cause.then(|| Self {
            file: group.file("cpuset.cpus"),
            group: group.path,
            allowed,
        })
    }
}

impl fmt::Display for NarrowCpuset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (group, file) = (&self.group, &self.file);
        let [group, file] = [group, file].map(|text| wakepath_timeline::one_line(text));
        write!(
            f,
            "the cpuset of control group {group} allows CPU {} only; use one of these, or write the CPUs to {file}",
            self.allowed
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "30 1 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                      31 1 0:2 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";

    fn tree<'a>(files: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |path| {
            let (_, text) = files.iter().find(|(name, _)| *name == path)?;
            Some((*text).to_owned())
        }
    }

    fn root_in(budget_us: &str, machine_us: &str) -> String {
        let files = [
            ("/proc/self/mountinfo", V1),
            ("/proc/self/cgroup", "1:cpu:/robot\n"),
            ("/sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us", budget_us),
            ("/proc/sys/kernel/sched_rt_runtime_us", machine_us),
            (
                "/proc/self/status",
                "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n",
            ),
        ];
        PolicyRefusal::find(tree(&files)).to_string()
    }

    #[test]
    fn root_in_a_group_without_budget_reads_the_group_and_its_file() {
        let text = root_in("0\n", "950000\n");
        assert!(
            text.contains("control group /robot has no real-time budget"),
            "{text}"
        );
        assert!(
            text.contains("/sys/fs/cgroup/cpu/robot/cpu.rt_runtime_us"),
            "{text}"
        );
        for (budget, machine) in [("0", "950000"), ("0", "-1"), ("10000", "950000")] {
            let text = root_in(budget, machine);
            assert!(!text.contains("run as root"), "{text}");
        }
    }

    #[test]
    fn who_lacks_the_right_reads_how_to_get_it() {
        let of = |uid: &str, mask: &str, map: &str| {
            let status = format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}\nCapEff:\t{mask}\n");
            let files = [("/proc/self/status", &*status), ("/proc/self/uid_map", map)];
            PolicyRefusal::find(tree(&files))
        };
        let (none, nice, first) = ("0", "800000", "0 0 4294967295");
        assert_eq!(
            of("1000", none, first),
            PolicyRefusal::NoRight { is_root: false }
        );
        assert_eq!(
            of("0", none, first),
            PolicyRefusal::NoRight { is_root: true }
        );
        assert_eq!(of("0", nice, first), PolicyRefusal::DespiteRight);
        assert_eq!(of("0", nice, "0 1000 1"), PolicyRefusal::UserNamespace);
    }

    #[test]
    fn a_cpuset_is_named_only_if_it_is_the_cause() {
        let v2 = "30 1 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
        for (mountinfo, cgroup, file) in [
            (
                V1,
                "3:cpuset:/c1",
                "/sys/fs/cgroup/cpuset/c1/cpuset.effective_cpus",
            ),
            (v2, "0::/c1/job", "/sys/fs/cgroup/c1/cpuset.cpus.effective"),
        ] {
            let files = [
                ("/proc/self/mountinfo", mountinfo),
                ("/proc/self/cgroup", cgroup),
                ("/sys/devices/system/cpu/online", "0-3"),
                (file, "1-2"),
            ];
            let found = NarrowCpuset::find(&[0], tree(&files)).unwrap();
            let text = found.to_string();
            assert!(text.contains("control group /c1 allows CPU 1-2"), "{text}");
            assert_eq!(NarrowCpuset::find(&[1], tree(&files)), None);
            assert_eq!(NarrowCpuset::find(&[4], tree(&files)), None);
        }
    }
}
