//! A directory somewhere below another, reached without leaving it.

use rustix::fs::{self, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::path::{Component, Path};

use crate::directory::OPEN;
use crate::{Directory, DirectoryError};

/// Opens `top/relative`. Links on the way are followed as if `top` were the root of all files, as
/// on the machine that the tree was copied from, so that they can't lead out of it.
///
/// # Errors
/// [`DirectoryError::LeadsOut`] for a path that climbs, [`DirectoryError::NotADirectory`] for a
/// link on a kernel before 5.6, which can't keep links inside; the system's.
pub fn beneath(top: &Path, relative: &Path) -> Result<Directory, DirectoryError> {
    let path = top.join(relative);
    let failed = |error: Errno| match error {
        Errno::LOOP | Errno::NOTDIR => DirectoryError::NotADirectory { path: path.clone() },
        error => DirectoryError::io("open the directory", &path, error.into()),
    };
    let is_below = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_below {
        return Err(DirectoryError::LeadsOut {
            path: relative.to_owned(),
            top: top.to_owned(),
        });
    }
    let mut directory = fs::open(top, OPEN, Mode::empty()).map_err(failed)?;
    let whole = if relative.as_os_str().is_empty() {
        Path::new(".")
    } else {
        relative
    };
    let inside = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    match fs::openat2(&directory, whole, OPEN, Mode::empty(), inside) {
        Ok(found) => return Ok(Directory::held(found, &path)),
        // Older kernels and some containers' filters know no `openat2`.
        Err(Errno::NOSYS | Errno::PERM) => {}
        Err(error) => return Err(failed(error)),
    }
    for part in relative.components() {
        directory = fs::openat(
            &directory,
            part.as_os_str(),
            OPEN | OFlags::NOFOLLOW,
            Mode::empty(),
        )
        .map_err(failed)?;
    }
    Ok(Directory::held(directory, &path))
}
