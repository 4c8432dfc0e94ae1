//! Runs that are parts of something larger, a search or a trial: each is a separate process, which
//! shows the live view on the same terminal, knows how many parts follow, and ends with the process
//! that started it.

use crate::run_order::{OrderedRun, RunOrder, RunPart, RunReply};
use crate::terminal::live_view_fits;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use wakepath_scenario::units::parse_duration;

/// Time of a part besides its cycles, before one was seen.
const BESIDE: Duration = Duration::from_secs(5);

/// Parts of a whole.
pub struct Parts {
    /// The wakepath that measures.
    program: PathBuf,
    /// Whether they show their view.
    are_shown: bool,
    /// Time of all parts so far.
    taken: Duration,
    count: u32,
    guess: Duration,
}

impl Parts {
    /// Each measures for this time, as it is given on the command line.
    pub fn of(program: PathBuf, block: &str, wants_plain: bool) -> Self {
        let block = parse_duration(block).map_or(Duration::ZERO, Duration::from_nanos);
        Self {
            program,
            are_shown: live_view_fits(wants_plain),
            taken: Duration::ZERO,
            count: 0,
            guess: block + BESIDE,
        }
    }

    /// Carries out a part that the given number of others follows. Returns the reason if it failed.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn carry_out(
        &mut self,
        run: OrderedRun,
        name: &str,
        after_it: u32,
    ) -> io::Result<Option<String>> {
        let each = match self.count {
            0 => self.guess,
            count => self.taken / count,
        };
        let begun = Instant::now();
        let order = RunOrder {
            run,
            part: RunPart {
                name: name.to_owned(),
                parent: std::process::id().cast_signed(),
                then_ms: (each * after_it).as_millis() as u64,
                is_shown: self.are_shown,
            },
        };
        let mut child = Command::new(&self.program)
            .args(["internal", "run"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(match self.are_shown {
                true => Stdio::inherit(),
                false => Stdio::piped(),
            })
            .spawn()?;
        if let Some(input) = child.stdin.take() {
            // One that is gone already reads nothing, and gives no reply.
            let _ = serde_json::to_writer(input, &order);
        }
        let output = child.wait_with_output()?;
        self.taken += begun.elapsed();
        self.count += 1;
        Ok(failure(&output))
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
