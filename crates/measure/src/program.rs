//! Which program the loop's process is: wakepath itself; the one with an EtherCAT master; or the host that can load a
//! shared library where wakepath is linked statically and can't.

use crate::own_executable;
use std::path::PathBuf;
use wakepath_measured_loop::LoopSpec;
use wakepath_programs::NotFound;

const HOST: &str = "wakepath-controller-host";

/// The program that could run a loop is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    /// The one that could load a controller.
    #[error(
        "{library}: this wakepath is linked statically and can't load shared libraries; put \
         {HOST} next to it or into a directory of PATH ({found})"
    )]
    Host {
        /// The controller's file.
        library: String,
        /// The places that were searched.
        found: NotFound,
    },
    /// The one with an EtherCAT master.
    #[error(transparent)]
    Ethercat(#[from] wakepath_ethercat::NoProgram),
}

/// The program for a loop.
///
/// # Errors
/// When it needs another one than wakepath, which is not found.
pub(super) fn loop_program(spec: &LoopSpec) -> Result<PathBuf, NoProgram> {
    match spec.library() {
        // The host has a master too.
        Some(library) if cfg!(target_feature = "crt-static") => wakepath_programs::companion(HOST)
            .map_err(|found| NoProgram::Host {
                library: library.into(),
                found,
            }),
        _ if spec.needs_master() => Ok(wakepath_ethercat::program()?),
        _ => Ok(own_executable()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_needs_nothing_is_wakepath_itself() {
        let spec = LoopSpec {
            versions: wakepath_measured_loop::Versions::own(),
            threads: Vec::new(),
            lead_ns: 0,
            guard_us: 0,
        };
        assert_eq!(loop_program(&spec), Ok(own_executable()));
    }

    #[test]
    fn a_missing_host_is_said_with_what_to_do() {
        let (library, program) = ("./libmine.so".into(), HOST.into());
        let found = NotFound::Nowhere { program };
        let line = NoProgram::Host { library, found }.to_string();
        assert!(
            line.starts_with("./libmine.so: ") && line.contains("next to it"),
            "{line}"
        );
    }
}
