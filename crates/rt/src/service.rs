//! A recorder that a program starts for its own lifetime.
//!
//! It does from inside what `wakepath record --service` does from outside: finds `wakepath`, hands
//! it the memory and waits until it is ready. It records nothing itself, and the loops run even if
//! something fails.

use crate::recorded;
use crate::shared::{SharedMemory, SharedMemoryError};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use wakepath_programs::NotFound;

/// Most loops of a program at once in the field.
pub const MOST_LOOPS: u32 = 8;
/// Samples that a ring holds: 16 s at 1 kHz.
pub const SLOTS: u32 = 1 << 14;
/// Words in the ring for a loop's telemetry.
pub const SAID_WORDS: u32 = 1 << 15;
/// The recorder's line when it is ready.
pub const READY: &str = "ready";

/// The previous program's recorder can take 20 s to write the remaining data.
const PATIENCE: Duration = Duration::from_secs(30);
/// A line of why not.
const MOST_SAID: usize = 4096;

/// Settings for recording this program's loops: the options of `wakepath record --service`.
///
/// ```no_run
/// use wakepath_rt::{Loop, Service};
///
/// // First of all in `main`: before memory is locked, and before a thread gets its policy and its CPUs.
/// let service = Service {
///     directory: "/var/lib/my-loop".into(),
///     criterion: Some("latency 200us, miss-fraction 0.1 %".into()),
///     ..Service::default()
/// };
/// if let Err(why) = service.start() {
///     eprintln!("my-loop: not recorded: {why}");
/// }
/// let mut cycles = Loop::new("attitude", std::time::Duration::from_millis(4))?;
/// # Ok::<(), wakepath_rt::LoopError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Service {
    /// Directory of the recordings; the same for each start of the program.
    pub directory: PathBuf,
    /// The loops' criterion, such as `latency 200us, miss-fraction 0.1 %`; by default each due time
    /// is a deadline, and 0.5 % can be missed.
    pub criterion: Option<String>,
    /// Space for the samples of the last hours [default: `2GiB`].
    pub keep: Option<String>,
    /// Worst cycles of each loop to keep forever [default: 100].
    pub worst: Option<u16>,
    /// Port or address of the live figures.
    pub metrics: Option<String>,
    /// Keep the kernel's events around the worst cycles, if the recorder has the right to trace.
    /// Each event costs the loops some 100 ns.
    pub trace: bool,
    /// As root, write in a directory that another user owns or can write in.
    pub trust_directory: bool,
    /// The program `wakepath`: a path, or a name in the absolute directories of PATH and the
    /// system's own [default: `wakepath`]. As root a name counts only if no other user can have put
    /// it there.
    pub recorder: Option<PathBuf>,
    /// Further words of `wakepath record --service`.
    pub more: Vec<OsString>,
}

/// The recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// The recorder that was started now.
    Beside,
    /// One that started this program, such as `wakepath record` on the bench, or that of an earlier
    /// call: nothing was started.
    Already,
}

/// Why no recorder was started. The loops run without one.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The program isn't installed.
    #[error("{0}; install wakepath, or give its path")]
    NotFound(#[from] NotFound),
    /// No memory for the samples.
    #[error(transparent)]
    Memory(#[from] SharedMemoryError),
    /// It could not be started.
    #[error("{} can't be started: {source}", path.display())]
    NotStarted {
        /// The program.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// It refused with a reason.
    #[error("{}: {why}", path.display())]
    Refused {
        /// The program.
        path: PathBuf,
        /// In its words.
        why: String,
    },
    /// It ended without a message.
    #[error(
        "{} started no recorder ({how}): it does not know these options, is older than this library ({}), or is \
         not wakepath", path.display(), env!("CARGO_PKG_VERSION")
    )]
    Strange {
        /// The program.
        path: PathBuf,
        /// How it ended.
        how: String,
    },
    /// It sent no message in time, and was killed.
    #[error("{} said nothing for {} s, and was ended", path.display(), PATIENCE.as_secs())]
    Silent {
        /// The program.
        path: PathBuf,
    },
}

impl Service {
    /// Starts the recorder and waits until it is ready, usually some tens of milliseconds. Loops
    /// created after that are recorded. Not for use in a loop: it starts a process, and waits for a
    /// disk. The recorder gets the calling thread's CPUs, or all CPUs if that thread already has a
    /// real-time priority; it isn't a child of this process, runs at ordinary priority, and ends
    /// when this process does.
    ///
    /// # Errors
    /// The reason why no recorder was started; nothing is left behind then, and a second attempt is
    /// possible.
    pub fn start(&self) -> Result<Recording, ServiceError> {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock();
        if recorded::is_recorder_there() {
            return Ok(Recording::Already);
        }
        let name = self.recorder.as_deref().unwrap_or(Path::new("wakepath"));
        let path = wakepath_programs::find(name)?;
        let memory = SharedMemory::create_with(MOST_LOOPS, SLOTS, SAID_WORDS)?;
        memory.open_to_all();
        self.asked(&path, &memory)?;
        recorded::record_into(memory);
        Ok(Recording::Beside)
    }

    fn asked(&self, path: &Path, memory: &SharedMemory) -> Result<(), ServiceError> {
        let failed = |source| ServiceError::NotStarted {
            path: path.into(),
            source,
        };
        let shared = memory.file().as_fd().try_clone_to_owned().map_err(failed)?;
        let mut child = Command::new(path)
            .args(["internal", "service-beside"])
            .args(self.words())
            .stdin(Stdio::from(shared))
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let said = child.stdout.take().map(line_of).unwrap_or_default();
        let ended = ended(&mut child, said.is_none());
        let path = path.to_owned();
        match said.as_deref() {
            Some(READY) => Ok(()),
            Some("") => Err(ServiceError::Strange { path, how: ended }),
            Some(why) => Err(ServiceError::Refused {
                path,
                why: why.to_owned(),
            }),
            None => Err(ServiceError::Silent { path }),
        }
    }

    /// Later recorders understand them, too.
    fn words(&self) -> Vec<OsString> {
        fn word(words: &mut Vec<OsString>, option: &str, value: impl AsRef<OsStr>) {
            words.extend([option.into(), value.as_ref().to_owned()]);
        }
        let mut words = Vec::new();
        word(&mut words, "--process", number(std::process::id()));
        word(&mut words, "--directory", &self.directory);
        for (option, value) in [
            ("--criterion", &self.criterion),
            ("--keep", &self.keep),
            ("--metrics", &self.metrics),
            ("--worst", &self.worst.map(number)),
        ] {
            if let Some(value) = value {
                word(&mut words, option, value);
            }
        }
        words.extend(self.trace.then(|| "--trace".into()));
        words.extend(self.trust_directory.then(|| "--trust-directory".into()));
        words.extend(self.more.iter().cloned());
        words
    }
}

fn number(of: impl Display) -> String {
    of.to_string()
}

/// Its only line, empty if it ended without one; `None` if it took too long.
fn line_of(mut output: ChildStdout) -> Option<String> {
    let asked = Instant::now();
    let mut said = Vec::new();
    loop {
        let left = PATIENCE.checked_sub(asked.elapsed())?;
        let timeout = Timespec {
            tv_sec: left.as_secs() as _,
            tv_nsec: left.subsec_nanos() as _,
        };
        let mut descriptors = [PollFd::new(&output, PollFlags::IN)];
        if !matches!(poll(&mut descriptors, Some(&timeout)), Ok(ready) if ready > 0) {
            continue;
        }
        let mut bytes = [0; 512];
        let count = output.read(&mut bytes).unwrap_or(0);
        said.extend_from_slice(&bytes[..count]);
        if count == 0 || said.contains(&b'\n') || said.len() > MOST_SAID {
            let text = String::from_utf8_lossy(&said).into_owned();
            return Some(text.lines().next().unwrap_or_default().to_owned());
        }
    }
}

/// How it ended. A program that ignores its children's end, or waits for all of them itself, leaves that open.
fn ended(child: &mut Child, kills: bool) -> String {
    if kills {
        let _ = child.kill();
    }
    match child.wait() {
        Ok(status) => status.to_string(),
        Err(_) => "unknown exit status".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn service(recorder: &Path) -> Service {
        Service {
            directory: "field".into(),
            recorder: Some(recorder.into()),
            ..Service::default()
        }
    }

    /// A shell script in wakepath's place.
    fn played(name: &str, script: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("wakepath-{name}-{}", std::process::id()));
        std::fs::write(&place, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
        place
    }

    fn refused(name: &str, script: &str) -> String {
        let recorder = played(name, script);
        let error = service(&recorder).start().unwrap_err();
        std::fs::remove_file(recorder).unwrap();
        error.to_string()
    }

    #[test]
    fn a_program_that_is_not_there_is_said_with_what_to_do() {
        let error = service(Path::new("/nowhere/wakepath")).start().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the program /nowhere/wakepath is not installed; install wakepath, or give its path"
        );
        assert!(!recorded::is_recorder_there());
    }

    #[test]
    fn what_the_recorder_says_is_passed_on_and_silence_is_taken_for_another_program() {
        let said = refused("says", "echo 'field: no room'");
        assert!(said.ends_with(": field: no room"), "{said}");
        let said = refused("old", "exit 2");
        assert!(said.contains("exit status: 2"), "{said}");
        assert!(said.contains("older than this library"), "{said}");
        assert!(!recorded::is_recorder_there());
    }

    #[test]
    fn its_words_are_those_of_the_command_line() {
        let service = Service {
            directory: "field".into(),
            criterion: Some("latency 1ms".into()),
            worst: Some(7),
            trust_directory: true,
            more: vec!["--later".into()],
            ..Service::default()
        };
        let words = service.words();
        let words: Vec<_> = words.iter().skip(2).filter_map(|of| of.to_str()).collect();
        assert_eq!(
            words.join(" "),
            "--directory field --criterion latency 1ms --worst 7 --trust-directory --later"
        );
    }
}
