//! Runs a stage's commands, one after the other, into one log and within one time limit.

use crate::descendants::with_descendants;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A stage under way.
pub struct Job {
    log: PathBuf,
    until: Instant,
}

/// How a command ended.
pub struct Finished {
    /// What it wrote to standard output and standard error.
    pub output: String,
    /// Why it did not succeed.
    pub failure: Option<String>,
}

impl Job {
    /// Starts an empty log; all commands together may take `limit`.
    pub fn new(log: PathBuf, limit: Duration) -> Result<Self, String> {
        let said = |error| format!("{}: {error}", log.display());
        if let Some(directory) = log.parent() {
            fs::create_dir_all(directory).map_err(said)?;
        }
        File::create(&log).map_err(said)?;
        Ok(Self {
            log,
            until: Instant::now() + limit,
        })
    }

    /// Where the log lies.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Runs a command to its end, or to the limit. It has no standard input.
    pub fn run(&self, command: &mut Command) -> Finished {
        match self.attempt(command) {
            Ok(finished) => finished,
            Err(error) => {
                let program = command.get_program().to_string_lossy().into_owned();
                Finished {
                    output: String::new(),
                    failure: Some(format!("{program}: {error}")),
                }
            }
        }
    }

    fn attempt(&self, command: &mut Command) -> std::io::Result<Finished> {
        let mut log = OpenOptions::new().append(true).open(&self.log)?;
        writeln!(log, "\n$ {}", shown(command))?;
        let start = fs::metadata(&self.log)?.len();
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        let mut child = command.spawn()?;
        let status = self.wait(&mut child)?;
        let bytes = fs::read(&self.log)?;
        let from = usize::try_from(start).unwrap_or(0).min(bytes.len());
        let output = String::from_utf8_lossy(&bytes[from..]).into_owned();
        let failure = match status {
            None => Some("took longer than its limit and was ended".into()),
            Some(status) if status.success() => None,
            Some(status) => Some(format!("`{}`: {status}", shown(command))),
        };
        Ok(Finished { output, failure })
    }

    /// Waits for the end; at the limit, ends the command with everything that it started. All stay in
    /// this process's group, so that Ctrl-C ends them too.
    fn wait(&self, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if Instant::now() >= self.until {
                for process in with_descendants(child.id()) {
                    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
                    let _ = process.map(|process| kill_process(process, Signal::KILL));
                }
                child.wait()?;
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// A command as a person would type it, with the variables set for it.
fn shown(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        let (name, value) = (name.to_string_lossy(), value?.to_string_lossy());
        (!name.starts_with("CARGO_TERM")).then(|| format!("{name}={value:?} "))
    });
    let words = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned());
    variables.collect::<String>() + &words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, limit: Duration) -> Job {
        let log = std::env::temp_dir().join(format!("{name}-{}.log", std::process::id()));
        Job::new(log, limit).expect("a log in the temporary directory")
    }

    #[test]
    fn output_and_failure_of_each_command_are_told_apart() {
        let job = job("job-output", Duration::from_secs(20));
        assert!(job.run(Command::new("echo").arg("first")).failure.is_none());
        let second = job.run(Command::new("sh").args(["-c", "echo second >&2; exit 3"]));
        assert_eq!(second.output.trim(), "second");
        assert!(second.failure.expect("it failed").contains('3'));
        fs::remove_file(job.log()).expect("the log is there");
    }

    #[test]
    fn a_command_and_its_children_are_ended_at_the_limit() {
        let job = job("job-limit", Duration::from_millis(200));
        let before = Instant::now();
        let finished = job.run(Command::new("sh").args(["-c", "sleep 60 & wait"]));
        assert!(finished.failure.expect("it was ended").contains("limit"));
        assert!(before.elapsed() < Duration::from_secs(10));
        fs::remove_file(job.log()).expect("the log is there");
    }

    #[test]
    fn a_program_that_is_not_there_is_a_failure() {
        let job = job("job-missing", Duration::from_secs(5));
        let finished = job.run(&mut Command::new("no-such-program-here"));
        assert!(
            finished
                .failure
                .expect("it failed")
                .contains("no-such-program-here")
        );
        fs::remove_file(job.log()).expect("the log is there");
    }
}
