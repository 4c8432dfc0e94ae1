//! A process that measures what another one orders: one line of JSON in, a [`RunReply`] back.

use crate::run_order::RunReply;
use serde::Serialize;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};

/// The process under way.
pub struct OrderedProcess(Child);

impl OrderedProcess {
    /// Starts `wakepath internal VERB` and gives it the order.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn start(
        program: &Path,
        verb: &str,
        order: &impl Serialize,
        stderr: impl Into<Stdio>,
    ) -> io::Result<Self> {
        let mut child = Command::new(program)
            .args(["internal", verb])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()?;
        if let Some(input) = child.stdin.take() {
            // One that is gone already reads nothing, and gives no reply.
            let _ = serde_json::to_writer(input, order);
        }
        Ok(Self(child))
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Its status once it has ended.
    ///
    /// # Errors
    /// If the system refuses to wait for it.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    /// Waits for its end. Returns the reason if it failed.
    ///
    /// # Errors
    /// If the system refuses to wait for it.
    pub fn wait(self) -> io::Result<Option<String>> {
        Ok(failure(&self.0.wait_with_output()?))
    }
}

/// The reason by the reply; without one, how the process ended and what it printed last.
fn failure(output: &Output) -> Option<String> {
    match serde_json::from_slice(&output.stdout) {
        Ok(RunReply::Ended) => None,
        Ok(RunReply::Failed { why }) => Some(why),
        Err(_) => {
            let printed = String::from_utf8_lossy(&output.stderr);
            let last = printed.lines().last().map(|line| format!(": {line}"));
            let last = last.unwrap_or_default();
            Some(format!("its process ended early, {}{last}", output.status))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_says_why_a_run_failed_and_one_that_is_missing_how_its_process_ended() {
        let of = |script: &str| {
            let output = Command::new("sh").args(["-c", script]).output().unwrap();
            failure(&output)
        };
        assert_eq!(of("echo '\"ended\"'"), None);
        let refused = of("echo '{\"failed\":{\"why\":\"no CPU 9\"}}'; exit 1");
        assert_eq!(refused.as_deref(), Some("no CPU 9"));
        let killed = of("echo first >&2; echo last >&2; kill -9 $$").unwrap();
        assert!(
            killed.contains("signal: 9") && killed.ends_with(": last"),
            "{killed}"
        );
    }
}
