//! The command carried out as a user would, with the time that it takes and the memory at most.

use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The program that is measured.
pub const WAKEPATH: &str = env!("CARGO_BIN_EXE_wakepath");

/// Cost of a command.
pub struct Taken {
    /// From its start to its end.
    pub seconds: f64,
    /// CPU time of all its threads: other work on the machine lengthens it less.
    pub cpu_seconds: f64,
    /// Resident at most.
    pub megabytes: f64,
    /// How it ended.
    pub ended: ExitStatus,
}

/// Runs wakepath with these arguments and ignores its output.
pub fn carry_out(words: &[&str]) -> std::io::Result<Taken> {
    let begun = Instant::now();
    let mut child = Command::new(WAKEPATH)
        .args(words)
        .stdout(Stdio::null())
        .spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let stat = format!("/proc/{}/stat", child.id());
    let (mut peak_kb, mut ticks) = (0, 0);
    let ended = loop {
        if let Some(ended) = child.try_wait()? {
            break ended;
        }
        // Of a process that has just ended nothing is there.
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        peak_kb = number
            .and_then(|number| number.parse().ok())
            .unwrap_or(peak_kb);
        let text = std::fs::read_to_string(&stat).unwrap_or_default();
        ticks = ticks_of(&text).unwrap_or(ticks);
        std::thread::sleep(Duration::from_millis(10));
    };
    Ok(Taken {
        seconds: begun.elapsed().as_secs_f64(),
        // Linux counts 100 of them a second for programs, whatever its own tick is.
        cpu_seconds: ticks as f64 / 100.0,
        megabytes: f64::from(peak_kb) / 1024.0,
        ended,
    })
}

/// Ticks of a process in its own code and in the kernel's: fields 14 and 15, counted after the name,
/// which may hold spaces.
fn ticks_of(stat: &str) -> Option<u64> {
    let (_, after) = stat.rsplit_once(") ")?;
    let mut fields = after.split(' ').skip(11).map(str::parse::<u64>);
    Some(fields.next()?.ok()? + fields.next()?.ok()?)
}
