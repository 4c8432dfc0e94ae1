//! The program with a master, which runs the loops and loads that exchange process data.

use std::path::PathBuf;
use wakepath_programs::NotFound;

/// Its name.
pub const PROGRAM: &str = "wakepath-ethercat";

/// There is no program with a master.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoProgram {
    /// It is not installed.
    #[error(
        "EtherCAT needs the program {PROGRAM}, which is not installed: unpack it from the release's \
         {PROGRAM} archive, or build it (cargo build --release --package wakepath-ethercat-program), \
         next to wakepath or on PATH"
    )]
    Missing,
    /// It is only in a place where other users could have put it.
    #[error(transparent)]
    Distrusted(NotFound),
}

/// Its file: next to the running program, else on PATH.
///
/// # Errors
/// One line: how to get it.
pub fn program() -> Result<PathBuf, NoProgram> {
    wakepath_programs::companion(PROGRAM).map_err(|found| match found {
        NotFound::Nowhere { .. } => NoProgram::Missing,
        NotFound::Distrusted { .. } => NoProgram::Distrusted(found),
    })
}
