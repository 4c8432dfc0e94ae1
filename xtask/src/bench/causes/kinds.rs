//! The kinds of causes that the program can inject, and the words by which each is named.

/// One kind.
#[derive(Debug)]
pub struct Kind {
    /// Its name, as the program takes it.
    pub name: &'static str,
    /// Policies of the loop under which it can be injected.
    pub policy: Policy,
    /// A cause that contains all words of one of these is this kind.
    named: &'static [&'static [&'static str]],
    /// A file that it needs, if it needs one.
    pub needs: Option<&'static str>,
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
    /// Whether a cause, as it is printed, is this kind.
    pub fn is_named_by(&self, cause: &str) -> bool {
        let holds = |words: &&[&str]| words.iter().all(|word| cause.contains(word));
        self.named.iter().any(holds)
    }
}

const fn kind(
    name: &'static str,
    policy: Policy,
    named: &'static [&'static [&'static str]],
) -> Kind {
    Kind {
        name,
        policy,
        named,
        needs: None,
    }
}

use Policy::{Any, Fifo, Other};

/// All kinds.
#[rustfmt::skip] // One line for each kind.
pub const KINDS: &[Kind] = &[
    kind("spin", Fifo, &[&["own code ran longer than usual"]]),
    kind("code", Fifo, &[&["own code ran longer than usual"]]),
    kind("call", Fifo, &[&["system call getrandom()"]]),
    kind("proc", Fifo, &[&["system call read()"], &["system call open"]]),
    kind("faults", Fifo, &[&["page faults of the loop"]]),
    kind("paging", Fifo, &[&["page faults of the loop"], &["for memory"]]),
    kind("mmap", Fifo, &[&["system call mmap()"], &["system call munmap()"]]),
    kind("loader", Fifo, &[&["mmap()", "blocked in the kernel on loader"]]),
    kind("fsync", Fifo, &[&["fsync()"], &["pwrite64()"]]),
    kind("sleep", Any, &[&["a sleep or a time-out in the loop's own work"]]),
    kind("lock", Any, &[&["futex()", "blocked on holder", ", which ran"]]),
    kind("sleeper", Any, &[&["futex()", "blocked on holder", "which slept"]]),
    kind("nested", Any, &[&["futex()", "blocked on holder", "which waited for deep"]]),
    kind("inversion", Fifo, &[&["futex()", "blocked on low", "priority inversion"]]),
    kind("pipe", Any, &[&["write() on a pipe", "reader"]]),
    kind("peer", Any, &[&["recvfrom() on a socket"]]),
    kind("serial", Any, &[&["read() on the terminal /dev/pts"]]),
    kind("child", Fifo, &[&["wait4()", "child"], &["clone"]]),
    kind("flock", Any, &[&["flock()", "locker"]]),
    kind("worker", Any, &[&["futex()", "blocked on worker", ", which ran"]]),
    kind("hog", Any, &[&["thread hog", "more urgent"]]),
    kind("equal", Fifo, &[&["thread equal", "own priority"]]),
    kind("stop", Any, &[&["stopped by a signal", "stopper"]]),
    Kind { needs: Some("/sys/fs/cgroup/freezer/tasks"), ..kind("freeze", Any, &[&["was frozen", "freezer"]]) },
    kind("timers", Any, &[&["other timer"], &["interrupt local timer"]]),
    kind("moved", Any, &[&["moved from CPU", "radio"]]),
    kind("fair", Fifo, &[&["throttled"]]),
    kind("neighbours", Other, &[&["sharing the CPU"]]),
    Kind { needs: Some("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), ..kind("quota", Other, &[&["throttled", "wakepath-injected"]]) },
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
    fn a_cause_is_the_kind_whose_words_it_holds() {
        let inversion = "in futex(): blocked on low (OTHER), which was ready while middle (FIFO/RR 50) had its CPU: \
                         priority inversion";
        let is = |name: &str, cause: &str| named(name).is_some_and(|kind| kind.is_named_by(cause));
        assert!(is("inversion", inversion));
        assert!(!is("lock", inversion));
        assert!(!is(
            "inversion",
            "in futex(): blocked on low (OTHER), which ran"
        ));
    }

    #[test]
    fn kinds_of_different_policies_do_not_go_together() {
        let goes = |one, other| go_together(named(one).unwrap(), named(other).unwrap());
        assert!(goes("lock", "hog") && goes("hog", "quota"));
        assert!(!goes("fair", "quota") && !goes("lock", "lock") && !goes("fair", "inversion"));
    }
}
