//! The output of a user's program: through a pipe and a thread into a file, up to a bound, so that a stalling
//! disk does not stall a loop that prints. It changes no byte of it.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
use rustix::time::Timespec;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use wakepath_directory::Directory;
use wakepath_timeline::one_line;

/// Name of the file in the run directory with what the program printed.
pub const OUTPUT: &str = "program.log";
/// The most of what it prints in a run that is kept.
const MOST_BYTES: u64 = 16 << 20;
/// Size of the pipe between the program and the thread: the program waits when it is full.
const PIPE_BYTES: usize = 1 << 20;
/// Between two looks whether the program has ended.
const LOOK_NS: i64 = 50_000_000;

/// The thread between the program and its file.
pub(super) struct Relay {
    file: File,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// The file of a run, after a line that announces the output, and how much more it takes.
pub(super) fn of_run(directory: &Directory, mark: &str) -> io::Result<(File, u64)> {
    if !directory.holds(OUTPUT) {
        directory.create_new(OUTPUT, 0o644)?;
    }
    let mut file = directory.open_to_append(OUTPUT)?;
    writeln!(file, "--- {} ---", one_line(mark))?;
    let length = file.metadata()?.len();
    Ok((file, MOST_BYTES.saturating_sub(length)))
}

/// Keeps what a program printed before the run had a directory.
pub(crate) fn keep_printed(directory: &Directory, printed: &[u8]) -> io::Result<()> {
    let (mut file, _) = of_run(directory, "listing its loops")?;
    file.write_all(printed)?;
    match printed.last() {
        None | Some(b'\n') => Ok(()),
        _ => file.write_all(b"\n"),
    }
}

impl Relay {
    /// Writes the output that comes at the returned end to the file, up to `room` bytes; the rest is counted.
    pub(super) fn start(file: File, room: u64) -> io::Result<(Self, OwnedFd)> {
        let (from, into) = pipe_with(PipeFlags::CLOEXEC)?;
        // A smaller one works as well, if the user can't have a larger one.
        let _ = fcntl_setpipe_size(&from, PIPE_BYTES);
        let ended = Arc::new(AtomicBool::new(false));
        let (to, until) = (file.try_clone()?, Arc::clone(&ended));
        let thread = std::thread::Builder::new()
            .name("program-log".into())
            .spawn(move || relay(from, to, room, &until))?;
        let relay = Self {
            file,
            ended,
            thread: Some(thread),
        };
        Ok((relay, into))
    }

    /// The program has ended: its output is in the file when this returns. A process that it has started can
    /// keep the pipe open forever, and is not waited for.
    pub(super) fn end(&mut self) {
        self.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// The last line that it printed.
    pub(super) fn last_line(&self) -> Option<String> {
        let length = self.file.metadata().ok()?.len();
        let mut end = vec![0; length.min(4096) as usize];
        let from = length - end.len() as u64;
        self.file.read_exact_at(&mut end, from).ok()?;
        let text = String::from_utf8_lossy(&end).into_owned();
        let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
        let is_mark = line.starts_with("--- ") && line.ends_with(" ---");
        (!is_mark).then(|| one_line(line.trim()))
    }

    /// All its output, up to `most` bytes.
    pub(super) fn printed(&self, most: u64) -> Vec<u8> {
        let length = self.file.metadata().map_or(0, |of| of.len()).min(most);
        let mut printed = vec![0; length as usize];
        match self.file.read_exact_at(&mut printed, 0) {
            Ok(()) => printed,
            Err(_) => Vec::new(),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.end();
    }
}

fn relay(from: OwnedFd, mut to: File, mut room: u64, ended: &AtomicBool) {
    let mut from = File::from(from);
    let (mut taken, mut beyond, mut at_line_end) = (vec![0; 64 * 1024], 0_u64, true);
    loop {
        // Read before the look, which then sees all output before the end.
        let is_last = ended.load(Ordering::Acquire);
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: if is_last { 0 } else { LOOK_NS as _ },
        };
        let mut descriptors = [PollFd::new(&from, PollFlags::IN)];
        let is_ready = matches!(poll(&mut descriptors, Some(&timeout)), Ok(ready) if ready > 0);
        if !is_ready {
            if is_last {
                break;
            }
            continue;
        }
        let count = match from.read(&mut taken) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let kept = (count as u64).min(room) as usize;
        room -= kept as u64;
        beyond += (count - kept) as u64;
        if kept > 0 {
            at_line_end = taken[kept - 1] == b'\n';
            if to.write_all(&taken[..kept]).is_err() {
                // A full disk: the program is not to wait for it.
                (room, beyond) = (0, beyond + kept as u64);
            }
        }
    }
    if !at_line_end {
        let _ = to.write_all(b"\n");
    }
    if beyond > 0 {
        let _ = writeln!(to, "--- {beyond} more bytes were printed and not kept ---");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, memfd_create};

    fn memory() -> File {
        File::from(memfd_create("printed", MemfdFlags::CLOEXEC).unwrap())
    }

    #[test]
    fn what_is_printed_is_kept_up_to_its_bound_and_the_rest_counted() {
        let (mut relay, into) = Relay::start(memory(), 10).unwrap();
        let mut into = File::from(into);
        into.write_all(b"first\nsecond\nthird\n").unwrap();
        drop(into);
        relay.end();
        let text = String::from_utf8(relay.printed(1 << 10)).unwrap();
        assert_eq!(
            text,
            "first\nseco\n--- 9 more bytes were printed and not kept ---\n"
        );
    }

    #[test]
    fn a_pipe_that_somebody_else_holds_is_not_waited_for() {
        let (mut relay, into) = Relay::start(memory(), 100).unwrap();
        let mut into = File::from(into);
        into.write_all(b"the last words").unwrap();
        relay.end();
        assert_eq!(relay.last_line().as_deref(), Some("the last words"));
        drop(into);
    }
}
