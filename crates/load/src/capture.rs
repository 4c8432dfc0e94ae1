//! Captures programs' output in a memory file.
//!
//! It has no name that could be left behind, and never blocks a program that prints a lot.

use rustix::fs::{MemfdFlags, OFlags, fcntl_setfl, fstat, ftruncate, memfd_create};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

/// Beyond this the text is thrown away, to bound memory.
const LONGEST: u64 = 64 << 10;

pub(crate) struct Capture(File);

impl Capture {
    pub(crate) fn new() -> io::Result<Self> {
        let file = memfd_create("wakepath-load-output", MemfdFlags::CLOEXEC)?;
        // Appending, so that truncation does not leave a hole.
        fcntl_setfl(&file, OFlags::APPEND)?;
        Ok(Self(file.into()))
    }

    /// A descriptor for a child.
    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(self.0.try_clone()?.into())
    }

    /// All that is there, up to the longest kept.
    pub(crate) fn text(&self) -> String {
        let mut bytes = vec![0; LONGEST as usize];
        let length = fstat(&self.0).map_or(0, |data| u64::try_from(data.st_size).unwrap_or(0));
        let count = self
            .0
            .read_at(&mut bytes, length.saturating_sub(LONGEST))
            .unwrap_or(0);
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    /// The first line that is not blank.
    pub(crate) fn first_line(&self) -> Option<String> {
        self.text().lines().find_map(tidy)
    }

    /// The last line that is not blank.
    pub(crate) fn last_line(&self) -> Option<String> {
        self.text().lines().rev().find_map(tidy)
    }

    /// Throws the text away when it has grown too long.
    pub(crate) fn keep_short(&self) {
        if fstat(&self.0).is_ok_and(|data| data.st_size > LONGEST as i64) {
            let _ = ftruncate(&self.0, 0);
        }
    }
}

fn tidy(line: &str) -> Option<String> {
    let line = line.trim();
    (!line.is_empty()).then(|| line.chars().take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_first_and_last_lines_are_kept_and_a_flood_is_thrown_away() {
        let capture = Capture::new().unwrap();
        let mut writer = File::from(capture.descriptor().unwrap());
        writer.write_all(b"\n one\ntwo \n\n").unwrap();
        assert_eq!(capture.first_line().as_deref(), Some("one"));
        assert_eq!(capture.last_line().as_deref(), Some("two"));
        writer.write_all(&vec![b'x'; LONGEST as usize]).unwrap();
        capture.keep_short();
        writer.write_all(b"three\n").unwrap();
        assert_eq!(capture.text(), "three\n");
    }
}
