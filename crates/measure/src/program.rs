//! Which program the loop's process is: wakepath itself, or the host that can load a shared
//! library where wakepath is linked statically and can't.

use crate::own_executable;
use std::path::{Path, PathBuf};

const HOST: &str = "wakepath-controller-host";

/// The program that could load a controller is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{library}: this wakepath is linked statically and can't load a shared library by itself; put \
     {HOST} beside it or into a directory of PATH"
)]
pub struct NoProgram {
    library: String,
}

/// The program for a loop that loads `library`, if it loads one.
///
/// # Errors
/// When the host is needed and not found.
pub(super) fn loop_program(library: Option<&str>) -> Result<PathBuf, NoProgram> {
    match library {
        Some(library) if cfg!(target_feature = "crt-static") => {
            let own = std::fs::read_link(own_executable()).unwrap_or_default();
            let path = std::env::var_os("PATH").unwrap_or_default();
            let places = own.parent().map(Path::to_path_buf).into_iter();
            host_in(places.chain(std::env::split_paths(&path))).ok_or_else(|| NoProgram {
                library: library.into(),
            })
        }
        _ => Ok(own_executable()),
    }
}

fn host_in(mut places: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    places.find_map(|place| {
        let program = place.join(HOST);
        program.is_file().then_some(program)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_without_a_library_is_wakepath_itself() {
        assert_eq!(loop_program(None), Ok(own_executable()));
    }

    #[test]
    fn the_host_is_found_in_the_first_place_that_has_it() {
        let here = std::env::temp_dir().join(format!("wakepath-host-{}", std::process::id()));
        std::fs::create_dir_all(&here).unwrap();
        let places = || [PathBuf::from("/nowhere"), here.clone()].into_iter();
        assert_eq!(host_in(places()), None);
        std::fs::write(here.join(HOST), "").unwrap();
        assert_eq!(host_in(places()), Some(here.join(HOST)));
        std::fs::remove_dir_all(&here).unwrap();
    }

    #[test]
    fn a_missing_host_is_said_with_what_to_do() {
        let library = "./libmine.so".into();
        let line = NoProgram { library }.to_string();
        assert!(
            line.starts_with("./libmine.so: ") && line.contains(HOST),
            "{line}"
        );
    }
}
