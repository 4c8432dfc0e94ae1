//! Marks the processes and directories of a run, and removes those whose run is gone.

use crate::process_tree::{self, environment_value, process};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Every process of a load has this variable in its environment; the value identifies the run.
pub const OWN_ENVIRONMENT_VARIABLE: &str = "WAKEPATH_LOAD";

const DIRECTORY_PREFIX: &str = "wakepath-load-";

/// Names one set of loads: PID namespace, process id and start time of the process that started
/// them, and a number. All four, so that neither a reused process id nor a container that shares
/// the file system is mistaken for the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark(pub(crate) String);

impl Mark {
    /// A new mark of this process.
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let pid = process_tree::own_pid().unwrap_or(0);
        let start = process(pid).map_or(0, |own| own.start);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}-{pid}-{start}-{number}", own_namespace()))
    }

    /// Whether the run that it names was started in this PID namespace and is over.
    fn is_orphaned(&self) -> bool {
        let mut parts = self.0.split('-');
        let same_namespace = parts.next() == Some(&own_namespace());
        let pid = parts.next().and_then(|text| text.parse::<i32>().ok());
        let start = parts.next().and_then(|text| text.parse::<u64>().ok());
        let (Some(pid), Some(start)) = (pid, start) else {
            return false;
        };
        let owner = process(pid).filter(|owner| owner.start == start && owner.state != b'Z');
        same_namespace && owner.is_none()
    }
}

/// Inode of the PID namespace, such as "4026531836".
fn own_namespace() -> String {
    let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    link.to_string_lossy()
        .chars()
        .filter(char::is_ascii_digit)
        .collect()
}

/// Kills every process with `mark` in its environment, repeatedly until none is found, for up to
/// about a second. Returns the number killed.
pub(crate) fn kill_marked(mark: &Mark) -> usize {
    kill_where(|found| found == mark)
}

fn kill_where(condemned: impl Fn(&Mark) -> bool) -> usize {
    let mut killed = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let mut alive = false;
        for pid in process_tree::all() {
            let Some(value) = environment_value(pid, OWN_ENVIRONMENT_VARIABLE) else {
                continue;
            };
            if pid == process_tree::own_pid().unwrap_or(0) || !condemned(&Mark(value)) {
                continue;
            }
            if let Some(process) = Pid::from_raw(pid) {
                alive |= kill_process(process, Signal::KILL).is_ok();
                killed.insert(pid);
            }
        }
        if !alive {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    killed.len()
}

/// Kills loads left behind by a wakepath that has ended, and removes their directories below
/// `scratch_directory`. Call it before a run. Returns the number of processes killed.
///
/// A run in progress, and runs of other PID namespaces, are left alone.
#[must_use]
pub fn reap_orphans(scratch_directory: &Path) -> usize {
    let killed = kill_where(Mark::is_orphaned);
    for entry in fs::read_dir(scratch_directory)
        .into_iter()
        .flatten()
        .flatten()
    {
        let name = entry.file_name();
        let Some(mark) = name
            .to_str()
            .and_then(|name| name.strip_prefix(DIRECTORY_PREFIX))
        else {
            continue;
        };
        // The mark must be orphaned and the entry a real directory, so that nothing foreign is
        // removed.
        if Mark(mark.to_owned()).is_orphaned() && entry.file_type().is_ok_and(|kind| kind.is_dir())
        {
            // If this fails, the next run tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    killed
}

/// Directory of a run's package programs below `scratch_directory`.
pub(crate) fn program_directory(scratch_directory: &Path, mark: &Mark) -> PathBuf {
    scratch_directory.join(format!("{DIRECTORY_PREFIX}{}", mark.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_of_this_process_is_not_orphaned_and_one_of_a_past_process_is() {
        let mine = Mark::new();
        assert!(!mine.is_orphaned());
        let mut parts: Vec<String> = mine.0.split('-').map(str::to_owned).collect();
        parts[2] = "1".into();
        assert!(Mark(parts.join("-")).is_orphaned());
        parts[0] = "4000000000".into();
        assert!(
            !Mark(parts.join("-")).is_orphaned(),
            "another PID namespace"
        );
        assert!(!Mark("nonsense".into()).is_orphaned());
    }
}
