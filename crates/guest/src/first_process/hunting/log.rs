//! The kernel's log: warnings and worse, as they come.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

/// The least severe level that is reported: a warning (syslog(3)).
const WARNING: u32 = 4;
/// The longest record (CONSOLE_EXT_LOG_MAX).
const RECORD: usize = 8192;

/// The log from now on.
pub(super) struct Log(File);

impl Log {
    pub fn open() -> io::Result<Self> {
        let mut options = File::options();
        let mut log = options
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/kmsg")?;
        log.seek(SeekFrom::End(0))?;
        Ok(Self(log))
    }

    /// Lines since the last time that are warnings or worse.
    pub fn warnings(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut record = [0; RECORD];
        loop {
            match self.0.read(&mut record) {
                Ok(length) if length > 0 => {
                    lines.extend(warning(&String::from_utf8_lossy(&record[..length])));
                }
                // Records were overwritten before they were read.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
                _ => return lines,
            }
        }
    }
}

/// The text of a record, if it is a warning (Documentation/ABI/testing/dev-kmsg).
fn warning(record: &str) -> Option<String> {
    let (head, text) = record.split_once(';')?;
    let level: u32 = head.split(',').next()?.parse().ok()?;
    // The facility follows the three bits of the level.
    let line = text.lines().next().unwrap_or_default();
    (level & 7 <= WARNING && level >> 3 == 0).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::warning;

    #[test]
    fn warnings_of_the_kernel_are_taken_and_nothing_else() {
        let record = "4,339,5140900,-;WARNING: possible circular locking\n SUBSYSTEM=x\n";
        assert_eq!(
            warning(record).unwrap(),
            "WARNING: possible circular locking"
        );
        assert_eq!(warning("6,339,5140900,-;NET: Registered\n"), None);
        assert_eq!(warning("12,339,5140900,-;a program writes\n"), None);
        assert_eq!(warning("nonsense"), None);
    }
}
