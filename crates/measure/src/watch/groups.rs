//! The control groups of the watched processes, read again and again while they run: a program may move itself, and
//! leaves nothing to read when it has ended.

use std::collections::{BTreeMap, BTreeSet};
use wakepath_archive::watch::Threads;
use wakepath_machine::{Cgroup, Root};

/// Processes whose groups are read at each look; a program of more has them in the same few groups.
const MOST_PROCESSES: usize = 16;

/// Each group as it was first and last seen.
pub(super) struct Groups {
    root: Root,
    seen: BTreeMap<String, (Cgroup, Cgroup)>,
}

impl Groups {
    pub(super) fn new(root: Root) -> Self {
        Self {
            root,
            seen: BTreeMap::new(),
        }
    }

    /// Reads the groups of the processes that these threads belong to.
    pub(super) fn look(&mut self, threads: &Threads) {
        let alive = threads.values().filter(|thread| !thread.ended);
        let processes: BTreeSet<u32> = alive.map(|thread| thread.process).collect();
        for process in processes.into_iter().take(MOST_PROCESSES) {
            let now = Cgroup::of_process(&self.root, process);
            let Some(path) = now.group.known().cloned() else {
                continue;
            };
            match self.seen.get_mut(&path) {
                Some((_, last)) => *last = now,
                None => {
                    self.seen.insert(path, (now.clone(), now));
                }
            }
        }
    }

    /// The group that was stopped by its quota most often, at first and at last; the lowest one in the hierarchy if
    /// none was stopped.
    pub(super) fn most_throttled(self) -> Option<(Cgroup, Cgroup)> {
        self.seen.into_values().max_by_key(|(first, last)| {
            let throttled = last.throttled_since(first);
            let times: u64 = throttled.iter().map(|of| of.since_made.times).sum();
            let depth = last.group.known().map_or(0, String::len);
            (times, depth)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &std::path::Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_program_that_moves_is_counted_in_the_group_that_stops_it() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let mounts = "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        write(root, "proc/self/mountinfo", mounts);
        let stat = "sys/fs/cgroup/robot/cpu.stat";
        let thread = wakepath_archive::watch::Thread {
            process: 9,
            name: "loop".into(),
            policy: Ok(wakepath_timeline::Policy::Other { nice: 0 }),
            earlier_policies: Vec::new(),
            cpus: vec![0],
            allowed: Vec::new(),
            is_new: false,
            ended: false,
        };
        let threads = Threads::from([(9, thread)]);
        let mut groups = Groups::new(Root::at(root));
        write(root, "proc/9/cgroup", "0::/\n");
        groups.look(&threads);
        for (times, usec) in [(7, 1_000), (10, 4_000)] {
            write(root, "proc/9/cgroup", "0::/robot/job\n");
            write(
                root,
                stat,
                &format!("nr_throttled {times}\nthrottled_usec {usec}\n"),
            );
            groups.look(&threads);
        }
        let (first, last) = groups.most_throttled().unwrap();
        let throttled = last.throttled_since(&first);
        assert_eq!(throttled.len(), 1);
        assert_eq!(throttled[0].file, "/sys/fs/cgroup/robot/cpu.max");
        let counts = throttled[0].since_made;
        assert_eq!((counts.times, counts.stopped_us), (3, 3_000));
    }
}
