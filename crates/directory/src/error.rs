//! Why a directory is not written in.

use std::io;
use std::path::PathBuf;

/// Why a directory can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The system refused.
    #[error("{}: cannot {action}: {source}{}", path.display(), advice(source))]
    Io {
        /// The action that failed: "open the directory".
        action: &'static str,
        /// The directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another user owns it or can write in it, and could exchange files while a writer works.
    #[error(
        "{}: {whose}; root writes only where nobody else can: run it as that user, make it root's \
         (chown root, chmod go-w), or say --trust-directory", path.display()
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// Its owner or its rights, as a person reads them.
        whose: String,
    },
    /// It should be private to this user, but another user owns it or has access to it.
    #[error(
        "{}: belongs to user {owner} with rights {rights:o}; must belong to user {wanted} and be \
         closed to others (700)", path.display()
    )]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Its rights.
        rights: u32,
        /// The expected owner.
        wanted: u32,
    },
    /// Another user could replace a directory that is about to be created in it.
    #[error("{}: other users can write in it, so it can't be trusted", path.display())]
    Open {
        /// The directory above.
        path: PathBuf,
    },
    /// Another process holds one that is used by one at a time.
    #[error("{}: another process is using it; wait for it", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A link, or something else than a directory, is in its place.
    #[error("{}: a link or no directory; remove it and look who made it", path.display())]
    NotADirectory {
        /// The directory.
        path: PathBuf,
    },
    /// A link, a pipe or something else without lasting content.
    #[error("{}: no plain file: {why}", path.display())]
    NotPlain {
        /// Its path.
        path: PathBuf,
        /// Its actual kind.
        why: &'static str,
    },
    /// A path climbs, or leaves the directory that it must stay below.
    #[error("{}: leads out of {}", path.display(), top.display())]
    LeadsOut {
        /// The path.
        path: PathBuf,
        /// The directory that it must stay in.
        top: PathBuf,
    },
}

impl DirectoryError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }
}

fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => {
            "; choose another directory, or run as the owner of this one: root, after a run as root"
        }
        _ => "",
    }
}
