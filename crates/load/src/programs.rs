//! Finds programs and their job files, or names the package to install.
//!
//! It runs none.

use crate::LoadError;
use std::path::{Path, PathBuf};
use wakepath_programs::NotFound;

/// The file of `program` for the load called `load`.
///
/// # Errors
/// [`LoadError::MissingProgram`] naming `package` if one is known to hold it;
/// [`LoadError::DistrustedProgram`].
pub(crate) fn find(load: &str, program: &str, package: Option<&str>) -> Result<PathBuf, LoadError> {
    wakepath_programs::find(program).map_err(|found| match found {
        NotFound::Nowhere { program } => LoadError::MissingProgram {
            load: load.into(),
            program,
            remedy: match package {
                Some(package) => format!("install the package {package}"),
                None => "give the path of an executable file or install it".into(),
            },
        },
        NotFound::Distrusted { .. } => LoadError::DistrustedProgram {
            load: load.into(),
            found,
        },
    })
}

/// `argument` for a program that runs in another directory: the name of an existing file becomes
/// absolute, because users name a job file relative to their working directory.
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
}
