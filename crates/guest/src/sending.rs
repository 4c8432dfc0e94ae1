//! Reports a guest's progress and sends its files.
//!
//! Progress is lines on the console; the files' bytes go to an I/O port of the emulator's debugging
//! console. Pure except for the writing.
//!
//! A port needs no driver and no interrupt: disks, 9p and virtio are modules in Debian's kernels,
//! and PREEMPT_RT switches off a serial line's interrupt as one that nobody serves.

use crate::cpio::{Entry, Kind, UnpackError, pack, unpack};
use crate::digest::sha256_hex;
use std::io::{self, Write};
use std::path::{Component, Path};

/// The I/O port that the guest sends to (QEMU: isa-debugcon).
pub const SEND_PORT: u64 = 0xe9;
/// The I/O port at which a guest of several CPUs switches the emulator's fast timer on, by writing
/// [`SPEAKER_ON`]: that timer is a PC's loudspeaker (port 0x61, bits 0 and 1), which nobody hears.
pub const SPEAKER_PORT: u64 = 0x61;
/// The value to write there.
pub const SPEAKER_ON: u8 = 0x03;
/// On the console when the guest's program runs.
pub const BEGUN: &str = "wakepath-lab: begun";
/// On the console when everything was sent.
pub const ENDED: &str = "wakepath-lab: ended";
/// On the console before a reason when the guest's program failed.
pub const FAILED: &str = "wakepath-lab: failed: ";
/// First word of the sent data.
pub const MAGIC: &str = "wakepath-lab-files";

/// Sends files: a line with length and SHA-256, then an archive.
///
/// # Errors
/// When the line can't be written to.
pub fn send(mut line: impl Write, files: Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let entry = |(path, bytes)| Entry {
        path,
        kind: Kind::File {
            executable: false,
            bytes,
        },
    };
    let archive = pack(&files.into_iter().map(entry).collect::<Vec<_>>());
    let digest = sha256_hex(&archive);
    line.write_all(format!("{MAGIC} {} {digest}\n", archive.len()).as_bytes())?;
    line.write_all(&archive)?;
    line.flush()
}

/// Prefix of each data line on the console, for a machine without the port.
const LINE: &str = "wakepath-lab-data: ";
/// Bytes in such a line, two digits each.
const LINE_BYTES: usize = 480;

/// The same for a machine without the port: lines on its console, in hexadecimal digits.
///
/// # Errors
/// When the console can't be written to.
pub fn send_by_console(mut console: impl Write, files: Vec<(String, Vec<u8>)>) -> io::Result<()> {
    let mut sent = Vec::new();
    send(&mut sent, files)?;
    for bytes in sent.chunks(LINE_BYTES) {
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(console, "{LINE}{digits}")?;
    }
    console.flush()
}

/// Whether a line of the console is data.
pub fn is_data(line: &str) -> bool {
    line.starts_with(LINE)
}

/// The data sent by way of a console, and the console's other lines.
pub fn from_console(console: &str) -> (Vec<u8>, String) {
    let (mut sent, mut rest) = (Vec::new(), String::new());
    for line in console.lines() {
        match line.trim_end().split_once(LINE) {
            Some(("", digits)) => {
                let pairs = digits.as_bytes().chunks(2);
                let pairs = pairs.map(|pair| std::str::from_utf8(pair).unwrap_or(""));
                // A pair that isn't hexadecimal loses a byte, which the check of the length finds.
                sent.extend(pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()));
            }
            _ => {
                rest += line;
                rest.push('\n');
            }
        }
    }
    (sent, rest)
}

/// The files that were sent.
///
/// # Errors
/// Why they are not whole, or that nothing was sent.
pub fn receive(sent: &[u8]) -> Result<Vec<(String, Vec<u8>)>, ReceiveError> {
    if sent.is_empty() {
        return Err(ReceiveError::Nothing);
    }
    let end = sent.iter().position(|&byte| byte == b'\n');
    let (head, archive) = sent.split_at(end.ok_or(ReceiveError::FirstLineCut)? + 1);
    let head = String::from_utf8_lossy(head);
    let words: Vec<&str> = head.split_whitespace().collect();
    let [MAGIC, length, digest] = words[..] else {
        let line = head.trim_end().to_owned();
        return Err(ReceiveError::FirstLine { line });
    };
    if length != archive.len().to_string() {
        return Err(ReceiveError::Length {
            came: archive.len(),
            promised: length.to_owned(),
        });
    }
    if sha256_hex(archive) != digest {
        return Err(ReceiveError::Digest);
    }
    let files = unpack(archive)?;
    // Paths from a guest aren't trusted.
    match files.iter().find(|(path, _)| !stays_below(path)) {
        Some((path, _)) => Err(ReceiveError::Climbs { path: path.clone() }),
        None => Ok(files),
    }
}

/// Reasons why the received data is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiveError {
    /// There is nothing.
    #[error("nothing was sent")]
    Nothing,
    /// It ends before its first line does.
    #[error("its first line is cut short")]
    FirstLineCut,
    /// It begins with something else.
    #[error("its first line is {line:?}")]
    FirstLine {
        /// Start of the line.
        line: String,
    },
    /// Its length differs from the one in its first line.
    #[error("{came} of {promised} bytes came")]
    Length {
        /// Bytes received.
        came: usize,
        /// Bytes that should be.
        promised: String,
    },
    /// It was altered.
    #[error("its SHA-256 does not match")]
    Digest,
    /// The files can't be unpacked.
    #[error(transparent)]
    Archive(#[from] UnpackError),
    /// A file would be written somewhere else.
    #[error("{path:?} leads out of the directory")]
    Climbs {
        /// Its path.
        path: String,
    },
}

fn stays_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(name: &str) -> Vec<u8> {
        let mut line = Vec::new();
        send(&mut line, vec![(name.into(), vec![0, 10, 13, 255])]).unwrap();
        line
    }

    #[test]
    fn what_is_sent_arrives() {
        for name in ["samples.log", "tmp/run/samples.log"] {
            let files = receive(&sent(name)).unwrap();
            assert_eq!(files, [(name.to_owned(), vec![0, 10, 13, 255])]);
        }
    }

    #[test]
    fn what_is_sent_by_way_of_the_console_arrives_beside_other_lines() {
        let files = vec![("a".to_owned(), vec![7; 2_000])];
        let mut lines = b"booting\r\n".to_vec();
        send_by_console(&mut lines, files.clone()).unwrap();
        lines.extend(b"[ 1.0] reboot\n");
        let console = String::from_utf8(lines).unwrap().replace('\n', "\r\n");
        let (sent, rest) = from_console(&console);
        assert_eq!(receive(&sent).unwrap(), files);
        assert!(rest.contains("booting") && rest.contains("reboot") && !rest.contains(LINE));
        let broken = console.replacen("0707", "0[ 1.0] oops\n707", 1);
        assert!(receive(&from_console(&broken).0).is_err());
    }

    #[test]
    fn what_is_cut_short_altered_or_climbs_is_refused() {
        let whole = sent("a");
        for length in 0..whole.len() {
            assert!(receive(&whole[..length]).is_err(), "{length} bytes");
        }
        for at in [0, 30, whole.len() - 1] {
            let mut altered = whole.clone();
            altered[at] ^= 1;
            assert!(receive(&altered).is_err(), "byte {at}");
        }
        for name in ["../a", "/etc/passwd", "..", "a/../../b", ""] {
            assert!(receive(&sent(name)).is_err(), "{name}");
        }
    }
}
