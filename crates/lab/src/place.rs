//! Prepares the directory for a laboratory's runs.
//!
//! It must be empty or hold only remains of guests that were killed or failed before they sent
//! anything. Remains are removed; anything else is the user's.

use crate::machine::{CONSOLE, SENT};
use crate::{LabError, Result};
use std::fs;
use std::path::{Path, PathBuf};
use wakepath_archive::ArchiveError;
use wakepath_directory::{Directory, Trust};

/// Ensures that runs can be stored in `directory`.
///
/// # Errors
/// [`LabError::Directory`] if another user could change it while root writes in it, unless `trust`
/// allows that; [`ArchiveError::DirectoryNotEmpty`] if it holds anything but such remains, and then
/// nothing is removed.
pub fn take(directory: &Path, trust: Trust) -> Result<()> {
    if directory.exists() {
        Directory::to_write(directory, trust)?;
    }
    if is_free(directory)? {
        Ok(())
    } else {
        Err(LabError::Archive(ArchiveError::DirectoryNotEmpty {
            path: directory.into(),
        }))
    }
}

/// Whether runs can be stored in `directory`, after removing such remains.
pub(crate) fn is_free(directory: &Path) -> Result<bool> {
    let Some(remains) = remains(directory) else {
        return Ok(false);
    };
    for path in remains {
        let removed = if path.is_dir() {
            fs::remove_dir(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.map_err(|error| LabError::io("remove", &path, error))?;
    }
    Ok(true)
}

/// Whether a guest's run can be stored in `directory`, after removing the remains of an interrupted
/// one.
pub(crate) fn is_free_of_a_guest(directory: &Path) -> Result<bool> {
    if !directory.exists() {
        return Ok(true);
    }
    let Some(remains) = of_a_guest(directory) else {
        return Ok(false);
    };
    for path in remains {
        fs::remove_file(&path).map_err(|error| LabError::io("remove", &path, error))?;
    }
    fs::remove_dir(directory).map_err(|error| LabError::io("remove", directory, error))?;
    Ok(true)
}

/// Removes the remains of a killed laboratory from a directory of complete runs.
pub(crate) fn sweep(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && is_initramfs(&entry.file_name().to_string_lossy()) {
            let path = entry.path();
            fs::remove_file(&path).map_err(|error| LabError::io("remove", &path, error))?;
        }
    }
    Ok(())
}

/// Everything in a directory, content before directories, if all of it is remains. A missing
/// directory has none.
fn remains(directory: &Path) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let entry = entry.ok()?;
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        if kind.is_dir() {
            found.extend(of_a_guest(&path)?);
        } else if !kind.is_file() || !is_initramfs(&entry.file_name().to_string_lossy()) {
            return None;
        }
        found.push(path);
    }
    Some(found)
}

/// Files that the emulator leaves while a guest runs.
const OF_A_GUEST: [&str; 3] = [CONSOLE, SENT, "window-plugin.so"];

fn of_a_guest(directory: &Path) -> Option<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).ok()?;
    let mine = entries.map(|entry| {
        let entry = entry.ok()?;
        let is_one = OF_A_GUEST.iter().any(|name| entry.file_name() == *name);
        (is_one && entry.file_type().ok()?.is_file()).then(|| entry.path())
    });
    mine.collect()
}

/// `.initramfs-PROCESS`, if the process was killed before it had removed the name; earlier versions
/// left `initramfs-KERNEL-SEED.cpio`.
fn is_initramfs(name: &str) -> bool {
    let earlier = name.strip_suffix(".cpio");
    name.starts_with(".initramfs-") || earlier.is_some_and(|name| name.starts_with("initramfs-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_laboratory_left_makes_no_directory_useless() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().join("runs");
        take(&place, Trust::Own).unwrap();
        fs::create_dir_all(place.join("debian-rt")).unwrap();
        for left in [
            ".initramfs-4711",
            "initramfs-0-1.cpio",
            "debian-rt/console.log",
            "debian-rt/sent.partial",
        ] {
            fs::write(place.join(left), "x").unwrap();
        }
        take(&place, Trust::Own).unwrap();
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_with_anything_else_is_refused_and_keeps_all_that_it_holds() {
        for other in [
            "letter",
            "debian-rt/samples.log",
            "debian-rt/below/console.log",
        ] {
            let place = tempfile::tempdir().unwrap();
            let console = place.path().join("debian-rt/console.log");
            let other = place.path().join(other);
            for path in [&console, &other] {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, "x").unwrap();
            }
            let said = take(place.path(), Trust::Own).unwrap_err().to_string();
            assert!(said.contains("already contains files"), "{said}");
            assert!(console.exists() && other.exists());
        }
        let place = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc", place.path().join("debian-rt")).unwrap();
        assert!(take(place.path(), Trust::Own).is_err());
    }
}
