//! The directory of a new run: its path, and whether it is allowed. It measures nothing.

use crate::runs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use wakepath_directory::{Directory, Trust};

type Failure = Box<dyn std::error::Error>;

/// Directory of a new run: chosen early, so that faults are reported before anything is measured;
/// created late, so that nothing is left of a run that was never measured.
pub struct RunDirectory {
    path: PathBuf,
    is_named: bool,
    trust: Trust,
    /// Directories above it that are not there yet, the innermost first.
    missing: Vec<PathBuf>,
}

fn missing_above(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    let missing = above.take_while(|above| !above.as_os_str().is_empty() && !above.exists());
    missing.map(Path::to_owned).collect()
}

impl RunDirectory {
    /// The directory that was named, which must be empty or not be there, else a new one.
    pub fn choose(
        named: Option<&Path>,
        trusts: bool,
        name: &str,
        started: SystemTime,
    ) -> Result<Self, Failure> {
        let place = Self {
            path: match named {
                Some(named) => named.to_owned(),
                None => default_directory(name, started)?,
            },
            is_named: named.is_some(),
            trust: trust(trusts),
            missing: named.map_or_else(Vec::new, missing_above),
        };
        if place.is_named {
            refuse_used(&place.path)?;
            if place.path.exists() {
                Directory::to_write(&place.path, place.trust)?;
            }
        }
        Ok(place)
    }

    /// Makes it. Two runs that start in the same second get two directories.
    pub fn make(&self) -> Result<Directory, Failure> {
        Ok(if self.is_named {
            Directory::make(&self.path, self.trust)?
        } else {
            Directory::make_new(&self.path)?
        })
    }

    /// Removes it after a run of which nothing was recorded, if it is empty, and the directory of all runs if that is
    /// empty then.
    pub fn withdraw(&self, made: &Directory) {
        let _ = std::fs::remove_dir(made.path());
        if !self.is_named {
            // Other runs keep it.
            let _ = std::fs::remove_dir(runs::HOME);
        }
        for above in &self.missing {
            let _ = std::fs::remove_dir(above);
        }
    }
}

/// What `--trust-directory` says.
pub fn trust(trusts: bool) -> Trust {
    if trusts { Trust::Any } else { Trust::Own }
}

/// A run needs its own directory: existing files stay as they are.
pub fn refuse_used(directory: &Path) -> Result<(), Failure> {
    // One that is not there is made; one that can't be is named when it is tried.
    let used = std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some());
    if used {
        Err(Box::new(
            wakepath_archive::ArchiveError::DirectoryNotEmpty {
                path: directory.into(),
            },
        ))
    } else {
        Ok(())
    }
}

/// `wakepath-runs/NAME-TIME` in the working directory.
///
/// # Errors
/// As [`runs::home_can_be_used`].
pub fn default_directory(name: &str, started: SystemTime) -> Result<PathBuf, String> {
    runs::home_can_be_used()?;
    let time = humantime::format_rfc3339_seconds(started).to_string();
    let time: String = time.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    // A scenario's name is the user's; a directory's name must not climb.
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '-'
            }
        })
        .collect();
    Ok(Path::new(runs::HOME).join(format!("{name}-{time}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_which_nothing_was_recorded_leaves_no_directory_above_it() {
        let place = tempfile::tempdir().unwrap();
        let there = place.path().join("there");
        std::fs::create_dir(&there).unwrap();
        let named = there.join("new/run");
        let chosen = RunDirectory::choose(Some(&named), false, "x", SystemTime::now()).unwrap();
        let made = chosen.make().unwrap();
        assert!(named.exists());
        chosen.withdraw(&made);
        assert!(there.exists() && !there.join("new").exists());
    }
}
