//! A guest's mounts, and the files of its initramfs that they would hide.

use super::{InsideError, nodes};
use crate::order::{COVERED, UNDER};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Source, target and type of each mount. The run is stored in memory: an emulated disk would add
/// to every load.
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
/// File systems that a kernel can lack; their absence is recorded as a fact.
const OPTIONAL: [&str; 3] = ["tracefs", "debugfs", "cgroup2"];

/// Mounts all of it.
pub(super) fn mount_all() -> Result<(), InsideError> {
    for (source, place, kind) in MOUNTS {
        let mounted = match (mount(source, place, kind, MountFlags::empty(), None), kind) {
            (Err(Errno::NODEV), "devtmpfs") => by_hand(place),
            (mounted, _) => mounted.map_err(io::Error::from),
        };
        if !OPTIONAL.contains(&kind) {
            mounted.map_err(|source| InsideError::Mount { place, source })?;
        }
    }
    let under = Path::new("/").join(UNDER);
    COVERED.into_iter().try_for_each(|place| {
        let (under, own) = (under.join(place), Path::new("/").join(place));
        uncover(&under, &own).map_err(|error| InsideError::at(under.display(), error))
    })
}

/// A directory in memory with nodes that this program makes, for a kernel that makes none.
fn by_hand(dev: &str) -> io::Result<()> {
    mount("tmpfs", dev, "tmpfs", MountFlags::empty(), None)?;
    nodes::make(Path::new("/sys"), Path::new(dev))
}

/// Links every file below `under` from its own path below `root`, which a mount covered.
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
