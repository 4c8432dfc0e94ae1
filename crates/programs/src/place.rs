//! Finds a program by its name.
//!
//! For root only in places where nobody else can have put it.

use crate::trust;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

/// System directories that an ordinary user's PATH can lack; bonnie++ is in the first. A laboratory
/// guest's first process has no PATH.
const ALSO: [&str; 5] = ["/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin", "/bin"];

/// Write permission for a group and for everybody.
const OTHERS_WRITE: u32 = 0o022;

/// Reasons why a program isn't found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// It is in no directory of PATH.
    #[error("the program {program} is not installed")]
    Nowhere {
        /// Its name.
        program: String,
    },
    /// It is only in a place where other users could have put it.
    #[error(
        "the program {program} is only at {}, and {why}: as root, name it by its path or install \
         it where only root can write", path.display()
    )]
    Distrusted {
        /// Its name.
        program: String,
        /// Its path.
        path: PathBuf,
        /// Why it is not taken.
        why: String,
    },
}

/// The file of `program`: a path unchanged, a name from PATH's absolute directories and the
/// system's own. For root, a name only matches a file that nobody else can have put there or
/// changed, including all directories above it; a path is the user's own choice.
///
/// # Errors
/// [`NotFound`], with what would be right.
pub fn find(program: impl AsRef<OsStr>) -> Result<PathBuf, NotFound> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(ALSO.map(PathBuf::from));
    let as_root = rustix::process::geteuid().is_root();
    find_in(program.as_ref(), directories, as_root)
}

/// A program of the same release: next to the running one, else as [`find`] finds it. The one next to it has to be
/// as well kept as the running one, which was the user's choice: of the same owner, and closed to everybody else
/// who can't write to that one either.
///
/// # Errors
/// As [`find`].
pub fn companion(name: &str) -> Result<PathBuf, NotFound> {
    let own = std::env::current_exe().ok();
    let beside = own.and_then(|own| beside(&own, name));
    beside.map_or_else(|| find(name), Ok)
}

fn beside(own: &Path, name: &str) -> Option<PathBuf> {
    let path = own.with_file_name(name);
    let (one, other) = (own.metadata().ok()?, path.metadata().ok()?);
    let is_as_well_kept =
        one.uid() == other.uid() && other.mode() & OTHERS_WRITE & !one.mode() == 0;
    (is_executable(&path) && is_as_well_kept).then_some(path)
}

/// A command for the program that [`find`] finds. For root, programs that it starts by name
/// (`dpkg-deb` starts `tar`) are searched for in the same safe directories.
///
/// # Errors
/// As [`find`].
pub fn command(program: impl AsRef<OsStr>) -> Result<Command, NotFound> {
    let mut command = Command::new(find(program)?);
    if rustix::process::geteuid().is_root() {
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env("PATH", safe(std::env::split_paths(&path)));
    }
    Ok(command)
}

/// Refuses a file that is about to be executed although the user didn't name it, such as a
/// program's loader, if it would make root run another user's file.
///
/// # Errors
/// [`NotFound`].
pub fn may_run(program: &Path) -> Result<(), NotFound> {
    let as_root = rustix::process::geteuid().is_root();
    let name = || program.display().to_string();
    if !program.is_absolute() {
        return Err(NotFound::Nowhere { program: name() });
    }
    match as_root.then(|| trust::distrusted(program)).flatten() {
        None => Ok(()),
        Some(why) => Err(NotFound::Distrusted {
            program: name(),
            path: program.to_owned(),
            why,
        }),
    }
}

/// The directories of a PATH that only contain root's programs, and the system's own.
fn safe(directories: impl Iterator<Item = PathBuf>) -> OsString {
    let all = directories.chain(ALSO.map(PathBuf::from));
    let safe =
        all.filter(|directory| directory.is_absolute() && trust::distrusted(directory).is_none());
    std::env::join_paths(safe).expect("they came out of a PATH")
}

/// The file to start for `program`: a name as [`find`] resolves it, a path unchanged, so that the
/// kernel reports its faults.
///
/// # Errors
/// As [`find`], for a name.
pub fn to_start(program: impl AsRef<OsStr>) -> Result<PathBuf, NotFound> {
    let program = program.as_ref();
    if program.as_encoded_bytes().contains(&b'/') {
        Ok(PathBuf::from(program))
    } else {
        find(program)
    }
}

fn find_in(
    program: &OsStr,
    directories: impl Iterator<Item = PathBuf>,
    as_root: bool,
) -> Result<PathBuf, NotFound> {
    let name = program.display().to_string();
    if name.contains('/') {
        // Absolute, because the starting process can have another working directory.
        let path = std::path::absolute(program).ok();
        let path = path.filter(|path| is_executable(path));
        return path.ok_or(NotFound::Nowhere { program: name });
    }
    let mut distrusted = None;
    for directory in directories.filter(|directory| directory.is_absolute()) {
        let path = directory.join(program);
        if !is_executable(&path) {
            continue;
        }
        match as_root.then(|| trust::distrusted(&path)).flatten() {
            None => return Ok(path),
            Some(why) => {
                distrusted.get_or_insert((path, why));
            }
        }
    }
    Err(match distrusted {
        None => NotFound::Nowhere { program: name },
        Some((path, why)) => NotFound::Distrusted {
            program: name,
            path,
            why,
        },
    })
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A directory of its own, which others may write to, that holds an executable `sh`.
    fn with_a_shell() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let file = directory.path().join("sh");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        directory
    }

    fn found(places: &[&Path], as_root: bool) -> Result<PathBuf, NotFound> {
        let places = places.iter().map(|place| place.to_path_buf());
        find_in(OsStr::new("sh"), places, as_root)
    }

    #[test]
    fn root_passes_over_a_directory_that_others_may_write_to() {
        let theirs = with_a_shell();
        let (first, system) = (theirs.path(), Path::new("/bin"));
        assert_eq!(found(&[first, system], false), Ok(first.join("sh")));
        assert_eq!(found(&[first, system], true), Ok(system.join("sh")));
    }

    #[test]
    fn root_is_told_in_one_line_where_a_program_is_and_why_it_is_not_taken() {
        let theirs = with_a_shell();
        let line = found(&[theirs.path()], true).unwrap_err().to_string();
        assert!(line.starts_with("the program sh is only at /"), "{line}");
        // Its own mode, or as an ordinary user its owner.
        assert!(
            line.contains("others may write to") || line.contains("belongs to user"),
            "{line}"
        );
        assert!(line.contains("name it by its path"), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }

    #[test]
    fn what_root_starts_finds_its_own_programs_in_safe_directories_alone() {
        let theirs = with_a_shell();
        let given = [theirs.path(), Path::new("bin"), Path::new("/usr/bin")];
        let kept = safe(given.iter().map(|path| path.to_path_buf()));
        let kept: Vec<_> = std::env::split_paths(&kept).collect();
        assert_eq!(kept[0], Path::new("/usr/bin"), "{kept:?}");
        assert!(
            kept.iter()
                .all(|path| path.is_absolute() && path != theirs.path())
        );
        let command = command("sh").unwrap();
        let sets_path = command.get_envs().any(|(name, _)| name == "PATH");
        assert_eq!(sets_path, rustix::process::geteuid().is_root());
        assert!(Path::new(command.get_program()).is_absolute());
    }

    #[test]
    fn a_loader_that_nobody_named_is_absolute_and_root_s() {
        let theirs = with_a_shell();
        assert!(may_run(Path::new("bin/sh")).is_err());
        assert_eq!(may_run(Path::new("/bin/sh")), Ok(()));
        let refused = may_run(&theirs.path().join("sh")).is_err();
        assert_eq!(refused, rustix::process::geteuid().is_root());
    }

    #[test]
    fn a_companion_is_next_to_the_program_and_nobody_elses() {
        let place = with_a_shell();
        let own = place.path().join("sh");
        let other = place.path().join("other");
        assert_eq!(beside(&own, "other"), None);
        fs::copy(&own, &other).unwrap();
        assert_eq!(beside(&own, "other"), Some(other.clone()));
        for (mode, is_taken) in [
            (0o777, false),
            (0o775, false),
            (0o644, false),
            (0o700, true),
        ] {
            fs::set_permissions(&other, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(beside(&own, "other").is_some(), is_taken, "{mode:o}");
        }
        assert_eq!(companion("sh"), find("sh"));
    }

    #[test]
    fn where_one_stands_is_no_place_to_look() {
        for relative in ["", ".", "bin"] {
            let refused = found(&[Path::new(relative)], false).unwrap_err();
            assert!(matches!(refused, NotFound::Nowhere { .. }), "{refused}");
        }
    }

    #[test]
    fn a_path_is_taken_at_its_word() {
        let theirs = with_a_shell();
        let path = theirs.path().join("sh");
        let taken = find_in(path.as_os_str(), std::iter::empty(), true);
        assert_eq!(taken, Ok(path));
    }

    #[test]
    fn a_directory_or_plain_file_is_no_program() {
        let plain = tempfile::tempdir().unwrap();
        fs::write(plain.path().join("sh"), "").unwrap();
        let found = found(&[plain.path(), Path::new("/bin")], false);
        assert_eq!(found, Ok(PathBuf::from("/bin/sh")));
        assert!(find_in(OsStr::new("/etc"), std::iter::empty(), false).is_err());
    }
}
