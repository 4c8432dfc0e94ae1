//! What a guest mounts where, and the files of its initramfs that lie at those places.

use super::InsideError;
use crate::initramfs::UNDER;
use rustix::mount::{MountFlags, mount};
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// What is mounted where. The run lies in memory: a disk's emulation would be part of every load.
const MOUNTS: [(&str, &str, &str); 8] = [
    ("proc", "/proc", "proc"),
    ("sysfs", "/sys", "sysfs"),
    ("devtmpfs", "/dev", "devtmpfs"),
    ("tmpfs", "/run", "tmpfs"),
    ("tmpfs", "/tmp", "tmpfs"),
    ("tracefs", "/sys/kernel/tracing", "tracefs"),
    ("debugfs", "/sys/kernel/debug", "debugfs"),
    ("cgroup2", "/sys/fs/cgroup", "cgroup2"),
];
/// What a kernel may lack: that is then a fact like any other.
const OPTIONAL: [&str; 3] = ["tracefs", "debugfs", "cgroup2"];

/// Mounts all of it.
pub(super) fn mount_all() -> Result<(), InsideError> {
    for (source, place, kind) in MOUNTS {
        let mounted = mount(source, place, kind, MountFlags::empty(), None);
        if !OPTIONAL.contains(&kind) {
            mounted.map_err(|error| InsideError::Mount {
                place,
                source: error.into(),
            })?;
        }
    }
    let under = Path::new("/").join(UNDER);
    uncover(&under, Path::new("/")).map_err(|error| InsideError::at(under.display(), error))
}

/// Links every file below `under` from its own place below `root`, where a mount covered it.
fn uncover(under: &Path, root: &Path) -> io::Result<()> {
    let entries = match std::fs::read_dir(under) {
        Ok(entries) => entries,
        // Nothing was covered.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let own = root.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            std::fs::create_dir_all(&own)?;
            uncover(&entry.path(), &own)?;
        } else {
            symlink(entry.path(), own)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_mount_covered_is_linked_from_its_own_place() {
        let place = tempfile::tempdir().unwrap();
        let (under, root) = (place.path().join("under"), place.path().join("root"));
        std::fs::create_dir_all(under.join("tmp/a")).unwrap();
        std::fs::create_dir_all(root.join("tmp")).unwrap();
        std::fs::write(under.join("tmp/a/program"), "x").unwrap();
        uncover(&under, &root).unwrap();
        assert_eq!(std::fs::read(root.join("tmp/a/program")).unwrap(), b"x");
        uncover(&place.path().join("none"), &root).unwrap();
    }
}
