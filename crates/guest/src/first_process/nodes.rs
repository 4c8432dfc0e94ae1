//! Creates device nodes for a kernel without devtmpfs, from the devices that it lists.

use rustix::fs::{CWD, Dev, FileType, Mode, makedev, mknodat};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Nodes that programs expect, even if sysfs lacks them: the kernel's list of devices
/// (admin-guide/devices.txt).
const EXPECTED: [(&str, u32, u32); 9] = [
    ("null", 1, 3),
    ("port", 1, 4),
    ("zero", 1, 5),
    ("full", 1, 7),
    ("random", 1, 8),
    ("urandom", 1, 9),
    ("kmsg", 1, 11),
    ("tty", 5, 0),
    ("console", 5, 1),
];

/// A device that needs a node.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Device {
    name: PathBuf,
    is_block: bool,
    numbers: (u32, u32),
}

/// Creates nodes in `dev` for the devices in `sys` (sysfs).
pub(super) fn make(sys: &Path, dev: &Path) -> io::Result<()> {
    let expected = EXPECTED.map(|(name, major, minor)| Device {
        name: name.into(),
        is_block: false,
        numbers: (major, minor),
    });
    let kinds = [("char", false), ("block", true)];
    let told = kinds.map(|(kind, is_block)| devices(&sys.join("dev").join(kind), is_block));
    for device in expected.into_iter().chain(told.into_iter().flatten()) {
        let path = dev.join(&device.name);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above)?;
        }
        let kind = if device.is_block {
            FileType::BlockDevice
        } else {
            FileType::CharacterDevice
        };
        let (major, minor) = device.numbers;
        let number: Dev = makedev(major, minor);
        match mknodat(CWD, &path, kind, Mode::from_raw_mode(0o600), number) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The devices of a kind: a directory for each, `MAJOR:MINOR`, whose uevent has the name.
fn devices(place: &Path, is_block: bool) -> Vec<Device> {
    let entries = fs::read_dir(place).into_iter().flatten().flatten();
    let device = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let (major, minor) = name.to_str()?.split_once(':')?;
        let numbers = (major.parse().ok()?, minor.parse().ok()?);
        let event = fs::read_to_string(entry.path().join("uevent")).ok()?;
        let name = event
            .lines()
            .find_map(|line| line.strip_prefix("DEVNAME="))?;
        let is_below = !name.starts_with('/') && !name.split('/').any(|part| part == "..");
        is_below.then(|| Device {
            name: name.into(),
            is_block,
            numbers,
        })
    };
    let mut devices: Vec<Device> = entries.filter_map(device).collect();
    // The same guest makes them in the same order.
    devices.sort_by_cached_key(|device| device.numbers);
    devices
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{major, minor};
    use std::os::unix::fs::{FileTypeExt, MetadataExt};

    #[test]
    fn nodes_are_made_of_what_sysfs_says_and_programs_expect() {
        let place = tempfile::tempdir().unwrap();
        let (sys, dev) = (place.path().join("sys"), place.path().join("dev"));
        for (kind, number, event) in [
            ("char", "10:63", "MAJOR=10\nDEVNAME=cpu_dma_latency\n"),
            ("char", "13:64", "DEVNAME=input/event0\n"),
            ("char", "13:65", "DEVNAME=../../escaped\n"),
            ("block", "7:0", "DEVNAME=loop0\n"),
            ("char", "none", ""),
        ] {
            let at = sys.join("dev").join(kind).join(number);
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("uevent"), event).unwrap();
        }
        fs::create_dir(&dev).unwrap();
        let found = devices(&sys.join("dev/char"), false);
        let names: Vec<&Path> = found.iter().map(|one| one.name.as_path()).collect();
        assert_eq!(names, ["cpu_dma_latency", "input/event0"].map(Path::new));
        match make(&sys, &dev) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return,
            made => made.unwrap(),
        }
        let numbers = |name: &str| {
            let found = fs::metadata(dev.join(name)).unwrap();
            let number = found.rdev();
            let is_block = found.file_type().is_block_device();
            (is_block, major(number), minor(number))
        };
        assert_eq!(numbers("null"), (false, 1, 3));
        assert_eq!(numbers("input/event0"), (false, 13, 64));
        assert_eq!(numbers("loop0"), (true, 7, 0));
        // Once more changes nothing.
        make(&sys, &dev).unwrap();
    }
}
