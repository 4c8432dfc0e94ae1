//! An instance's owner, by its name: process, its start, and the PID namespace in which the two are valid.
//! This distinguishes an instance left by a dead process from a living one's, and from one of a container
//! that this process can't look into.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;

use wakepath_timeline::ProcessStat;

const PREFIX: &str = "wakepath-";
/// Ends the name of a process's second instance.
const SECOND: &str = "-measures";

/// The process that an instance belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pid: u32,
    /// In clock ticks since boot, from `/proc/PID/stat`: a number used again is another process.
    started: u64,
    /// Inode of the PID namespace.
    namespace: u64,
}

impl Owner {
    /// This process; `None` where /proc does not say.
    pub(crate) fn this_process() -> Option<Self> {
        let pid = std::process::id();
        Some(Self {
            pid,
            started: start_of(pid)?,
            namespace: namespace()?,
        })
    }

    /// The instance's name.
    pub(crate) fn name(&self) -> String {
        let Self {
            pid,
            started,
            namespace,
        } = self;
        format!("{PREFIX}{pid}-{started}-{namespace}")
    }

    /// The name of the instance that the kernel's own measurement runs in.
    pub(crate) fn second_name(&self) -> String {
        self.name() + SECOND
    }

    /// Whose instance has this name; `None` for one that is not ours.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let name = name.strip_suffix(SECOND).unwrap_or(name);
        let mut numbers = name.strip_prefix(PREFIX)?.split('-');
        let owner = Self {
            pid: numbers.next()?.parse().ok()?,
            started: numbers.next()?.parse().ok()?,
            namespace: numbers.next()?.parse().ok()?,
        };
        // Exactly as we write it, or someone else has written it.
        (owner.name() == name).then_some(owner)
    }

    /// Whether the process has ended for certain.
    pub(crate) fn is_dead(&self) -> bool {
        namespace() == Some(self.namespace) && start_of(self.pid) != Some(self.started)
    }
}

fn namespace() -> Option<u64> {
    match fs::metadata("/proc/self/ns/pid") {
        Ok(found) => Some(found.ino()),
        // A kernel without PID namespaces has one.
        Err(error) if error.kind() == ErrorKind::NotFound => Some(0),
        Err(_) => None,
    }
}

/// When a process began, in clock ticks since boot.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = ProcessStat::parse(&stat)?;
    // A process that has ended and not been waited for holds no instance any more.
    (!stat.has_ended()).then(|| stat.number(22)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_living_process_keeps_its_instance() {
        let own = Owner::this_process().unwrap();
        assert_eq!(Owner::new(&own.name()), Some(own));
        assert_eq!(Owner::new(&own.second_name()), Some(own));
        assert!(!own.is_dead());
    }

    #[test]
    fn a_number_that_was_used_again_is_another_process() {
        let mut before = Owner::this_process().unwrap();
        before.started -= 1;
        assert!(before.is_dead());
    }

    #[test]
    fn a_process_of_another_namespace_is_never_taken_for_dead() {
        let mut elsewhere = Owner::this_process().unwrap();
        elsewhere.namespace += 1;
        elsewhere.started += 1;
        assert!(!elsewhere.is_dead());
    }

    #[test]
    fn only_a_name_as_we_write_it_is_ours() {
        for name in [
            "wakepath",
            "wakepath-1",
            "wakepath-1-2",
            "wakepath-01-2-3",
            "wakepath-1-2-3-4",
            "wakepath-+1-2-3",
            "trace-cmd-1-2-3",
        ] {
            assert_eq!(Owner::new(name), None, "{name}");
        }
    }
}
