//! Limits Cobalt's CPUs for new threads to one for a moment, and restores them.
//!
//! The setting applies to the whole core. Its old value is written to a journal first; if the
//! process is killed in between, the next one restores it.

use std::fs;
use std::path::{Path, PathBuf};

/// Paths; with a root other than `/` in tests.
struct Places {
    /// CPUs that the core puts new threads on, as a mask; 0 means all of its own.
    affinity: PathBuf,
    /// The old value, while the setting is changed.
    journal: PathBuf,
}

impl Places {
    fn under(root: &Path) -> Self {
        Self {
            affinity: root.join("proc/xenomai/affinity"),
            journal: root.join("run/wakepath-cobalt-affinity"),
        }
    }
}

/// Limits new threads of the core to one CPU while it lives. The device chooses no CPU for its
/// task, which otherwise stays wherever Linux started it.
pub(super) struct Narrowed {
    places: Places,
    before: String,
}

impl Narrowed {
    /// `None` if the core has one CPU, or this user has no right to this; the task's actual CPU is
    /// read back.
    pub(super) fn to(cpu: u16) -> Option<Self> {
        Self::under(Path::new("/"), cpu)
    }

    fn under(root: &Path, cpu: u16) -> Option<Self> {
        let places = Places::under(root);
        put_back(&places);
        let bit = 1_u64.checked_shl(cpu.into())?;
        let before = fs::read_to_string(&places.affinity).ok()?;
        let before = u64::from_str_radix(before.trim(), 16).ok()?;
        let before = format!("{before:#x}");
        fs::write(&places.journal, &before).ok()?;
        let narrowed = Self { places, before };
        // If this fails, the old value is still in effect and is written once more.
        fs::write(&narrowed.places.affinity, format!("{bit:#x}")).ok()?;
        Some(narrowed)
    }
}

impl Drop for Narrowed {
    fn drop(&mut self) {
        // If the setting can't be restored, the journal stays for the next attempt.
        if fs::write(&self.places.affinity, &self.before).is_ok() {
            let _ = fs::remove_file(&self.places.journal);
        }
    }
}

/// Restores Cobalt's CPUs for new threads if a wakepath was killed while it had limited them;
/// returns whether one was.
pub fn put_back_cobalt_affinity() -> bool {
    put_back(&Places::under(Path::new("/")))
}

fn put_back(places: &Places) -> bool {
    let Ok(before) = fs::read_to_string(&places.journal) else {
        return false;
    };
    // An empty one: killed before it changed anything. Without the file: the kernel is another since.
    let is_left = !before.is_empty() && places.affinity.exists();
    if is_left && fs::write(&places.affinity, &before).is_err() {
        return false;
    }
    let _ = fs::remove_file(&places.journal);
    is_left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        for directory in ["proc/xenomai", "run"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        let affinity = root.path().join("proc/xenomai/affinity");
        fs::write(&affinity, "00000003\n").unwrap();
        (root, affinity)
    }

    #[test]
    fn what_it_was_comes_back_at_the_end_and_after_a_kill() {
        let (root, affinity) = machine();
        let narrowed = Narrowed::under(root.path(), 1).unwrap();
        assert_eq!(fs::read_to_string(&affinity).unwrap(), "0x2");
        drop(narrowed);
        assert_eq!(fs::read_to_string(&affinity).unwrap(), "0x3");
        assert!(!put_back(&Places::under(root.path())));

        fs::write(&affinity, "00000003\n").unwrap();
        // Leaves everything unchanged, as a kill would.
        std::mem::forget(Narrowed::under(root.path(), 1).unwrap());
        assert!(put_back(&Places::under(root.path())));
        assert_eq!(fs::read_to_string(&affinity).unwrap(), "0x3");
        assert!(!Places::under(root.path()).journal.exists());
    }

    #[test]
    fn nothing_is_written_where_the_core_has_no_such_setting() {
        let (root, affinity) = machine();
        fs::remove_file(&affinity).unwrap();
        assert!(Narrowed::under(root.path(), 1).is_none());
        assert!(!Places::under(root.path()).journal.exists());
    }
}
