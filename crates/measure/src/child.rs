//! A child process that is spoken to in lines of JSON. It knows nothing of what they mean.

use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;

/// What comes from a child.
#[derive(Debug)]
pub enum FromChild<T> {
    /// A line that it wrote.
    Said(T),
    /// It closed its output: it has ended or is about to.
    Gone,
}

/// A running child.
pub struct JsonChild {
    child: Child,
    input: Option<ChildStdin>,
}

impl JsonChild {
    /// Starts a program's hidden verb `PROGRAM internal VERB`, in a process group of its own so
    /// that Ctrl-C on the terminal reaches the measuring process alone. `shared` stays open in the
    /// child, which is told its number; `forward` passes on what the child says.
    ///
    /// # Errors
    /// When the process can't be started.
    pub fn start<T, M>(
        program: &Path,
        verb: &str,
        shared: impl AsFd,
        arguments: &[&std::ffi::OsStr],
        messages: Sender<M>,
        forward: impl Fn(FromChild<T>) -> M + Send + 'static,
    ) -> std::io::Result<Self>
    where
        T: DeserializeOwned + Send + 'static,
        M: Send + 'static,
    {
        let shared = shared.as_fd();
        let mut command = Command::new(program);
        command
            .args(["internal", verb])
            .arg(std::process::id().to_string())
            .arg(shared.as_raw_fd().to_string())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0);
        // The descriptor is inherited by this child only: nothing else is started meanwhile.
        let flags = fcntl_getfd(shared)?;
        fcntl_setfd(shared, flags - FdFlags::CLOEXEC)?;
        let child = command.spawn();
        fcntl_setfd(shared, flags)?;
        let mut child = child?;

        let output = child.stdout.take().expect("the output is piped");
        std::thread::Builder::new()
            .name(format!("{verb} output"))
            .spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    // A line that doesn't parse is as good as the child's end: its consequence is said
                    // where the end is noticed.
                    let Ok(said) = serde_json::from_str(&line) else {
                        break;
                    };
                    if messages.send(forward(FromChild::Said(said))).is_err() {
                        return;
                    }
                }
                // Nobody may be listening any more, which is no error.
                let _ = messages.send(forward(FromChild::Gone));
            })?;
        let input = child.stdin.take();
        Ok(Self { child, input })
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Says one line to the child.
    ///
    /// # Errors
    /// When the child is gone.
    pub fn say(&mut self, message: &impl Serialize) -> std::io::Result<()> {
        let input = self.input.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        input.write_all(&line)?;
        input.flush()
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// The system's.
    pub fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.input = None;
        self.child.wait()
    }

    /// Kills it and waits for its end.
    pub fn kill(&mut self) {
        // A child that has ended by itself needs no killing.
        let _ = self.child.kill();
        let _ = self.wait();
    }
}

/// This program, also when its file has been replaced or removed since it was started.
pub fn own_executable() -> PathBuf {
    PathBuf::from("/proc/self/exe")
}
