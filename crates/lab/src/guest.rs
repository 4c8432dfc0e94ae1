//! What host and guest say to each other: the order inside the initramfs, lines on the console, and
//! the run's files, byte by byte, at an I/O port of the emulator's debugging console. Pure but for
//! the writing of them.
//!
//! A port because it needs no driver and no interrupt: disks, 9p and virtio are modules in Debian's
//! kernels, and a serial line's interrupt is switched off by PREEMPT_RT as one that nobody serves.

use crate::cache::sha256_hex;
use crate::cpio::{Entry, Kind, pack, unpack};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::{Component, Path};

/// Where the guest finds its order.
pub const ORDER_PATH: &str = "/lab/order.json";
/// Where the guest finds wakepath.
pub const PROGRAM_PATH: &str = "/bin/wakepath";
/// The I/O port that the guest writes what it sends to (QEMU: isa-debugcon).
pub const SEND_PORT: u64 = 0xe9;
/// The I/O port at which a guest of several CPUs switches the emulator's fast timer on, by writing
/// [`SPEAKER_ON`]: that timer is a PC's loudspeaker (port 0x61, bits 0 and 1), which nobody hears.
pub const SPEAKER_PORT: u64 = 0x61;
/// What is written there.
pub const SPEAKER_ON: u8 = 0x03;
/// On the console when the guest's program runs.
pub const BEGUN: &str = "wakepath-lab: begun";
/// On the console when everything was sent.
pub const ENDED: &str = "wakepath-lab: ended";
/// On the console before a reason when the guest's program failed.
pub const FAILED: &str = "wakepath-lab: failed: ";
/// The first word of what is sent.
pub const MAGIC: &str = "wakepath-lab-files";

/// What the guest is to do. It holds nothing of the host: another directory must not make another
/// guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Commands that run first, one after the other.
    pub commands: Vec<OrderedCommand>,
    /// The scenario that is then measured, resolved, as TOML.
    pub scenario: Option<String>,
    /// Virtual nanoseconds that pass with each instruction.
    pub ns_per_instruction: u32,
    /// Seed of the emulator's random numbers.
    pub seed: u64,
    /// CPUs of the guest.
    pub cpus: u16,
    /// Bytes of each level's data cache where the guest's kernel knows none; 0 for none.
    #[serde(default)]
    pub caches_bytes: Option<[u64; 3]>,
    /// The longest turn of one of several CPUs, in virtual nanoseconds, where something bounds it.
    pub turn_ns: Option<u64>,
}

impl Order {
    /// As JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("plain data without maps is JSON")
    }

    /// From JSON.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }
}

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

/// What stands before each line of what is sent by way of the console, where a machine has no port
/// for it.
const LINE: &str = "wakepath-lab-data: ";
/// Bytes in such a line; two digits each.
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

/// Whether a line of the console is of what is sent.
pub(crate) fn is_data(line: &str) -> bool {
    line.starts_with(LINE)
}

/// What was sent by way of a console, and the console's other lines.
pub(crate) fn from_console(console: &str) -> (Vec<u8>, String) {
    let (mut sent, mut rest) = (Vec::new(), String::new());
    for line in console.lines() {
        match line.trim_end().split_once(LINE) {
            Some(("", digits)) => {
                let pairs = digits.as_bytes().chunks(2);
                let pairs = pairs.map(|pair| std::str::from_utf8(pair).unwrap_or(""));
                // What is no digit leaves a byte out, which the length then tells.
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
pub fn receive(sent: &[u8]) -> Result<Vec<(String, Vec<u8>)>, String> {
    if sent.is_empty() {
        return Err("nothing was sent".into());
    }
    let end = sent.iter().position(|&byte| byte == b'\n');
    let (head, archive) = sent.split_at(end.ok_or("its first line is cut short")? + 1);
    let head = String::from_utf8_lossy(head);
    let words: Vec<&str> = head.split_whitespace().collect();
    let [MAGIC, length, digest] = words[..] else {
        return Err(format!("its first line is {:?}", head.trim_end()));
    };
    if length != archive.len().to_string() {
        return Err(format!("{} of {length} bytes came", archive.len()));
    }
    if sha256_hex(archive) != digest {
        return Err("its SHA-256 does not match".into());
    }
    let files = unpack(archive)?;
    // What comes out of a guest is not to be trusted with paths.
    match files.iter().find(|(path, _)| !stays_below(path)) {
        Some((path, _)) => Err(format!("{path:?} leads out of the directory")),
        None => Ok(files),
    }
}

fn stays_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// A command for a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedCommand {
    /// Its words.
    pub words: Vec<String>,
    /// Whether the guest goes on where it ends with anything but 0.
    pub may_fail: bool,
}

/// What became of a command in a guest; what it wrote is in the file `command-N.out` or `.err`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEnd {
    /// Its words.
    pub command: Vec<String>,
    /// Its exit code; none where a signal ended it.
    pub exit_code: Option<i32>,
}

/// Name of the file that says what became of the commands, in their order.
pub const COMMANDS_NAME: &str = "commands.json";

/// Name of the file with what the command of that number (from 1) wrote on standard output.
pub fn output_name(number: usize) -> String {
    format!("command-{number}.out")
}

/// Name of the file with what it wrote on standard error.
pub fn complaint_name(number: usize) -> String {
    format!("command-{number}.err")
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
