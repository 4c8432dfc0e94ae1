//! Reasons why a loop's work isn't available or can't continue.
//!
//! Each is one line that names its file.

use wakepath_archive::ArchiveError;
use wakepath_flight::VehicleError;

/// Faults of a loop's work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WorkError {
    #[error("{0}")]
    Vehicle(String),
    /// The controller's file can't be read.
    #[error("{0}")]
    File(String),
    #[error(
        "{file}: is another file than when the run began: its SHA-256 is {found}, and was {wanted}"
    )]
    Replaced {
        file: String,
        found: String,
        wanted: String,
    },
    #[error("{library}: {why}")]
    Library { library: String, why: LibraryFault },
    #[error("{file}: {why}")]
    Python { file: String, why: PythonFault },
    /// The user's own program runs the loop, not this process.
    #[error("the loop is a program's own; every task of the scenario needs the same program")]
    ItsOwnProgram,
    /// wakepath starts another program for such a loop.
    #[error("this program has no EtherCAT master; wakepath-ethercat has one")]
    NoMaster,
    /// The bus failed.
    #[error("{0}")]
    Bus(String),
    /// The log's file can't be made or written.
    #[error("the log in {directory}: {why}")]
    Log { directory: String, why: String },
    /// The controller's own message.
    #[error("{0}")]
    Complaint(String),
}

impl From<VehicleError> for WorkError {
    fn from(error: VehicleError) -> Self {
        Self::Vehicle(error.to_string())
    }
}

impl From<wakepath_ethercat::EthercatError> for WorkError {
    fn from(error: wakepath_ethercat::EthercatError) -> Self {
        Self::Bus(error.to_string())
    }
}

impl From<ArchiveError> for WorkError {
    fn from(error: ArchiveError) -> Self {
        Self::File(error.to_string())
    }
}

/// Faults of a shared library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LibraryFault {
    #[error("holds a NUL")]
    Nul,
    #[error("can't be loaded: {0}")]
    NotLoaded(String),
    #[error("is not a controller: it doesn't export {0}; see wakepath_controller.h")]
    NoController(String),
    #[error(
        "was built for version {found} of the controller interface, and this wakepath has version \
         {own}; build it with this wakepath's wakepath_controller.h"
    )]
    OtherInterface { found: u32, own: u32 },
    #[error("its wakepath_controller_init refused (it returned NULL)")]
    Refused,
}

/// Faults of Python.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PythonFault {
    /// No program with this name can be started.
    #[error("no Python: {0}; install Python 3, or name its interpreter with the key python")]
    NotToStart(String),
    #[error(
        "no Python: {interpreter}: {why}; install Python 3, or name its interpreter with the key python"
    )]
    NoInterpreter { interpreter: String, why: String },
    #[error(
        "{interpreter} (Python {version}) has no shared library; install it (Debian: \
         libpython{short}), or name another interpreter with the key python"
    )]
    NoLibrary {
        interpreter: String,
        version: String,
        short: String,
    },
    #[error(
        "the library of {interpreter} ({version}) has no {symbol}; Python 3.8 or newer is needed"
    )]
    TooOld {
        interpreter: String,
        version: String,
        symbol: String,
    },
    #[error("a loop has one Python, and {0} is loaded already; give all its tasks the same")]
    AnotherLoaded(String),
    #[error("Python can't run wakepath's side of the interface")]
    NoSeam,
}
