//! Whose directories are written in.

use rustix::fs::Stat;
use std::path::Path;

use crate::DirectoryError;

/// Whose directories are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Trust {
    /// For root: only directories of root's own, in which nobody else can write. A process of
    /// another user has no more rights than that user.
    #[default]
    Own,
    /// Any: the user vouches for everyone else who can write there.
    Any,
}

impl Trust {
    /// Refuses a directory that another user could change while root writes in it.
    pub(crate) fn check(self, path: &Path, found: &Stat) -> Result<(), DirectoryError> {
        let is_root = rustix::process::geteuid().is_root();
        if self == Self::Any || !is_root {
            return Ok(());
        }
        let rights = found.st_mode & 0o7777;
        let whose = if found.st_uid != 0 {
            format!("belongs to user {}", found.st_uid)
        } else if rights & 0o022 != 0 {
            format!("other users can write in it (rights {rights:o})")
        } else {
            return Ok(());
        };
        Err(DirectoryError::NotOurs {
            path: path.to_owned(),
            whose,
        })
    }
}
