//! The kinds of causes that the program can inject, and the causes by which each is named.

/// One kind.
#[derive(Debug)]
pub struct Kind {
    /// Its name, as the program takes it.
    pub name: &'static str,
    /// Policies of the loop under which it can be injected.
    pub policy: Policy,
    /// A cause that is one of these is this kind.
    named: &'static [Named],
    /// A file that it needs, if it needs one.
    pub needs: Option<&'static str>,
}

/// A cause by its kind in `explanation.json`, and what it has to be about: calls and threads.
#[derive(Debug)]
struct Named {
    kind: &'static str,
    about: &'static [&'static str],
}

/// Policies of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// FIFO 80: an ordinary loop would share its CPU during such long work.
    Fifo,
    /// OTHER.
    Other,
    /// Both.
    Any,
}

impl Kind {
    /// Whether a cause is this kind, by its kind in `explanation.json` and as it is printed.
    pub fn is_named_by(&self, kind: &str, cause: &str) -> bool {
        let holds = |named: &&Named| {
            named.kind == kind && named.about.iter().all(|word| cause.contains(word))
        };
        self.named.iter().any(|named| holds(&named))
    }
}

const fn about(kind: &'static str, about: &'static [&'static str]) -> Named {
    Named { kind, about }
}

const fn kind(name: &'static str, policy: Policy, named: &'static [Named]) -> Kind {
    Kind {
        name,
        policy,
        named,
        needs: None,
    }
}

use Policy::{Any, Fifo, Other};

const SYNCED: &[&str] = &["fsync()"];
const WRITTEN: &[&str] = &["pwrite64()"];

/// All kinds.
#[rustfmt::skip] // One line for each kind.
pub const KINDS: &[Kind] = &[
    kind("spin", Fifo, &[about("user-code", &[])]),
    kind("code", Fifo, &[about("user-code", &[])]),
    kind("call", Fifo, &[about("system-call", &["getrandom()"])]),
    kind("proc", Fifo, &[about("system-call", &["read()"]), about("system-call", &["open"]), about("system-call", &["close()"])]),
    kind("faults", Fifo, &[about("page-fault", &[])]),
    kind("paging", Fifo, &[about("page-fault", &[]), about("memory-wait", &[])]),
    kind("mmap", Fifo, &[about("system-call", &["mmap()"]), about("system-call", &["munmap()"])]),
    kind("loader", Fifo, &[about("blocked-on-thread", &["in mmap()", "on loader"])]),
    kind("fsync", Fifo, &[about("blocked-on-device", SYNCED), about("blocked-on-thread", SYNCED), about("system-call", SYNCED),
        about("blocked-on-device", WRITTEN), about("blocked-on-thread", WRITTEN), about("system-call", WRITTEN)]),
    kind("sleep", Any, &[about("own-sleep", &["nanosleep()"])]),
    kind("lock", Any, &[about("blocked-on-thread", &["futex()", "on holder", ", which ran"])]),
    kind("sleeper", Any, &[about("blocked-on-thread", &["futex()", "on holder", ", which slept"])]),
    kind("nested", Any, &[about("blocked-on-thread", &["futex()", "on holder", "waited for deep", ", which ran"])]),
    kind("inversion", Fifo, &[about("priority-inversion", &["futex()", "on low"])]),
    kind("pipe", Any, &[about("blocked-on-thread", &["write() on a pipe", "on reader"])]),
    kind("peer", Any, &[about("blocked-on-device", &["recvfrom() on a socket"]), about("blocked-on-thread", &["recvfrom() on a socket"])]),
    kind("serial", Any, &[about("blocked-on-thread", &["read() on the terminal /dev/pts"])]),
    kind("child", Fifo, &[about("blocked-on-thread", &["wait4()", "on child"]), about("system-call", &["clone"])]),
    kind("flock", Any, &[about("blocked-on-thread", &["flock()", "on locker"])]),
    kind("worker", Any, &[about("blocked-on-thread", &["futex()", "on worker", ", which ran"])]),
    kind("hog", Any, &[about("thread", &["thread hog", "more urgent"])]),
    kind("equal", Fifo, &[about("thread", &["thread equal", "own priority"])]),
    kind("stop", Any, &[about("stopped", &["from stopper"])]),
    Kind { needs: Some("/sys/fs/cgroup/freezer/tasks"), ..kind("freeze", Any, &[about("frozen", &["freezer"])]) },
    kind("timers", Any, &[about("other-timer", &[]), about("interrupt", &["local timer"])]),
    kind("moved", Any, &[about("moved", &["radio"])]),
    kind("fair", Fifo, &[about("throttled", &[])]),
    kind("neighbours", Other, &[about("thread", &["sharing the CPU"])]),
    Kind { needs: Some("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), ..kind("quota", Other, &[about("throttled", &["wakepath-injected"])]) },
];

/// The kind of this name.
pub fn named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Two kinds that one program can have: the policy of its loop suits both, and neither keeps the other from running.
pub fn go_together(one: &Kind, other: &Kind) -> bool {
    let policies = matches!(
        (one.policy, other.policy),
        (Any, _) | (_, Any) | (Fifo, Fifo) | (Other, Other)
    );
    let starves = |one: &Kind, other: &Kind| one.name == "fair" && other.name == "inversion";
    policies && one.name != other.name && !starves(one, other) && !starves(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_the_kind_whose_type_it_has_and_whose_threads_it_names() {
        let inversion = "in futex(): blocked on low (OTHER), which was ready while middle (FIFO/RR 50) had its CPU: \
                         priority inversion";
        let is = |name: &str, kind: &str, cause: &str| {
            named(name).is_some_and(|of| of.is_named_by(kind, cause))
        };
        assert!(is("inversion", "priority-inversion", inversion));
        assert!(!is("lock", "priority-inversion", inversion));
        let ran = "in futex(): blocked on low (OTHER), which ran";
        assert!(!is("inversion", "blocked-on-thread", ran));
        // The words alone say nothing.
        let words = "in futex(): blocked on holder (FIFO/RR 70), which ran";
        assert!(is("lock", "blocked-on-thread", words));
        assert!(!is("lock", "overrun", words) && !is("worker", "blocked-on-thread", words));
        assert!(!is("faults", "user-code", "page faults of the loop"));
    }

    #[test]
    fn kinds_of_different_policies_do_not_go_together() {
        let goes = |one, other| go_together(named(one).unwrap(), named(other).unwrap());
        assert!(goes("lock", "hog") && goes("hog", "quota"));
        assert!(!goes("fair", "quota") && !goes("lock", "lock") && !goes("fair", "inversion"));
    }
}
