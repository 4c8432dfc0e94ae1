//! The only check of a file before it is read.
//!
//! It must be a regular file, owned by a user who can write in its directory anyway, and no larger
//! than its bytes on the disk can account for. So a pipe can't make a reader wait, a device can't
//! feed it without end, and a file of holes can't keep it busy.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{self, FileType, SeekFrom};
use std::fs::File;
use std::io;

/// Smaller files are accepted however sparse they are.
const SMALL: u64 = 64 << 20;
/// No file system packs a recording more than this.
const MOST_PACKED: u64 = 64;

/// The opened file, if reading it is safe; `directory` is its directory.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] with the reason, in words that follow the file's path.
pub(crate) fn regular(file: OwnedFd, directory: impl AsFd) -> io::Result<File> {
    let found = fs::fstat(&file)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(refused("no plain file is in its place; look who made it"));
    }
    let own = rustix::process::geteuid().as_raw();
    if found.st_uid != own && found.st_uid != 0 && found.st_uid != fs::fstat(directory)?.st_uid {
        return Err(refused(&format!(
            "belongs to user {}, and its directory to another; look who made it",
            found.st_uid
        )));
    }
    let bytes = u64::try_from(found.st_size).unwrap_or(0);
    let on_disk = u64::try_from(found.st_blocks)
        .unwrap_or(0)
        .saturating_mul(512);
    if bytes > SMALL && bytes / MOST_PACKED > on_disk && has_holes(&file, bytes) {
        return Err(refused(&format!(
            "{bytes} bytes long with {on_disk} on the disk; no recording has such holes"
        )));
    }
    Ok(File::from(file))
}

/// A file system that does not count blocks has no holes either.
fn has_holes(file: &OwnedFd, bytes: u64) -> bool {
    let hole = fs::seek(file, SeekFrom::Hole(0));
    let is_back = fs::seek(file, SeekFrom::Start(0)).is_ok();
    !is_back || hole.is_ok_and(|at| at < bytes)
}

/// Why something is not read.
pub(crate) fn refused(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
