//! Detects that a process has replaced its program by `exec`.
//!
//! Nothing of the old program is left then. Looks from outside, and never waits.

use wakepath_timeline::{ProcessStat, decoded};

/// Addresses of a process's stack and arguments (`proc_pid_stat(5)`, fields 28 and 48), which
/// change with each `exec` if addresses are randomised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Image([u64; 2]);

impl Image {
    /// The program that this process runs; `None` if it has ended, or this user can't read it.
    pub fn new(process: u32) -> Option<Self> {
        Self::read(&std::fs::read(format!("/proc/{process}/stat")).ok()?)
    }

    /// Whether the process runs another program by now, as far as this shows.
    pub fn was_replaced(self, process: u32) -> bool {
        Self::new(process).is_some_and(|now| now != self)
    }

    fn read(stat: &[u8]) -> Option<Self> {
        let stat = ProcessStat::parse(stat)?;
        let image = [stat.number(28)?, stat.number(48)?];
        (image != [0, 0]).then_some(Self(image))
    }
}

/// The process that a thread is of.
pub fn process_of(thread: u32) -> Option<u32> {
    let status = std::fs::read(format!("/proc/{thread}/status")).ok()?;
    let status = decoded(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("Tgid:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    #[test]
    fn a_program_that_another_takes_the_place_of_is_known_by_its_addresses() {
        let mut fields: Vec<String> = (4..=52).map(|number| number.to_string()).collect();
        let stat =
            |fields: &[String]| Image::read(format!("7 (a) b) S {}", fields.join(" ")).as_bytes());
        assert_eq!(stat(&fields), Some(Image([28, 48])));
        fields[28 - 4] = "0".into();
        fields[48 - 4] = "0".into();
        assert_eq!(stat(&fields), None, "hidden from this user");
    }

    #[test]
    fn an_exec_is_seen_from_outside_and_nothing_else_is_taken_for_one() {
        let mut child = Command::new("sh")
            .args(["-c", "echo; read line; exec cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut heard = [0];
        let mut output = child.stdout.take().unwrap();
        output.read_exact(&mut heard).unwrap();
        let image = Image::new(child.id()).unwrap();
        assert!(!image.was_replaced(child.id()));
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"go\nx").unwrap();
        input.flush().unwrap();
        output.read_exact(&mut heard).unwrap();
        assert!(image.was_replaced(child.id()));
        drop(input);
        child.wait().unwrap();
        assert!(!image.was_replaced(child.id()), "gone");
    }

    #[test]
    fn a_thread_s_process_is_found() {
        let thread = std::thread::spawn(|| {
            let thread = rustix::thread::gettid().as_raw_nonzero().get();
            process_of(thread.unsigned_abs())
        });
        assert_eq!(thread.join().unwrap(), Some(std::process::id()));
    }
}
