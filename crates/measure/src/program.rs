//! Which program the loop's process is: wakepath itself, or the host that can load a shared
//! library where wakepath is linked statically and can't.

use crate::own_executable;
use std::path::PathBuf;
use wakepath_programs::NotFound;

const HOST: &str = "wakepath-controller-host";

/// The program that could load a controller is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{library}: this wakepath is linked statically and can't load shared libraries; put \
     {HOST} next to it or into a directory of PATH ({found})"
)]
pub struct NoProgram {
    library: String,
    found: NotFound,
}

/// The program for a loop that loads `library`, if it loads one.
///
/// # Errors
/// When the host is needed and not found.
pub(super) fn loop_program(library: Option<&str>) -> Result<PathBuf, NoProgram> {
    match library {
        Some(library) if cfg!(target_feature = "crt-static") => {
            let own = std::fs::read_link(own_executable()).unwrap_or_default();
            // Who can change what lies beside this program can change this program.
            match own.parent().map(|place| place.join(HOST)) {
                Some(beside) if beside.is_file() => Ok(beside),
                _ => wakepath_programs::find(HOST).map_err(|found| NoProgram {
                    library: library.into(),
                    found,
                }),
            }
        }
        _ => Ok(own_executable()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_without_a_library_is_wakepath_itself() {
        assert_eq!(loop_program(None), Ok(own_executable()));
    }

    #[test]
    fn a_missing_host_is_said_with_what_to_do() {
        let (library, program) = ("./libmine.so".into(), HOST.into());
        let found = NotFound::Nowhere { program };
        let line = NoProgram { library, found }.to_string();
        assert!(
            line.starts_with("./libmine.so: ") && line.contains("next to it"),
            "{line}"
        );
    }
}
