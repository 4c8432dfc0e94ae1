//! A share of the last-level cache for the loop alone, by the kernel's resctrl: a control group for the
//! loop's process, with ways that the default group gives up for that time. The old state is written down
//! first; it is restored at the end, or by the next start if a run was killed. It knows nothing of segments.
//! Kernel documentation: Documentation/filesystems/resctrl.rst.

mod error;
mod ways;

pub(super) use error::CacheError;

use error::{Result, io};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use ways::{Known, domains, l3_line};

/// Name of the group.
const GROUP: &str = "wakepath-loop";

/// Where things are; a root other than `/` in tests.
#[derive(Debug, Clone)]
pub(super) struct Places {
    resctrl: PathBuf,
    file_systems: PathBuf,
    /// Locked for as long as something is changed: without a lock it is the leftover of a killed run.
    journal: PathBuf,
}

impl Places {
    /// Those of a machine whose root directory is `root`.
    pub(super) fn under(root: &Path) -> Self {
        Self {
            resctrl: root.join("sys/fs/resctrl"),
            file_systems: root.join("proc/filesystems"),
            journal: root.join("run/wakepath-resctrl"),
        }
    }
}

/// A share of the cache in effect. [`CacheAllocation::remove`] puts back what was there.
#[derive(Debug)]
pub(super) struct CacheAllocation {
    places: Places,
    /// The default group's line before.
    saved: String,
    _journal: File,
    /// The share in effect, one line.
    pub(super) effective: String,
}

impl CacheAllocation {
    /// Gives `process` (and the threads that it starts from now on) about `share` of every
    /// last-level cache, and takes it from everyone else.
    ///
    /// # Errors
    /// Why not, and what would help. Nothing is left changed.
    pub(super) fn set(places: &Places, share: f64, process: u32) -> Result<Self> {
        remove_leftover(places)?;
        let known = Known::read(places)?;
        let (own, rest) = known.split(share)?;
        let journal = begin_journal(places, &known.schemata)?;
        let mut allocation = Self {
            places: places.clone(),
            saved: known.schemata.clone(),
            _journal: journal,
            effective: String::new(),
        };
        match allocation.change(&known, own, rest, process) {
            Ok(effective) => {
                allocation.effective = effective;
                Ok(allocation)
            }
            Err(reason) => match allocation.remove() {
                Ok(()) => Err(reason),
                Err(and) => Err(CacheError::Both(reason.into(), and.into())),
            },
        }
    }

    fn change(&self, known: &Known, own: u64, rest: u64, process: u32) -> Result<String> {
        let group = self.places.resctrl.join(GROUP);
        fs::create_dir(&group).map_err(io("make", &group))?;
        let (group_schemata, schemata) = (group.join("schemata"), self.places.schemata());
        write(&group_schemata, &known.line(|_| own))?;
        write(&schemata, &known.line(|mask| mask & rest))?;
        let tasks = group.join("tasks");
        write(&tasks, &format!("{process}\n"))?;

        // Requested is never taken for effective.
        let masks = |path: &Path| -> Result<Vec<u64>> {
            let domains = domains(&l3_line(&read(path)?, path)?, path)?;
            Ok(domains.into_iter().map(|(_, mask)| mask).collect())
        };
        let kept = masks(&schemata)?;
        if masks(&group_schemata)?.iter().any(|mask| *mask != own)
            || kept.iter().any(|mask| mask & own != 0)
        {
            return Err(CacheError::MasksNotTaken { path: schemata });
        }
        if !read(&tasks)?
            .lines()
            .any(|line| line.trim() == process.to_string())
        {
            return Err(CacheError::NotInGroup { path: tasks });
        }
        Ok(format!(
            "the loop has exclusive use of {} of {} ways of the last-level cache (mask {own:x}, the rest {}), \
             as read back",
            own.count_ones(),
            known.mask.count_ones(),
            kept.iter()
                .map(|mask| format!("{mask:x}"))
                .collect::<Vec<_>>()
                .join(", "),
        ))
    }

    /// Restores the old state.
    ///
    /// # Errors
    /// The setting that could not be restored.
    pub(super) fn remove(self) -> Result<()> {
        restore(&self.places, &self.saved)
    }
}

/// Restores the state before a run that was killed; returns whether there was one.
///
/// # Errors
/// The setting that could not be restored, or that another wakepath is using it.
pub(super) fn remove_leftover(places: &Places) -> Result<bool> {
    let journal = &places.journal;
    let mut file = match File::open(journal) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(io("open", journal)(error)),
    };
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Err(CacheError::AnotherWakepath);
    }
    let mut saved = String::new();
    file.read_to_string(&mut saved)
        .map_err(io("read", journal))?;
    match saved.is_empty() {
        // It was killed before it changed anything.
        true => fs::remove_file(journal).map_err(io("remove", journal)),
        false => restore(places, &saved),
    }
    .map(|()| true)
}

/// The default group's masks, then the group away, then the journal.
fn restore(places: &Places, saved: &str) -> Result<()> {
    let group = places.resctrl.join(GROUP);
    match fs::remove_dir(&group) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        // The kernel's own files never keep it; in a recorded tree they are files like others.
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
            fs::remove_dir_all(&group).map_err(io("remove", &group))?;
        }
        Err(error) => return Err(io("remove", &group)(error)),
    }
    // After a restart of the machine nothing is mounted, and nothing is left to put back.
    let schemata = places.schemata();
    if schemata.exists() {
        write(&schemata, saved)?;
        let now = l3_line(&read(&schemata)?, &schemata)?;
        if domains(&now, &schemata)? != domains(saved.trim(), &schemata)? {
            return Err(CacheError::NotPutBack {
                path: schemata,
                masks: saved.trim().into(),
            });
        }
    }
    fs::remove_file(&places.journal).map_err(io("remove", &places.journal))
}

impl Places {
    fn schemata(&self) -> PathBuf {
        self.resctrl.join("schemata")
    }
}

/// The journal, locked and on disk before anything is changed.
fn begin_journal(places: &Places, schemata: &str) -> Result<File> {
    let path = &places.journal;
    let failed = io("write", path);
    let mut file = File::create_new(path).map_err(&failed)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|e| failed(e.into()))?;
    file.write_all(schemata.as_bytes()).map_err(&failed)?;
    file.sync_all().map_err(&failed)?;
    Ok(file)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(io("read", path))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree typed from the kernel's documentation: two caches of 20 ways, and memory bandwidth.
    fn tree(schemata: &str) -> (tempfile::TempDir, Places) {
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("proc/filesystems", "nodev\tsysfs\nnodev\tresctrl\n"),
            ("run/other", ""),
            ("sys/fs/resctrl/info/L3/cbm_mask", "fffff\n"),
            ("sys/fs/resctrl/info/L3/min_cbm_bits", "2\n"),
            ("sys/fs/resctrl/schemata", schemata),
            ("sys/fs/resctrl/tasks", "1\n2\n"),
        ];
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let places = Places::under(root.path());
        (root, places)
    }

    const SCHEMATA: &str = "    MB:0=100;1=100\n    L3:0=fffff;1=fffff\n";

    fn masks(path: &Path) -> String {
        l3_line(&read(path).unwrap(), path).unwrap()
    }

    #[test]
    fn the_loop_gets_its_ways_and_everyone_else_the_others_until_it_is_removed() {
        let (_root, places) = tree(SCHEMATA);
        let allocation = CacheAllocation::set(&places, 0.5, 4711).unwrap();
        let group = places.resctrl.join(GROUP);
        assert_eq!(masks(&group.join("schemata")), "L3:0=ffc00;1=ffc00");
        assert_eq!(masks(&places.schemata()), "L3:0=3ff;1=3ff");
        assert_eq!(read(&group.join("tasks")).unwrap(), "4711\n");
        assert!(
            allocation.effective.contains("10 of 20 ways")
                && allocation.effective.contains("ffc00"),
            "{}",
            allocation.effective
        );
        assert!(places.journal.exists());
        allocation.remove().unwrap();
        assert_eq!(masks(&places.schemata()), "L3:0=fffff;1=fffff");
        assert!(!group.exists() && !places.journal.exists());
    }

    #[test]
    fn what_a_killed_run_left_is_put_back_by_the_next_start() {
        let (_root, places) = tree(SCHEMATA);
        let killed = CacheAllocation::set(&places, 0.25, 4711).unwrap();
        // As after kill -9: the lock goes with the process, everything else stays.
        drop(killed);
        assert_eq!(masks(&places.schemata()), "L3:0=7fff;1=7fff");
        assert!(remove_leftover(&places).unwrap());
        assert_eq!(masks(&places.schemata()), "L3:0=fffff;1=fffff");
        assert!(!places.resctrl.join(GROUP).exists() && !places.journal.exists());
        assert!(!remove_leftover(&places).unwrap());
        // A journal silently: killed before anything was changed.
        fs::write(&places.journal, "").unwrap();
        remove_leftover(&places).unwrap();
        assert!(!places.journal.exists());
    }

    #[test]
    fn another_wakepath_at_work_is_left_alone() {
        let (_root, places) = tree(SCHEMATA);
        let theirs = CacheAllocation::set(&places, 0.5, 1).unwrap();
        let refused = CacheAllocation::set(&places, 0.5, 2)
            .unwrap_err()
            .to_string();
        assert!(refused.contains("another wakepath"), "{refused}");
        assert_eq!(masks(&places.schemata()), "L3:0=3ff;1=3ff");
        theirs.remove().unwrap();
    }

    #[test]
    fn a_machine_without_it_says_which_of_three_things_is_missing() {
        let (root, places) = tree(SCHEMATA);
        let why = |places: &Places| {
            let refused = CacheAllocation::set(places, 0.5, 1);
            refused.unwrap_err().to_string()
        };
        fs::remove_dir_all(places.resctrl.join("info/L3")).unwrap();
        assert!(why(&places).contains("no L3 that can be divided"));
        fs::remove_dir_all(&places.resctrl).unwrap();
        assert!(why(&places).contains("mount -t resctrl"));
        fs::write(root.path().join("proc/filesystems"), "nodev\tsysfs\n").unwrap();
        assert_eq!(
            why(&places),
            "no cache allocation here: this kernel or CPU has no resctrl"
        );
        assert!(!places.journal.exists());
    }

    #[test]
    fn too_small_a_rest_and_damaged_files_are_refused_and_nothing_is_left() {
        let (_root, places) = tree(SCHEMATA);
        let why = |share| {
            let refused = CacheAllocation::set(&places, share, 1);
            refused.unwrap_err().to_string()
        };
        assert!(why(0.99).contains("can't be divided into 20 and 0"));
        fs::write(places.schemata(), "L3:0=ffc00;1=fffff\n").unwrap();
        assert!(why(0.5).contains("mask ffc00 of cache 0"), "{}", why(0.5));
        fs::write(places.schemata(), "L3:0=;1\n").unwrap();
        assert!(why(0.5).contains("can't be read"));
        fs::write(places.schemata(), "MB:0=100\n").unwrap();
        assert!(why(0.5).contains("has no line for L3"));
        assert!(!places.journal.exists() && !places.resctrl.join(GROUP).exists());
    }
}
