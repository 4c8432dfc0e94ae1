//! The measuring process's side of the running supervisor.
//!
//! Holds its answers and the reason for its end; dropping this leaves nothing of it behind.

use super::Containment;
use super::keeper::Keeper;
use crate::LoadError;
use crate::control::{Answer, Control};
use crate::counters::Counters;
use crate::orphans::{self, Mark};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

pub(super) struct Running {
    pub(super) counters: Counters,
    pub(super) control: Control,
    pub(super) keeper: Keeper,
    pub(super) mark: Mark,
    pub(super) complaints: OwnedFd,
    pub(super) directory: Option<PathBuf>,
    pub(super) sequence: u64,
    /// Why the supervisor is of no more use.
    pub(super) failure: Option<String>,
}

impl Running {
    /// The answer to the latest order; late ones to earlier orders are passed over.
    pub(super) fn answer(&mut self, patience: Duration) -> Result<Answer, LoadError> {
        let deadline = Instant::now() + patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.control.receive(Some(left)).map_err(|error| {
                let said = self.complaint().unwrap_or_else(|| match error.kind() {
                    std::io::ErrorKind::UnexpectedEof => "it exited unexpectedly".into(),
                    std::io::ErrorKind::TimedOut => {
                        format!("no answer within {:.0} s", patience.as_secs_f64())
                    }
                    _ => error.to_string(),
                });
                LoadError::Supervisor(said)
            })?;
            let answer: Answer = serde_json::from_slice(line.as_bytes())
                .map_err(|error| LoadError::Supervisor(format!("unreadable answer: {error}")))?;
            if answer.sequence == self.sequence {
                return Ok(answer);
            }
        }
    }

    /// Last line that the supervisor wrote to its standard error.
    fn complaint(&self) -> Option<String> {
        let mut file = File::from(self.complaints.try_clone().ok()?);
        let mut text = String::new();
        file.seek(SeekFrom::Start(0)).ok()?;
        file.read_to_string(&mut text).ok()?;
        text.lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
            .map(str::to_owned)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The closed socket lets the supervisor kill its descendants and end by itself.
        let _ = self.control.stream().shutdown(std::net::Shutdown::Both);
        self.keeper.end();
        if self.keeper.containment() == Containment::SubReaper {
            // Those that escaped a supervisor that was killed.
            orphans::kill_marked(&self.mark);
        }
        if let Some(directory) = &self.directory {
            // If this fails, the next reap_orphans removes it.
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}
