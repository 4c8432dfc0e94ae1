//! A directory private to one user, below others in which other users can write.
//!
//! It is reached step by step without following a link, its owner and permissions are checked, and
//! it is locked while in use.

use rustix::fs::{self, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::ops::Deref;
use std::path::Path;

use crate::directory::OPEN;
use crate::{Directory, DirectoryError};

/// A directory that belongs to this process's user, closed to all others, and locked. A process
/// started in the meantime holds a copy of the descriptor until it runs its program, so closing
/// alone would not release the lock.
#[derive(Debug)]
pub struct Private(Directory);

impl Private {
    /// Opens `top/below…`, creating missing parts, and locks it.
    ///
    /// # Errors
    /// [`DirectoryError::NotADirectory`] for a link on the way, [`DirectoryError::Open`] if another
    /// user could exchange one of the directories, [`DirectoryError::NotPrivate`],
    /// [`DirectoryError::Busy`] while another process holds it; the system's.
    pub fn make(top: &Path, below: &[&str]) -> Result<Self, DirectoryError> {
        let mut path = top.to_path_buf();
        let failed = |path: &Path, error: Errno| match error {
            Errno::LOOP | Errno::NOTDIR => DirectoryError::NotADirectory { path: path.into() },
            error => DirectoryError::io("open the directory", path, error.into()),
        };
        let flags = OPEN | OFlags::NOFOLLOW;
        let opened = fs::open(top, flags, Mode::empty());
        let mut descriptor = opened.map_err(|error| failed(top, error))?;
        for (position, part) in below.iter().enumerate() {
            let above = fs::fstat(&descriptor).map_err(|error| failed(&path, error))?;
            // With the sticky bit, as in /tmp, only the owner can rename an entry.
            if above.st_mode & 0o002 != 0 && above.st_mode & 0o1000 == 0 {
                return Err(DirectoryError::Open { path });
            }
            path.push(part);
            let is_own = position + 1 == below.len();
            let rights = if is_own { 0o700 } else { 0o755 };
            match fs::mkdirat(&descriptor, *part, Mode::from_raw_mode(rights)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(&path, error)),
            }
            descriptor = fs::openat(&descriptor, *part, flags, Mode::empty())
                .map_err(|error| failed(&path, error))?;
        }
        let found = fs::fstat(&descriptor).map_err(|error| failed(&path, error))?;
        let wanted = rustix::process::geteuid().as_raw();
        if found.st_uid != wanted || found.st_mode & 0o077 != 0 {
            return Err(DirectoryError::NotPrivate {
                path,
                owner: found.st_uid,
                rights: found.st_mode & 0o7777,
                wanted,
            });
        }
        match fs::flock(&descriptor, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self(Directory::held(descriptor, &path))),
            Err(Errno::WOULDBLOCK) => Err(DirectoryError::Busy { path }),
            Err(error) => Err(failed(&path, error)),
        }
    }
}

impl Deref for Private {
    type Target = Directory;

    fn deref(&self) -> &Directory {
        &self.0
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        // The descriptor is closed next in any case.
        let _ = fs::flock(&self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn it_is_one_process_s_at_a_time_and_closed_to_others() {
        let top = tempfile::tempdir().unwrap();
        let make = || Private::make(top.path(), &["run", "own"]);
        let first = make().unwrap();
        assert!(matches!(make(), Err(DirectoryError::Busy { .. })));
        first.write_synced("kept", b"so").unwrap();
        drop(first);
        assert_eq!(make().unwrap().read("kept").unwrap().unwrap(), b"so");

        let own = top.path().join("run/own");
        assert_eq!(own.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        std::fs::set_permissions(&own, PermissionsExt::from_mode(0o750)).unwrap();
        let error = make().unwrap_err().to_string();
        assert!(error.contains("rights 750"), "{error}");
        std::fs::set_permissions(&own, PermissionsExt::from_mode(0o700)).unwrap();
        assert!(make().is_ok());

        let above = top.path().join("run");
        std::fs::set_permissions(&above, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(matches!(make(), Err(DirectoryError::Open { .. })));
        std::fs::set_permissions(&above, PermissionsExt::from_mode(0o1777)).unwrap();
        assert!(make().is_ok(), "as in /tmp");
    }

    #[test]
    fn a_link_on_the_way_is_refused() {
        let (top, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(elsewhere.path(), top.path().join("run")).unwrap();
        let error = Private::make(top.path(), &["run", "own"]).unwrap_err();
        assert!(
            matches!(error, DirectoryError::NotADirectory { .. }),
            "{error}"
        );
        assert!(!elsewhere.path().join("own").exists());
    }
}
