//! Reason why a supervisor or worker ended: one line on its standard error.
//!
//! Callers of this crate get a `LoadError`.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// Prints the reason on standard error, if it is still open: a panic there would change the way in
/// which the process ends.
pub(crate) fn complain(why: &dyn Display) {
    let _ = writeln!(io::stderr(), "{why}");
}

/// Why it ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Ended {
    #[error("{action}: {source}")]
    System {
        action: &'static str,
        source: io::Error,
    },
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{end} {address}: {source}")]
    Socket {
        end: &'static str,
        address: String,
        source: io::Error,
    },
    #[error("plan: {0}")]
    Plan(serde_json::Error),
    #[error("this command is internal to wakepath: {0}")]
    Assignment(serde_json::Error),
    #[error("the parent is gone")]
    ParentGone,
    #[error("/proc is not mounted")]
    NoProc,
    #[error("there is no built-in load {load}")]
    NoLoad { load: String },
    #[error("a built-in load needs a slot for its count")]
    NoSlot,
    #[error("{bytes} bytes are too many")]
    TooMany { bytes: u64 },
    #[error(transparent)]
    Bus(#[from] wakepath_ethercat::EthercatError),
    #[error("this program has no EtherCAT master")]
    NoMaster,
    #[error("{0}")]
    Ethercat(String),
    #[error("{0}")]
    Gpu(String),
    #[error("{limit} open files are allowed, which is too few")]
    FewFiles { limit: u32 },
    #[error("the no-op program ended with {status}")]
    Nothing { status: ExitStatus },
    #[error("a process of the group ended: {status}")]
    GroupMember { status: String },
    #[error("cannot run on CPUs {wanted}: {source}")]
    NotPinned { wanted: String, source: io::Error },
    #[error("requested CPUs {wanted}, but the kernel allows {allowed}")]
    OtherCpus { wanted: String, allowed: String },
    #[error("load {load}: cannot start: {source}")]
    NotStarted { load: String, source: io::Error },
    #[error("load {load}: {source}")]
    Load { load: String, source: io::Error },
    #[error("load {load}: its server did not start to listen")]
    NotListening { load: String },
}

impl Ended {
    /// The system refused `action`.
    pub(crate) fn system<E: Into<io::Error>>(action: &'static str) -> impl Fn(E) -> Self + Copy {
        move |source| Self::System {
            action,
            source: source.into(),
        }
    }

    /// The system refused something about `path`.
    pub(crate) fn file(path: &Path, source: io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            source,
        }
    }
}
