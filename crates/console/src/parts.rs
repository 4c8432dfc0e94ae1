//! Runs that are parts of something larger, a search or a trial: each is a separate process, which
//! shows the live view on the same terminal, knows how many parts follow, and ends with the process
//! that started it.

use crate::terminal::live_view_fits;
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use wakepath_scenario::units::parse_duration;

/// Time of a part besides its cycles, before one was seen.
const BESIDE: Duration = Duration::from_secs(5);

/// Parts of a whole.
pub struct Parts {
    /// Whether they show their view.
    are_shown: bool,
    /// Time of all parts so far.
    taken: Duration,
    count: u32,
    guess: Duration,
}

impl Parts {
    /// Each measures for this time, as it is given on the command line.
    pub fn of(block: &str, wants_plain: bool) -> Self {
        let block = parse_duration(block).map_or(Duration::ZERO, Duration::from_nanos);
        Self {
            are_shown: live_view_fits(wants_plain),
            taken: Duration::ZERO,
            count: 0,
            guess: block + BESIDE,
        }
    }

    /// Carries out a part that the given number of others follows. Returns the last line that it
    /// printed; `None` if it was seen on the terminal.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn carry_out(
        &mut self,
        mut command: Command,
        part: &str,
        after_it: u32,
    ) -> io::Result<Option<String>> {
        let each = match self.count {
            0 => self.guess,
            count => self.taken / count,
        };
        let begun = Instant::now();
        command
            .args(["--part-of", &std::process::id().to_string()])
            .arg("--json")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let said = match self.are_shown {
            true => {
                let then = (each * after_it).as_millis().to_string();
                command.args(["--part", part, "--part-then", &then]);
                command.stderr(Stdio::inherit()).status()?;
                None
            }
            false => {
                let output = command.stderr(Stdio::piped()).output()?;
                let said = String::from_utf8_lossy(&output.stderr);
                Some(said.lines().last().unwrap_or_default().to_owned())
            }
        };
        self.taken += begun.elapsed();
        self.count += 1;
        Ok(said)
    }
}
