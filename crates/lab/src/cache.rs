//! The cache of downloads.
//!
//! An entry is made under a temporary name and renamed when complete, so that no process sees an
//! incomplete one.

use crate::{LabError, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// A directory of downloads.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
    told: fn(&str),
}

/// Environment variable that names another place.
const VARIABLE: &str = "WAKEPATH_LAB_CACHE";

impl Cache {
    /// In this directory.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            told: |_| (),
        }
    }

    /// The same, with `told` receiving a line for each download.
    pub fn telling(self, told: fn(&str)) -> Self {
        Self { told, ..self }
    }

    /// Announces a slow step.
    pub(crate) fn tell(&self, what: &str) {
        (self.told)(what);
    }

    /// `$WAKEPATH_LAB_CACHE`, else `wakepath/lab` in the user's cache directory.
    pub fn of_this_user() -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let root = match (set(VARIABLE), set("XDG_CACHE_HOME"), set("HOME")) {
            (Some(root), _, _) => PathBuf::from(root),
            (None, Some(cache), _) => PathBuf::from(cache).join("wakepath/lab"),
            (None, None, Some(home)) => PathBuf::from(home).join(".cache/wakepath/lab"),
            (None, None, None) => std::env::temp_dir().join("wakepath-lab"),
        };
        Self::at(root)
    }

    /// The directory `name` for something that keeps itself in order.
    pub(crate) fn place(&self, name: &str) -> Result<PathBuf> {
        let place = self.root.join(name);
        fs::create_dir_all(&place).map_err(|e| LabError::io("make", &place, e))?;
        std::path::absolute(&place).map_err(|e| LabError::io("find", &place, e))
    }

    /// The directory `name`, as it is or as `make` fills it, always complete. `good` checks an
    /// existing one; if that fails, it is made again.
    ///
    /// # Errors
    /// Those of `make`, and if the cache can't be written.
    pub(crate) fn directory(
        &self,
        name: &str,
        good: impl Fn(&Path) -> bool,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let place = self.root.join(name);
        if good(&place) {
            return Ok(place);
        }
        fs::create_dir_all(&self.root).map_err(|e| LabError::io("make", &self.root, e))?;
        let partial = self
            .root
            .join(format!(".partial-{name}-{}", std::process::id()));
        self.sweep(&format!(".partial-{name}-"));
        fs::create_dir(&partial).map_err(|e| LabError::io("make", &partial, e))?;
        let made = make(&partial).and_then(|()| {
            if place.exists() && !good(&place) {
                fs::remove_dir_all(&place).map_err(|e| LabError::io("remove", &place, e))?;
            }
            match fs::rename(&partial, &place) {
                // Another process has created it since.
                Err(_) if good(&place) => Ok(()),
                outcome => outcome.map_err(|e| LabError::io("rename to", &place, e)),
            }
        });
        let _ = fs::remove_dir_all(&partial);
        made.map(|()| place)
    }

    /// Removes incomplete entries of dead processes; this process makes one at a time.
    fn sweep(&self, beginning: &str) {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name();
            let process = name.to_str().and_then(|name| name.strip_prefix(beginning));
            let process = process.and_then(|number| number.parse::<u32>().ok());
            let is_left = process.is_some_and(|number| {
                number == std::process::id() || !Path::new(&format!("/proc/{number}")).exists()
            });
            if is_left {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(place: &Path) -> bool {
        fs::read(place.join("a")).is_ok_and(|bytes| bytes == b"whole")
    }

    #[test]
    fn what_failed_halfway_is_not_there_and_what_was_damaged_is_made_anew() {
        let root = tempfile::tempdir().unwrap();
        let cache = Cache::at(root.path());
        let halfway = |partial: &Path| {
            fs::write(partial.join("a"), b"wh").unwrap();
            Err(LabError::Interrupted)
        };
        assert!(cache.directory("thing", good, halfway).is_err());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);

        let whole = |partial: &Path| {
            fs::write(partial.join("a"), b"whole").unwrap();
            Ok(())
        };
        let place = cache.directory("thing", good, whole).unwrap();
        assert!(good(&place));
        let never = |_: &Path| panic!("it is there");
        cache.directory("thing", good, never).unwrap();

        fs::write(place.join("a"), b"damaged").unwrap();
        cache.directory("thing", good, whole).unwrap();
        assert!(good(&place));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_killed_process_left_half_made_is_never_used_and_swept_away() {
        let root = tempfile::tempdir().unwrap();
        // No process has the highest number there is (proc(5): pid_max is at most 2^22).
        let left = root.path().join(format!(".partial-thing-{}", u32::MAX));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("a"), b"wh").unwrap();
        let working = root.path().join(".partial-thing-1");
        fs::create_dir(&working).unwrap();
        let whole = |partial: &Path| {
            fs::write(partial.join("a"), b"whole").unwrap();
            Ok(())
        };
        let place = Cache::at(root.path())
            .directory("thing", good, whole)
            .unwrap();
        assert!(good(&place) && !left.exists());
        assert!(working.exists(), "process 1 is at work");
    }
}
