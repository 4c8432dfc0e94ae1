//! Finds installed programs and names the package of those that are missing. It runs none.

use crate::LoadError;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// System directories that an ordinary user's PATH may lack; bonnie++ is in the first. A laboratory
/// guest's first process has no PATH at all.
const ALSO: [&str; 5] = ["/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin", "/bin"];

/// The file of `program` for the load called `load`.
///
/// # Errors
/// [`LoadError::MissingProgram`] naming `package` where one is known to hold it.
pub(crate) fn find(load: &str, program: &str, package: Option<&str>) -> Result<PathBuf, LoadError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories = std::env::split_paths(&path).chain(ALSO.map(PathBuf::from));
    find_in(program, directories).ok_or_else(|| LoadError::MissingProgram {
        load: load.into(),
        program: program.into(),
        remedy: match package {
            Some(package) => format!("install the package {package}"),
            None => "give the path of an executable file or install it".into(),
        },
    })
}

fn find_in(program: &str, directories: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    if program.contains('/') {
        // Absolute, because the process that starts it may stand elsewhere.
        return std::path::absolute(program)
            .ok()
            .filter(|path| is_executable(path));
    }
    directories
        .map(|directory| directory.join(program))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// `argument` for a program that runs in another directory: the name of an existing file becomes
/// absolute, because a job file is named from where the user stands.
pub(crate) fn as_seen_from_elsewhere(argument: &str) -> String {
    let path = Path::new(argument);
    if argument.starts_with('-') || !path.is_file() {
        return argument.to_owned();
    }
    let absolute = std::path::absolute(path);
    absolute.map_or_else(|_| argument.to_owned(), |path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_together_with_its_package() {
        let error = find("glmark2", "no-such-program-here", Some("glmark2")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "load glmark2: the program no-such-program-here is not installed; install the package \
             glmark2"
        );
    }

    #[test]
    fn a_job_file_keeps_its_place_and_an_option_its_text() {
        // Tests run in the crate's directory.
        assert!(as_seen_from_elsewhere("Cargo.toml").ends_with("/Cargo.toml"));
        assert!(as_seen_from_elsewhere("Cargo.toml").starts_with('/'));
        assert_eq!(as_seen_from_elsewhere("--size=8M"), "--size=8M");
        assert_eq!(as_seen_from_elsewhere("no-such.fio"), "no-such.fio");
    }

    #[test]
    fn a_directory_or_plain_file_is_no_program() {
        let name = format!("wakepath-programs-{}", std::process::id());
        let plain = std::env::temp_dir().join(name);
        std::fs::create_dir(&plain).unwrap();
        std::fs::write(plain.join("sh"), "").unwrap();
        let found = find_in("sh", [plain.clone(), PathBuf::from("/bin")].into_iter());
        std::fs::remove_dir_all(&plain).unwrap();
        assert_eq!(found, Some(PathBuf::from("/bin/sh")));
        assert_eq!(find_in("/etc", std::iter::empty()), None);
    }
}
