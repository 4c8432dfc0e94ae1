//! The system's OpenSSH, with its own configuration: one call for each command on a board.
//!
//! It keeps no connection and handles no keys.

use crate::inventory::Board;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use wakepath_timeline::shortened;

/// How boards are reached.
#[derive(Debug, Clone)]
pub struct Ssh {
    /// Another configuration than the user's own.
    pub config: Option<PathBuf>,
    /// Time limit of a call; for a transfer, of a pause without data.
    pub patience: Duration,
}

/// Why a call gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// OpenSSH got no connection, or lost it.
    #[error("unreachable: {0}")]
    Unreachable(String),
    /// No answer within the time limit.
    #[error("unreachable: no answer in {0} s")]
    Silent(u64),
    /// The board refused.
    #[error("{0}")]
    Refused(String),
    /// The answer is invalid.
    #[error("no answer of wakepath's hand on boards ({0}); `wakepath-fleet push` puts it there")]
    NoAnswer(String),
    /// Something on this machine.
    #[error("{0}: {1}")]
    Here(&'static str, std::io::Error),
}

/// An answer of words is short.
const MOST_ANSWER_BYTES: usize = 16 << 20;

/// Bytes passed on at a time.
const PIECE: usize = 64 << 10;

/// OpenSSH's exit code for a failed connection.
const CONNECTION: i32 = 255;

impl Ssh {
    /// Calls a command of the board's script, with `input` for it.
    pub(crate) fn call(
        &self,
        board: &Board,
        words: &[&str],
        input: Vec<u8>,
    ) -> Result<String, CallError> {
        let script = format!("{}/board", board.directory);
        let all = [&["sh", &script], words].concat();
        self.command(board, &all, input)
    }

    /// Calls any words.
    pub(crate) fn command(
        &self,
        board: &Board,
        words: &[&str],
        input: Vec<u8>,
    ) -> Result<String, CallError> {
        let mut answer = Vec::new();
        self.stream(board, words, input, MOST_ANSWER_BYTES as u64, |piece| {
            answer.extend_from_slice(piece);
            Ok(())
        })?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        match answer
            .lines()
            .find_map(|line| line.strip_prefix("refused: "))
        {
            Some(why) => Err(CallError::Refused(shortened(why, 200))),
            None => Ok(answer),
        }
    }

    /// Calls, and passes on up to `most` bytes as they arrive.
    pub(crate) fn stream(
        &self,
        board: &Board,
        words: &[&str],
        input: Vec<u8>,
        most: u64,
        mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Result<(), CallError> {
        let mut child = Ended(self.spawn(board, words)?);
        let mut stdin = child.0.stdin.take().expect("a pipe");
        // A board that reads nothing must not hold us; its end closes the pipe.
        let sent = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&sent);
        std::thread::spawn(move || {
            for piece in input.chunks(PIECE) {
                if stdin.write_all(piece).is_err() {
                    return;
                }
                count.fetch_add(piece.len(), Ordering::Relaxed);
            }
        });
        let pieces = pieces(child.0.stdout.take().expect("a pipe"));
        let said = last_line(child.0.stderr.take().expect("a pipe"));
        let (mut taken, mut seen) = (0, 0);
        loop {
            match pieces.recv_timeout(self.patience) {
                Ok(piece) => {
                    let piece = piece.map_err(|error| CallError::Here("ssh", error))?;
                    taken += piece.len() as u64;
                    if taken > most {
                        return Err(CallError::NoAnswer("it sends without end".into()));
                    }
                    take(&piece).map_err(|error| CallError::Here("write", error))?;
                }
                // It is silent while it receives our data.
                Err(RecvTimeoutError::Timeout) if sent.load(Ordering::Relaxed) > seen => {
                    seen = sent.load(Ordering::Relaxed);
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(CallError::Silent(self.patience.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let code = child.wait(self.patience)?;
        let said = || {
            let line = said
                .recv_timeout(Duration::from_secs(1))
                .unwrap_or_default();
            if line.is_empty() {
                format!("ssh ended with {code}")
            } else {
                line
            }
        };
        match code {
            // The script reports a refusal on its output.
            0 | 64 => Ok(()),
            CONNECTION => Err(CallError::Unreachable(said())),
            _ => Err(CallError::NoAnswer(said())),
        }
    }

    fn spawn(&self, board: &Board, words: &[&str]) -> Result<Child, CallError> {
        let mut command = Command::new("ssh");
        if let Some(config) = &self.config {
            command.arg("-F").arg(config);
        }
        for option in [
            "BatchMode=yes",
            "ConnectTimeout=10",
            "ServerAliveInterval=2",
            "ServerAliveCountMax=3",
            "ForwardAgent=no",
            "ForwardX11=no",
            "ClearAllForwardings=yes",
        ] {
            command.args(["-o", option]);
        }
        if let Some(port) = board.port {
            command.args(["-p", &port.to_string()]);
        }
        command.args(["-T", "--", &board.address]).args(words);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
            .spawn()
            .map_err(|error| CallError::Here("ssh", error))
    }
}

/// A child that does not outlive the call.
struct Ended(Child);

impl Ended {
    fn wait(&mut self, patience: Duration) -> Result<i32, CallError> {
        let until = Instant::now() + patience;
        loop {
            let ended = self
                .0
                .try_wait()
                .map_err(|error| CallError::Here("ssh", error))?;
            match ended {
                Some(status) => return Ok(status.code().unwrap_or(CONNECTION)),
                None if Instant::now() > until => {
                    return Err(CallError::Silent(patience.as_secs()));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn pieces(mut from: impl Read + Send + 'static) -> Receiver<std::io::Result<Vec<u8>>> {
    let (to, pieces) = channel();
    std::thread::spawn(move || {
        let mut piece = vec![0; PIECE];
        loop {
            let sent = match from.read(&mut piece) {
                Ok(0) => return,
                Ok(length) => to.send(Ok(piece[..length].to_vec())),
                Err(error) => to.send(Err(error)),
            };
            if sent.is_err() {
                return;
            }
        }
    });
    pieces
}

/// The last line of its output, for a one-line reason; the rest is read and dropped.
fn last_line(mut from: impl Read + Send + 'static) -> Receiver<String> {
    const MOST: usize = 64 << 10;
    let (to, said) = channel();
    std::thread::spawn(move || {
        let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = from.read(&mut piece) {
            kept.extend_from_slice(&piece[..length]);
            let over = kept.len().saturating_sub(MOST);
            kept.drain(..over);
        }
        let text = String::from_utf8_lossy(&kept);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
        let _ = to.send(shortened(last.unwrap_or_default(), 200));
    });
    said
}
