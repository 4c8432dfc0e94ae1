//! In the guest: makes a file system on the disk of the order, and mounts it.

use super::InsideError;
use crate::order::{DISK_PATH, OrderedDisk};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

const DEVICE: &str = "/dev/nullb0";
/// Parameters of the kernel's disk that were asked for, as it shows them.
const PARAMETERS: &str = "/sys/module/null_blk/parameters";
/// Places of the program that makes the file system.
const PROGRAMS: [&str; 2] = ["/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4"];
/// No journal or table is written in advance, which would take the disk minutes.
const OPTIONS: [&str; 5] = [
    "-q",
    "-b",
    "4096",
    "-E",
    "nodiscard,lazy_itable_init=1,lazy_journal_init=1",
];
const SIZE: &str = "256M";
/// And no kernel thread writes the tables later, next to the loop.
const MOUNTED_WITH: &std::ffi::CStr = c"noinit_itable";

/// Makes and mounts it.
pub(super) fn mount_new(disk: &OrderedDisk) -> Result<(), InsideError> {
    for (name, value) in [
        ("completion_nsec", disk.latency_ns.to_string()),
        ("memory_backed", "Y".into()),
    ] {
        // Older kernels lack these parameters, and ignore them.
        let found = fs::read_to_string(Path::new(PARAMETERS).join(name)).unwrap_or_default();
        if found.trim() != value {
            return Err(InsideError::NoDisk);
        }
    }
    make()?;
    fs::create_dir_all(DISK_PATH).map_err(|error| InsideError::at(DISK_PATH, error))?;
    let mounted = mount(DEVICE, DISK_PATH, "ext4", MountFlags::empty(), MOUNTED_WITH);
    mounted.map_err(|source: Errno| InsideError::Mount {
        place: DISK_PATH,
        source: source.into(),
    })
}

fn make() -> Result<(), InsideError> {
    let program = PROGRAMS.into_iter().find(|path| Path::new(path).exists());
    let program = program.unwrap_or(PROGRAMS[0]);
    let not_started = |source: io::Error| InsideError::NotStarted {
        command: program.to_owned(),
        source,
    };
    let output = Command::new(program)
        .args(OPTIONS)
        .args([DEVICE, SIZE])
        .stdin(Stdio::null())
        .output()
        .map_err(not_started)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Err(InsideError::Failed {
        command: program.to_owned(),
        how: output.status.to_string(),
        said: last.unwrap_or("it said nothing").to_owned(),
    })
}
