//! The tracers to compare: none, wakepath's probe, a plain instance of tracefs, perf.
//!
//! Each is started, records while a loop runs, and is stopped; its own counts of recorded and lost
//! events are read.

use super::instance::Instance;
use crate::descendants::with_descendants;
use crate::tools::has_program;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Events that the probe records on every machine; `irq_vectors` come from the kernel's list.
const EVENTS: [&str; 19] = [
    "sched:sched_switch",
    "sched:sched_waking",
    "sched:sched_wakeup",
    "sched:sched_wakeup_new",
    "sched:sched_migrate_task",
    "irq:irq_handler_entry",
    "irq:irq_handler_exit",
    "irq:softirq_raise",
    "irq:softirq_entry",
    "irq:softirq_exit",
    "timer:hrtimer_start",
    "timer:hrtimer_expire_entry",
    "timer:hrtimer_expire_exit",
    "ipi:ipi_send_cpu",
    "ipi:ipi_send_cpumask",
    "power:cpu_idle",
    "power:cpu_frequency",
    "exceptions:page_fault_user",
    "exceptions:page_fault_kernel",
];
/// Each CPU's buffer, for every tracer alike: five seconds of 500 000 events a second, 60 bytes each.
const BUFFER_BYTES: u64 = 256 << 20;
/// Time limit for perf to write its data.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time for it to switch its events on once it runs.
const SETTLING: Duration = Duration::from_secs(2);
/// Directory of tracefs instances.
pub const INSTANCES: &str = "/sys/kernel/tracing/instances";
/// The peer's instance of tracefs.
const INSTANCE: &str = "xtask-bench-probe";

/// A way to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracer {
    Nothing,
    /// wakepath's own, as `--trace` chooses it for segments that fit.
    Own,
    /// Tracefs as anyone sets it up.
    Instance,
    Perf,
}

/// All tracers; the others are compared with the first.
pub const ALL: [Tracer; 4] = [Tracer::Nothing, Tracer::Own, Tracer::Instance, Tracer::Perf];

impl Tracer {
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "untraced",
            Self::Own => "wakepath",
            Self::Instance => "plain tracefs",
            Self::Perf => "perf record",
        }
    }

    /// Why it can't run here.
    pub fn missing(self) -> Option<String> {
        let is_there = self != Self::Perf || has_program("perf");
        (!is_there).then(|| "perf is not installed".into())
    }

    /// Starts it on one CPU; returns when it records.
    pub fn start(self, program: &Path, cpu: usize, directory: &Path) -> Result<Running, String> {
        let said = |error| format!("{}: {error}", self.name());
        fs::create_dir_all(directory).map_err(said)?;
        let recording = match self {
            Self::Nothing => Recording::None,
            Self::Own => own(program, cpu, directory)?,
            Self::Instance => {
                Recording::Instance(Instance::start(INSTANCE, cpu, BUFFER_BYTES, &events())?)
            }
            Self::Perf => perf(cpu, directory)?,
        };
        let running = Running {
            cpu_time_ns: 0,
            since: Instant::now(),
            recording,
        };
        Ok(Running {
            cpu_time_ns: running.cpu_time_ns(),
            ..running
        })
    }
}

/// A tracer that records.
pub struct Running {
    /// CPU time of its processes when recording began.
    cpu_time_ns: u64,
    since: Instant,
    recording: Recording,
}

enum Recording {
    None,
    Own(Child, ChildStdin, BufReader<ChildStdout>),
    Instance(Instance),
    Perf(Child),
}

/// Result of a tracer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traced {
    /// Events recorded; `None` if it doesn't report them.
    pub events: Option<u64>,
    /// Events lost.
    pub lost: Option<u64>,
    /// Share of a CPU that its processes took while it recorded.
    pub reader: f64,
}

impl Running {
    /// CPU time of the tracer's processes, from the scheduler's own count.
    fn cpu_time_ns(&self) -> u64 {
        let child = match &self.recording {
            Recording::None | Recording::Instance(_) => return 0,
            Recording::Own(child, ..) | Recording::Perf(child) => child,
        };
        let of = |process: u32| {
            let text = fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        };
        let processes = with_descendants(child.id());
        processes.into_iter().filter_map(of).sum()
    }

    /// Ends it.
    pub fn finish(self) -> Result<Traced, String> {
        let spent_ns = self.cpu_time_ns().saturating_sub(self.cpu_time_ns);
        let reader = spent_ns as f64 / self.since.elapsed().as_nanos() as f64;
        let (events, lost) = match self.recording {
            Recording::None => (None, None),
            Recording::Own(child, input, output) => finish_own(child, input, output)?,
            Recording::Instance(instance) => instance.finish()?,
            Recording::Perf(child) => perf_counts(&interrupted(child)?),
        };
        Ok(Traced {
            events,
            lost,
            reader,
        })
    }
}

fn own(program: &Path, cpu: usize, directory: &Path) -> Result<Recording, String> {
    let setting = json!({
        "cpus": [cpu], "segment_ns": 5_000_000_000_u64, "backend": "tracefs", "mode": "flight-recorder",
        "buffer_bytes": BUFFER_BYTES, "keep_above_ns": null,
    });
    let mut child = Command::new(program)
        .args(["internal", "probe", &std::process::id().to_string(), "0"])
        .arg(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err("the probe's input and output are not piped".into());
    };
    let mut output = BufReader::new(output);
    let ready = asked(&mut input, &mut output, &setting)?;
    if ready.get("ready").is_none() {
        return Err(format!("no tracing: {ready}"));
    }
    asked(&mut input, &mut output, &json!({"begin": {"segment": 0}}))?;
    Ok(Recording::Own(child, input, output))
}

fn asked(
    input: &mut ChildStdin,
    output: &mut BufReader<ChildStdout>,
    question: &Value,
) -> Result<Value, String> {
    let failed = |error: &dyn std::fmt::Display| format!("the probe does not answer: {error}");
    writeln!(input, "{question}").map_err(|error| failed(&error))?;
    let mut line = String::new();
    output
        .read_line(&mut line)
        .map_err(|error| failed(&error))?;
    serde_json::from_str(&line).map_err(|error| failed(&error))
}

fn finish_own(
    mut child: Child,
    mut input: ChildStdin,
    mut output: BufReader<ChildStdout>,
) -> Result<(Option<u64>, Option<u64>), String> {
    let ended = asked(&mut input, &mut output, &json!("end"))?;
    drop(input);
    child.wait().map_err(|error| error.to_string())?;
    let trace = &ended["ended"]["trace"];
    let count = |key: &str| trace[key].as_u64();
    // Events overwritten in a full flight recorder are lost too.
    let lost = count("lost").zip(count("overwritten"));
    match count("taken") {
        Some(taken) => Ok((
            Some(taken + count("overwritten").unwrap_or(0)),
            lost.map(|(lost, overwritten)| lost + overwritten),
        )),
        None => Err(format!("the probe wrote no trace: {ended}")),
    }
}

/// The events of every tracer, this kernel's vectors among them.
fn events() -> Vec<String> {
    let tracefs = Path::new("/sys/kernel/tracing/events");
    let vectors = fs::read_dir(tracefs.join("irq_vectors")).into_iter();
    let vectors = vectors
        .flatten()
        .flatten()
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|name| name.ends_with("_entry") || name.ends_with("_exit"))
        .map(|name| format!("irq_vectors:{name}"));
    let common = EVENTS.iter().map(ToString::to_string);
    let there = |event: &String| tracefs.join(event.replace(':', "/")).exists();
    common.filter(there).chain(vectors).collect()
}

fn perf(cpu: usize, directory: &Path) -> Result<Recording, String> {
    let mut command = Command::new("perf");
    command.args(["record", "-C", &cpu.to_string(), "-k", "mono", "-c", "1"]);
    command.args(["-m", &format!("{}M", BUFFER_BYTES >> 20)]);
    // The kernel refuses this one to perf.
    for event in events()
        .iter()
        .filter(|event| !event.ends_with(":irq_work_exit"))
    {
        command.args(["-e", event]);
    }
    recording(command.arg("-o").arg(directory.join("perf.data")))
}

/// Parses perf's summary: `… (1234 samples) …`, and `… lost 5 …` if it lost any.
fn perf_counts(said: &str) -> (Option<u64>, Option<u64>) {
    let samples = said.split_once(" samples)").and_then(|(before, _)| {
        let (_, number) = before.rsplit_once('(')?;
        number.parse().ok()
    });
    let lost = said.match_indices("lost ").filter_map(|(at, word)| {
        let number = said[at + word.len()..]
            .split(|c: char| !c.is_ascii_digit())
            .next()?;
        number.parse::<u64>().ok()
    });
    (samples, Some(lost.sum()))
}

/// Starts a recording perf and waits a while, because perf does not report when it begins.
fn recording(command: &mut Command) -> Result<Recording, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("perf: {error}"))?;
    std::thread::sleep(SETTLING);
    if child.try_wait().is_ok_and(|status| status.is_none()) {
        return Ok(Recording::Perf(child));
    }
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(format!(
        "it ended at once, {}: {}",
        output.status,
        said.trim().replace('\n', " ")
    ))
}

/// Ends it as Ctrl-C would, and returns its output.
fn interrupted(mut child: Child) -> Result<String, String> {
    let process = i32::try_from(child.id()).ok();
    if let Some(process) = process.and_then(rustix::process::Pid::from_raw) {
        rustix::process::kill_process(process, rustix::process::Signal::INT)
            .map_err(|error| format!("perf: {error}"))?;
    }
    let asked = Instant::now();
    while child.try_wait().is_ok_and(|status| status.is_none()) && asked.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(50));
    }
    // One that has ended needs no killing.
    let _ = child.kill();
    let output = child
        .wait_with_output()
        .map_err(|error| format!("perf: {error}"))?;
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perfs_last_words_hold_its_counts() {
        let said = "[ perf record: Woken up 3 times to write data ]\n\
            Processed 9 events and lost 2 chunks!\n\
            [ perf record: Captured and wrote 0.3 MB x (2034 samples) ]\n";
        assert_eq!(perf_counts(said), (Some(2034), Some(2)));
    }
}
