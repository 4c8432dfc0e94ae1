//! A child process that is spoken to in lines of JSON. It knows nothing of what they mean.

use super::conversation::{Conversation, Heard, Unanswered};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::time::Duration;
use wakepath_directory::Directory;

/// A running child whose lines are `T`.
pub(crate) struct Child<T> {
    child: std::process::Child,
    input: Option<ChildStdin>,
    heard: Conversation<T>,
}

/// Why a child did not answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// It ended: its exit status.
    #[error("{0}")]
    Died(String),
    /// It was silent for this many seconds, and was killed.
    #[error("sent no message for {0} s")]
    Silent(u64),
}

impl<T: DeserializeOwned + Send + 'static> Child<T> {
    /// Starts a program's hidden verb `PROGRAM internal VERB`, in its own process group so that Ctrl-C on the
    /// terminal reaches the measuring process alone. `shared` stays open in the child, which receives its
    /// number. A child that is given a directory works in that very one, and receives its path for messages:
    /// it does not write in another that has taken the name since.
    ///
    /// # Errors
    /// When the process can't be started.
    pub(crate) fn start(
        program: &Path,
        verb: &str,
        shared: impl AsFd,
        directory: Option<&Directory>,
    ) -> std::io::Result<Self> {
        let shared = shared.as_fd();
        let mut command = Command::new(program);
        command
            .args(["internal", verb])
            .arg(std::process::id().to_string())
            .arg(shared.as_raw_fd().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        if let Some(directory) = directory {
            command.arg(directory.path());
            command.current_dir(directory.lasting_path());
        }
        // The descriptor is inherited by this child only: nothing else is started until then.
        let flags = fcntl_getfd(shared)?;
        fcntl_setfd(shared, flags - FdFlags::CLOEXEC)?;
        let child = command.spawn();
        fcntl_setfd(shared, flags)?;
        let mut child = child?;

        let output = child.stdout.take().expect("the output is piped");
        let (lines, heard) = Conversation::new();
        std::thread::Builder::new()
            .name(format!("{verb} output"))
            .spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    // A line that doesn't parse is as good as the child's end, and is handled when the end is
                    // noticed. The reader might be gone, which is no error.
                    let sent = serde_json::from_slice(line.as_bytes())
                        .is_ok_and(|said| lines.send(said).is_ok());
                    if !sent {
                        return;
                    }
                }
            })?;
        let input = child.stdin.take();
        Ok(Self {
            child,
            input,
            heard,
        })
    }

    /// Its number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Says one line to the child.
    ///
    /// # Errors
    /// When the child is gone.
    pub(crate) fn say(&mut self, message: &impl Serialize) -> std::io::Result<()> {
        let input = self.input.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        input.write_all(&line)?;
        input.flush()
    }

    /// Its next line.
    pub(crate) fn hear(&self, patience: Duration) -> Heard<T> {
        self.heard.next(patience)
    }

    /// Its first line that `answers`, which sees those before too. A child that is silent for too
    /// long is killed.
    ///
    /// # Errors
    /// When it ends or stays silent.
    pub(crate) fn answer<A>(
        &mut self,
        patience: Duration,
        answers: impl FnMut(T) -> Option<A>,
    ) -> Result<A, NoAnswer> {
        let answer = self.heard.answer(patience, answers);
        answer.map_err(|why| match why {
            Unanswered::Gone => NoAnswer::Died(self.end()),
            Unanswered::Silent => {
                self.kill();
                NoAnswer::Silent(patience.as_secs())
            }
        })
    }

    /// Closes its input, waits for its end and returns how it ended.
    pub(crate) fn end(&mut self) -> String {
        self.input = None;
        let status = self.child.wait();
        status.map_or_else(|error| error.to_string(), |status| status.to_string())
    }

    /// Kills it and waits for its end.
    pub(crate) fn kill(&mut self) {
        // A child that has already ended needs no killing.
        let _ = self.child.kill();
        self.end();
    }
}

/// This program, also when its file has been replaced or removed since it was started.
pub fn own_executable() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::{Mutex, PoisonError};

    /// A file that another test's child inherits while it is written can't be run ("text file busy").
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// A program that prints the given lines, as a child of a run does.
    fn started(script: &str) -> (tempfile::TempDir, Child<String>) {
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let place = tempfile::tempdir().unwrap();
        let program = place.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
        let shared = File::open("/dev/null").unwrap();
        let child = Child::start(&program, "talk", shared, None).unwrap();
        (place, child)
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_failure_said_while_another_child_was_asked_is_still_heard() {
        let (_place, recorder) = started("echo '\"the disk is full\"'");
        let (_other, mut probe) = started("read question; echo '\"traced\"'");
        probe.say(&"end").unwrap();
        let answer = probe.answer(LONG, Some).unwrap();
        assert_eq!(answer, "traced");
        assert_eq!(recorder.hear(LONG), Heard::Said("the disk is full".into()));
        assert_eq!(recorder.hear(LONG), Heard::Gone);
    }

    #[test]
    fn a_child_that_dies_unasked_says_how_where_it_is_asked() {
        let (_place, mut child) = started("echo '\"ready\"'; kill -9 $$");
        let answers = |said: String| (said == "done").then_some(());
        let died = child.answer(LONG, answers).unwrap_err();
        assert!(died.to_string().contains("signal: 9"), "{died}");
        // Asked again it is as dead as before.
        assert!(matches!(
            child.answer(LONG, answers),
            Err(NoAnswer::Died(_))
        ));
    }

    #[test]
    fn a_silent_child_is_killed() {
        let (_place, mut child) = started("exec sleep 1000");
        let silent = child.answer(Duration::ZERO, Some).unwrap_err();
        assert!(matches!(silent, NoAnswer::Silent(0)), "{silent}");
        assert!(child.end().contains("signal: 9"));
    }

    #[test]
    fn what_is_no_line_of_the_conversation_ends_it() {
        let (_place, child) = started("echo '\"ready\"'; echo nonsense; echo '\"more\"'");
        assert_eq!(child.hear(LONG), Heard::Said("ready".into()));
        assert_eq!(child.hear(LONG), Heard::Gone);
    }
}
