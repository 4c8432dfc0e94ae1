//! Permissions of the reading process, derived from its rights without trying.
//!
//! Also how to get the others. The kernel decides in the end: a security module can still refuse.

use serde::{Deserialize, Serialize};

use crate::{DebugFiles, Facts, Limit, Limits};
use wakepath_timeline::NoRealTimeBudget;

const GRANT: &str = "run as root, or: sudo setcap cap_sys_nice,cap_ipc_lock+ep FILE";

/// One permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Permission {
    /// Allowed, up to a value if one applies.
    Allowed {
        /// The highest priority, the lowest nice value, or bytes; `None` for no limit.
        up_to: Option<i64>,
        /// What allows it.
        because: String,
    },
    /// Refused.
    Refused {
        /// What refuses it.
        because: String,
        /// What would allow it, in one line.
        remedy: String,
    },
    /// Unknown.
    Unknown {
        /// The missing fact.
        because: String,
    },
}

impl Permission {
    /// Whether it is allowed at all.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed { .. })
    }

    /// What would allow it, if it is refused.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            Self::Refused { remedy, .. } => Some(remedy),
            _ => None,
        }
    }

    fn allowed(up_to: Option<i64>, because: &str) -> Self {
        Self::Allowed {
            up_to,
            because: because.to_owned(),
        }
    }

    fn refused(because: &str, remedy: impl Into<String>) -> Self {
        Self::Refused {
            because: because.to_owned(),
            remedy: remedy.into(),
        }
    }
}

impl std::fmt::Display for Permission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Allowed {
                up_to: Some(limit),
                because,
            } => write!(f, "allowed up to {limit} ({because})"),
            Self::Allowed {
                up_to: None,
                because,
            } => write!(f, "allowed ({because})"),
            Self::Refused { because, remedy } => write!(f, "refused ({because}); {remedy}"),
            Self::Unknown { because } => write!(f, "unknown ({because})"),
        }
    }
}

/// Permissions of the reading process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Privileges {
    /// SCHED_FIFO and SCHED_RR, up to a priority.
    pub fifo: Permission,
    /// SCHED_DEADLINE.
    pub deadline: Permission,
    /// Lower nice values, down to one.
    pub nice: Permission,
    /// Locking memory, up to some bytes.
    pub memory_lock: Permission,
    /// Reading the scheduler's debug files.
    pub debug_files: Permission,
    /// A filter on system calls is in force and may refuse what is allowed here.
    pub filtered: bool,
}

impl Privileges {
    /// Each permission with the name by which a person knows it.
    pub fn named(&self) -> [(&'static str, &Permission); 5] {
        [
            ("FIFO and RR", &self.fifo),
            ("DEADLINE", &self.deadline),
            ("Lower nice", &self.nice),
            ("Memory lock", &self.memory_lock),
            ("Debug files", &self.debug_files),
        ]
    }

    /// From facts taken by the process in question. The rules are the kernel's:
    /// `user_check_sched_setscheduler` in `kernel/sched/syscalls.c`, `can_do_mlock` in
    /// `mm/mlock.c`, `sched_rt_can_attach` for group budgets.
    pub(crate) fn new(facts: &Facts) -> Self {
        let process = &facts.varying.process;
        let own_namespace = process.own_user_namespace.known() == Some(&true);
        let capabilities = process.capabilities.known().map(|held| {
            // These are checked against the first user namespace only.
            if own_namespace {
                crate::Capabilities::default()
            } else {
                *held
            }
        });
        let limits = process.limits.known();
        let nice_right = capabilities.map(|held| held.sys_nice);
        let grant = |limit: &str| {
            if own_namespace {
                format!("run outside the user namespace (rootless container), or raise {limit}")
            } else {
                format!("{GRANT}; or {limit} in the unit")
            }
        };
        Self {
            fifo: fifo(facts, nice_right, limits, &grant),
            deadline: deadline(nice_right, own_namespace),
            nice: nice(nice_right, limits, process.nice.known().copied(), &grant),
            memory_lock: memory_lock(capabilities.map(|held| held.ipc_lock), limits, &grant),
            debug_files: debug_files(facts.varying.debug_files),
            filtered: process.seccomp.known().is_some_and(|&mode| mode != 0),
        }
    }
}

fn fifo(
    facts: &Facts,
    right: Option<bool>,
    limits: Option<&Limits>,
    grant: &dyn Fn(&str) -> String,
) -> Permission {
    let machine_us = facts.varying.real_time.runtime_us.known().copied();
    if let Some(own) = facts.varying.cgroup.real_time.first()
        && let Some(&own_us) = own.runtime_us.known()
        && NoRealTimeBudget::forbids(own_us, machine_us)
    {
        let missing = NoRealTimeBudget {
            group: own.group.clone(),
            file: own.runtime_us.path().to_owned(),
        };
        return Permission::refused(&missing.reason(), missing.fix());
    }
    let limit = limits.map(|limits| limits.priority);
    match (right, limit) {
        (Some(true), _) => Permission::allowed(Some(99), "CAP_SYS_NICE"),
        (_, Some(Limit::Unlimited)) => Permission::allowed(Some(99), "RLIMIT_RTPRIO"),
        (_, Some(Limit::Of(priority @ 1..))) => {
            Permission::allowed(Some(priority.min(99) as i64), "RLIMIT_RTPRIO")
        }
        (Some(false), Some(Limit::Of(0))) => Permission::refused(
            "no CAP_SYS_NICE, and RLIMIT_RTPRIO is 0",
            grant("LimitRTPRIO=99"),
        ),
        _ => unknown("capabilities or limits of the process"),
    }
}

fn deadline(right: Option<bool>, own_namespace: bool) -> Permission {
    match right {
        // Admission also asks for free bandwidth and the root domain's full affinity.
        Some(true) => Permission::allowed(None, "CAP_SYS_NICE; subject to admission"),
        Some(false) if own_namespace => Permission::refused(
            "capabilities inside a user namespace don't count",
            "run outside the user namespace (rootless container)",
        ),
        Some(false) => Permission::refused("no CAP_SYS_NICE; no resource limit replaces it", GRANT),
        None => unknown("capabilities of the process"),
    }
}

fn nice(
    right: Option<bool>,
    limits: Option<&Limits>,
    current: Option<i32>,
    grant: &dyn Fn(&str) -> String,
) -> Permission {
    let current = i64::from(current.unwrap_or(0));
    match (right, limits.map(|limits| limits.nice)) {
        (Some(true), _) => Permission::allowed(Some(-20), "CAP_SYS_NICE"),
        (_, Some(Limit::Unlimited)) => Permission::allowed(Some(-20), "RLIMIT_NICE"),
        (_, Some(Limit::Of(limit))) if 20 - (limit.min(40) as i64) < current => {
            Permission::allowed(Some(20 - limit.min(40) as i64), "RLIMIT_NICE")
        }
        (Some(false), Some(Limit::Of(_))) => Permission::refused(
            "no CAP_SYS_NICE, and RLIMIT_NICE allows nothing lower",
            grant("LimitNICE=-20"),
        ),
        _ => unknown("capabilities or limits of the process"),
    }
}

fn memory_lock(
    right: Option<bool>,
    limits: Option<&Limits>,
    grant: &dyn Fn(&str) -> String,
) -> Permission {
    match (right, limits.map(|limits| limits.locked_memory)) {
        (Some(true), _) => Permission::allowed(None, "CAP_IPC_LOCK"),
        (_, Some(Limit::Unlimited)) => Permission::allowed(None, "RLIMIT_MEMLOCK"),
        (_, Some(Limit::Of(bytes @ 1..))) => {
            let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
            Permission::allowed(Some(bytes), "RLIMIT_MEMLOCK")
        }
        (Some(false), Some(Limit::Of(0))) => Permission::refused(
            "no CAP_IPC_LOCK, and RLIMIT_MEMLOCK is 0",
            grant("LimitMEMLOCK=infinity"),
        ),
        _ => unknown("capabilities or limits of the process"),
    }
}

fn debug_files(state: DebugFiles) -> Permission {
    match (state, state.remedy()) {
        (DebugFiles::Readable, _) => Permission::allowed(None, "/sys/kernel/debug is readable"),
        (DebugFiles::Denied, Some(remedy)) => {
            Permission::refused("only root can read them", remedy)
        }
        (DebugFiles::NotMounted, Some(remedy)) => Permission::refused("not mounted", remedy),
        (DebugFiles::Absent, Some(remedy)) => Permission::refused("not in this kernel", remedy),
        _ => unknown("/sys/kernel/debug"),
    }
}

fn unknown(missing: &str) -> Permission {
    Permission::Unknown {
        because: format!("could not read the {missing}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capabilities, GroupBudget, Reading};

    fn facts(mask: Capabilities, priority: u64) -> Facts {
        let mut facts = Facts::default();
        let process = &mut facts.varying.process;
        process.capabilities = Reading::found(mask, "/proc/self/status");
        process.nice = Reading::found(0, "/proc/self/stat");
        let limits = Limits {
            locked_memory: Limit::Of(65_536),
            nice: Limit::Of(0),
            priority: Limit::Of(priority),
            real_time_us: Limit::Unlimited,
        };
        process.limits = Reading::found(limits, "/proc/self/limits");
        facts
    }

    #[test]
    fn an_ordinary_user_is_refused_with_a_remedy_for_each() {
        let privileges = facts(Capabilities::default(), 0).privileges();
        for refused in [&privileges.fifo, &privileges.nice, &privileges.deadline] {
            assert!(
                refused.remedy().unwrap().contains("setcap cap_sys_nice"),
                "{refused:?}"
            );
        }
        assert_eq!(
            privileges.memory_lock,
            Permission::allowed(Some(65_536), "RLIMIT_MEMLOCK")
        );
    }

    #[test]
    fn a_limit_allows_fifo_up_to_its_value_but_never_deadline() {
        let privileges = facts(Capabilities::default(), 80).privileges();
        assert_eq!(
            privileges.fifo,
            Permission::allowed(Some(80), "RLIMIT_RTPRIO")
        );
        assert!(!privileges.deadline.is_allowed());
    }

    #[test]
    fn a_group_without_budget_refuses_even_root_unless_throttling_is_off() {
        let root = Capabilities {
            sys_nice: true,
            ipc_lock: true,
            ..Capabilities::default()
        };
        let mut facts = facts(root, 0);
        assert!(facts.privileges().fifo.is_allowed());
        facts.varying.cgroup.real_time = vec![GroupBudget {
            group: "/user".to_owned(),
            runtime_us: Reading::found(0, "/sys/fs/cgroup/cpu/user/cpu.rt_runtime_us"),
            period_us: Reading::NotRead,
        }];
        facts.varying.real_time.runtime_us = Reading::found(950_000, "/proc");
        assert!(
            facts
                .privileges()
                .fifo
                .remedy()
                .unwrap()
                .contains("cpu.rt_runtime_us")
        );
        facts.varying.real_time.runtime_us = Reading::found(-1, "/proc");
        assert!(facts.privileges().fifo.is_allowed());
    }

    #[test]
    fn capabilities_inside_a_user_namespace_do_not_count() {
        let root = Capabilities {
            sys_nice: true,
            ipc_lock: true,
            ..Capabilities::default()
        };
        let mut facts = facts(root, 0);
        facts.varying.process.own_user_namespace = Reading::found(true, "/proc/self/uid_map");
        assert!(!facts.privileges().fifo.is_allowed());
        assert!(!facts.privileges().deadline.is_allowed());
    }
}
