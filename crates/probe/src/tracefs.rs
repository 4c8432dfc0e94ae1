//! The path of tracefs; mounts it for this thread alone if it is not mounted. Nothing remains afterwards: the
//! mount is in its own mount namespace and ends with the last thread in it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::UnshareFlags;

use crate::error::{ProbeError, Result};

/// Where every kernel with tracefs has a directory to mount it on.
const USUAL: &str = "/sys/kernel/tracing";
/// Where kernels before 4.1 had it, and debugfs still shows it.
const OLD: &str = "/sys/kernel/debug/tracing";
/// The mounts of this thread, which can be in its own mount namespace.
const MOUNTS: &str = "/proc/thread-self/mounts";

/// A mounted tracefs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracefs {
    pub(crate) root: PathBuf,
}

impl Tracefs {
    /// Finds tracefs, or mounts it privately. **The calling thread may be in another mount
    /// namespace afterwards**, as are the threads that it starts: call it in a thread or process
    /// that is there for tracing.
    ///
    /// # Errors
    /// [`ProbeError::NoTracefs`], [`ProbeError::NotMounted`], with what would help.
    pub fn find_or_mount() -> Result<Self> {
        match mounted(&fs::read_to_string(MOUNTS).unwrap_or_default()) {
            Some(root) => Ok(Self { root }),
            None => Self::mount_privately(),
        }
    }

    fn mount_privately() -> Result<Self> {
        let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
        if !known
            .lines()
            .any(|line| line.trim_end().ends_with("tracefs"))
        {
            return Err(ProbeError::NoTracefs);
        }
        let refused = |errno: rustix::io::Errno| ProbeError::NotMounted {
            source: io::Error::from(errno),
        };
        own_mount_namespace().map_err(refused)?;
        // Otherwise the mount would spread to the namespace that this one was copied from.
        mount_change(
            "/",
            MountPropagationFlags::REC | MountPropagationFlags::PRIVATE,
        )
        .map_err(refused)?;
        mount(
            "tracefs",
            USUAL,
            "tracefs",
            MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC,
            None,
        )
        .map_err(refused)?;
        Ok(Self { root: USUAL.into() })
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of instances.
    pub(crate) fn instances(&self) -> PathBuf {
        self.root.join("instances")
    }

    pub(crate) fn read(&self, name: &str) -> Result<String> {
        let path = self.root.join(name);
        read_text(&path).map_err(|error| ProbeError::refused(&path, error))
    }
}

/// Whether this user may trace, as far as it can be seen without mounting or changing anything.
///
/// # Errors
/// [`ProbeError`], with what would help.
pub fn may_trace() -> Result<()> {
    let Some(root) = mounted(&fs::read_to_string(MOUNTS).unwrap_or_default()) else {
        return Ok(());
    };
    Tracefs { root }.read("events/header_page").map(drop)
}

/// The text of a file in tracefs. Some of them (`events/header_page`) answer the first `read` alone
/// and end then, however little was asked for.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut bytes = vec![0; 64 * 1024];
    let mut length = 0;
    loop {
        match file.read(&mut bytes[length..])? {
            0 => break,
            more => length += more,
        }
        bytes.resize(length + 64 * 1024, 0);
    }
    bytes.truncate(length);
    String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
}

#[allow(unsafe_code)] // See SAFETY.
fn own_mount_namespace() -> rustix::io::Result<()> {
    // SAFETY: the flag gives this thread a copy of its mount table and parts it from the other
    // threads' working directory; descriptors and memory stay as they are.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }
}

/// The root of a tracefs in the text of a table of mounts, the usual place first.
fn mounted(mounts: &str) -> Option<PathBuf> {
    let mut found: Vec<&str> = mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            let (place, kind) = (words.nth(1)?, words.next()?);
            // A name with a space in it is written with its number; such a place is left alone.
            (kind == "tracefs" && !place.contains('\\')).then_some(place)
        })
        .collect();
    found.sort_by_cached_key(|&place| (place != USUAL, place != OLD));
    found.first().map(|place| Path::new(place).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_place_is_taken_first() {
        let mounts = "sysfs /sys sysfs rw 0 0\nnone /mnt/trace tracefs rw 0 0\n\
            tracefs /sys/kernel/tracing tracefs rw,nosuid 0 0\n";
        assert_eq!(mounted(mounts), Some(USUAL.into()));
        assert_eq!(
            mounted("none /mnt/trace tracefs rw 0 0\n"),
            Some("/mnt/trace".into())
        );
        assert_eq!(mounted("none /mnt/tracefs tmpfs rw 0 0\n"), None);
    }
}
