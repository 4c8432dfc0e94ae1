//! Runs a stage's commands, one after the other, into one log and within one time limit, and adds up
//! the CPU time that they and all that they waited for have taken.

use crate::descendants::with_descendants;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A stage under way.
pub struct Job {
    log: PathBuf,
    until: Instant,
    cpu: Cell<Duration>,
}

/// How a command ended.
pub struct Finished {
    /// Its standard output and standard error.
    pub output: String,
    /// Why it did not succeed.
    pub failure: Option<String>,
}

impl Job {
    /// Starts an empty log; `limit` is the time limit of all commands together.
    pub fn new(log: PathBuf, limit: Duration) -> Result<Self, String> {
        let said = |error| format!("{}: {error}", log.display());
        if let Some(directory) = log.parent() {
            fs::create_dir_all(directory).map_err(said)?;
        }
        File::create(&log).map_err(said)?;
        Ok(Self {
            log,
            until: Instant::now() + limit,
            cpu: Cell::default(),
        })
    }

    /// The log's path.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// CPU time of the commands that have ended, in user and kernel mode.
    pub fn cpu(&self) -> Duration {
        self.cpu.get()
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

    /// Runs a command whose output nobody reads but in the log.
    pub fn carry_out(&self, command: &mut Command) -> Result<(), String> {
        self.run(command).failure.map_or(Ok(()), Err)
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

    /// Whether the process has ended; if so, its CPU time is counted while the kernel still reports
    /// it.
    fn has_ended(&self, process: u32) -> bool {
        let of = |process: u32| Pid::from_raw(i32::try_from(process).ok()?);
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let state = of(process).map(|process| waitid(WaitId::Pid(process), ended));
        // If the state can't be read, the caller's wait blocks until the process ends.
        let has_ended = !matches!(state, Some(Ok(None)));
        if has_ended {
            let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            self.cpu.set(self.cpu.get() + cpu_time(&stat));
        }
        has_ended
    }

    /// Waits for the end; at the limit, ends the command with everything that it started. All stay in
    /// this process's group, so that Ctrl-C ends them too.
    fn wait(&self, child: &mut Child) -> std::io::Result<Option<ExitStatus>> {
        loop {
            if self.has_ended(child.id()) {
                return child.wait().map(Some);
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

/// CPU time of a process and of the children that it waited for: fields 14 to 17 of its `stat`, in
/// hundredths of a second on every machine that Linux runs on.
fn cpu_time(stat: &str) -> Duration {
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields = after_name.split_whitespace().skip(11).take(4);
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
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
    fn cpu_time_is_the_commands_own_and_its_childrens() {
        let stat = "7 (a name) with) Z 1 7 7 0 -1 4 0 0 0 0 150 25 1000 3 20 0 1 0 99";
        assert_eq!(cpu_time(stat), Duration::from_millis(11_780));
        let job = job("job-cpu", Duration::from_secs(60));
        let busy = "sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'; true";
        assert!(
            job.run(Command::new("sh").args(["-c", busy]))
                .failure
                .is_none()
        );
        assert!(job.cpu() > Duration::ZERO);
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
