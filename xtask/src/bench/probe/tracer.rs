//! What records the events: nothing, wakepath's probe, a plain instance of tracefs, trace-cmd,
//! bpftrace. Each is started, left to record while a loop runs beside it, and stopped; what it says
//! it recorded and lost is read.

use super::instance::Instance;
use crate::descendants::with_descendants;
use crate::tools::has_program;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The events that the probe records on every machine; `irq_vectors` come from the kernel's list.
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
/// Each CPU's buffer, for every tracer alike: five seconds of 500 000 events a second, 60 bytes each;
/// bpftrace wants a power of two.
const BUFFER_BYTES: u64 = 256 << 20;
/// How long a tracer may take to begin: a compiler of programs, some fifty events.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long one may take to switch its events on once it runs.
const SETTLING: Duration = Duration::from_secs(2);
/// Where instances of tracefs are.
pub const INSTANCES: &str = "/sys/kernel/tracing/instances";
/// The peer's instance of tracefs.
const INSTANCE: &str = "xtask-bench-probe";

/// A way to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracer {
    Nothing,
    /// wakepath's own, by its words for backend and buffer.
    Own(&'static str, &'static str),
    /// What trace-cmd would set up, without it: some kernels refuse it the function tracer, which it
    /// opens in any case.
    Instance,
    TraceCmd,
    Perf,
    Bpftrace,
}

/// All of them; the first is what the others are compared with.
pub const ALL: [Tracer; 8] = [
    Tracer::Nothing,
    Tracer::Own("tracefs", "flight-recorder"),
    Tracer::Own("tracefs", "drained"),
    Tracer::Own("perf", "flight-recorder"),
    Tracer::Instance,
    Tracer::TraceCmd,
    Tracer::Perf,
    Tracer::Bpftrace,
];

impl Tracer {
    pub fn name(self) -> String {
        match self {
            Self::Nothing => "untraced".into(),
            Self::Own(backend, mode) => format!("wakepath {backend}, {mode}"),
            Self::Instance => "tracefs, as trace-cmd".into(),
            Self::TraceCmd => "trace-cmd".into(),
            Self::Perf => "perf record".into(),
            Self::Bpftrace => "bpftrace".into(),
        }
    }

    /// Why it can't run here.
    pub fn missing(self) -> Option<String> {
        let program = match self {
            Self::Nothing | Self::Own(..) | Self::Instance => return None,
            Self::TraceCmd => "trace-cmd",
            Self::Perf => "perf",
            Self::Bpftrace => "bpftrace",
        };
        (!has_program(program)).then(|| format!("{program} is not installed"))
    }

    /// Starts it on one CPU; returns when it records.
    pub fn start(self, program: &Path, cpu: usize, directory: &Path) -> Result<Running, String> {
        let said = |error| format!("{}: {error}", self.name());
        fs::create_dir_all(directory).map_err(said)?;
        let recording = match self {
            Self::Nothing => Recording::None,
            Self::Own(backend, mode) => own(program, backend, mode, cpu, directory)?,
            Self::Instance => {
                Recording::Instance(Instance::start(INSTANCE, cpu, BUFFER_BYTES, &events())?)
            }
            Self::TraceCmd => trace_cmd(cpu, directory)?,
            Self::Perf => perf(cpu, directory)?,
            Self::Bpftrace => bpftrace(cpu, directory)?,
        };
        let running = Running {
            tracer: self,
            directory: directory.to_owned(),
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
    tracer: Tracer,
    directory: PathBuf,
    /// CPU time that its processes had when recording began.
    cpu_time_ns: u64,
    since: Instant,
    recording: Recording,
}

enum Recording {
    None,
    Own(Child, ChildStdin, BufReader<ChildStdout>),
    Instance(Instance),
    Other(Child),
}

/// What a tracer did.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traced {
    /// Events recorded; `None` where it does not say.
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
            Recording::Own(child, ..) | Recording::Other(child) => child,
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
            Recording::Other(child) => {
                let said = interrupted(child, self.tracer)?;
                match self.tracer {
                    Tracer::TraceCmd => trace_cmd_counts(&said),
                    Tracer::Perf => perf_counts(&said),
                    _ => bpftrace_counts(&self.directory, &said)?,
                }
            }
        };
        Ok(Traced {
            events,
            lost,
            reader,
        })
    }
}

fn own(
    program: &Path,
    backend: &str,
    mode: &str,
    cpu: usize,
    directory: &Path,
) -> Result<Recording, String> {
    let setting = json!({
        "cpus": [cpu], "segment_ns": 5_000_000_000_u64, "backend": backend, "mode": mode,
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
    // What a full flight recorder overwrote is not there to be explained either.
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

fn trace_cmd(cpu: usize, directory: &Path) -> Result<Recording, String> {
    let mut command = bounded("trace-cmd");
    // -d: it need not touch the function tracer, which some kernels refuse.
    command.args(["record", "-d", "-B", INSTANCE, "-C", "mono"]);
    command.args(["-M", &format!("{:x}", 1_u64 << cpu)]);
    command.args(["-b", &(BUFFER_BYTES / 1024).to_string()]);
    for event in events() {
        command.args(["-e", &event]);
    }
    recording(command.arg("-o").arg(directory.join("trace.dat")), || true)
}

/// Its statistics of each CPU, as it prints them in the end.
fn trace_cmd_counts(said: &str) -> (Option<u64>, Option<u64>) {
    let sum = |key: &str| {
        let values = said
            .lines()
            .filter_map(|line| line.trim().strip_prefix(key));
        values
            .filter_map(|value| value.trim().parse::<u64>().ok())
            .sum::<u64>()
    };
    let lost = sum("overrun:") + sum("commit overrun:") + sum("dropped events:");
    (Some(sum("read events:") + sum("entries:")), Some(lost))
}

fn bpftrace(cpu: usize, directory: &Path) -> Result<Recording, String> {
    let probes: Vec<String> = events()
        .iter()
        .map(|event| format!("tracepoint:{event}"))
        .collect();
    // A line for each event, as a recording needs one: which, when, whose.
    let text = format!(
        "BEGIN {{ printf(\"begun\\n\"); }}\n{} /cpu == {cpu}/ {{ printf(\"%s %llu %d\\n\", probe, nsecs, tid); }}\n",
        probes.join(",\n")
    );
    let file = directory.join("events.bt");
    fs::write(&file, text).map_err(|error| format!("{}: {error}", file.display()))?;
    let output = directory.join("events.txt");
    let mut command = bounded("bpftrace");
    command.env("BPFTRACE_PERF_RB_PAGES", (BUFFER_BYTES / 4096).to_string());
    // The first line is written when every probe is attached.
    recording(command.arg("-o").arg(&output).arg(&file), || {
        fs::metadata(&output).is_ok_and(|metadata| metadata.len() > 0)
    })
}

fn perf(cpu: usize, directory: &Path) -> Result<Recording, String> {
    let mut command = bounded("perf");
    command.args(["record", "-C", &cpu.to_string(), "-k", "mono", "-c", "1"]);
    command.args(["-m", &format!("{}M", BUFFER_BYTES >> 20)]);
    // The kernel refuses this one to perf.
    for event in events()
        .iter()
        .filter(|event| !event.ends_with(":irq_work_exit"))
    {
        command.args(["-e", event]);
    }
    recording(command.arg("-o").arg(directory.join("perf.data")), || true)
}

/// What it says in the end: `… (1234 samples) …`, and `… lost 5 …` where some were.
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

fn bpftrace_counts(directory: &Path, said: &str) -> Result<(Option<u64>, Option<u64>), String> {
    let file = directory.join("events.txt");
    let text = fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let text = String::from_utf8_lossy(&text);
    let number = |line: &str| {
        let rest = line.split_once("Lost ")?.1;
        rest.split(' ').next()?.parse::<u64>().ok()
    };
    let lost = text.lines().chain(said.lines()).filter_map(number).sum();
    let events = text
        .lines()
        .filter(|line| line.starts_with("tracepoint:"))
        .count();
    Ok((Some(events as u64), Some(lost)))
}

/// A tracer that records: started, `begun`, and still there a while later.
fn recording(command: &mut Command, begun: impl Fn() -> bool) -> Result<Recording, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("timeout: {error}"))?;
    let since = Instant::now();
    // None of them but bpftrace says when it has begun.
    let mut settled = None;
    while settled.is_none_or(|at: Instant| at.elapsed() < SETTLING) {
        if child.try_wait().is_ok_and(|status| status.is_some()) {
            kill_group(child.id());
            let output = child
                .wait_with_output()
                .map_err(|error| error.to_string())?;
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let _ = fs::remove_dir(Path::new(INSTANCES).join(INSTANCE));
            return Err(format!(
                "it ended at once, {}: {}",
                output.status,
                said.trim().replace('\n', " ")
            ));
        }
        if settled.is_none() && begun() {
            settled = Some(Instant::now());
        }
        if since.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err("it does not begin".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(Recording::Other(child))
}

/// Ends it as Ctrl-C would, and returns all that it said.
fn interrupted(mut child: Child, tracer: Tracer) -> Result<String, String> {
    let process = i32::try_from(child.id()).ok();
    let process = process.and_then(rustix::process::Pid::from_raw);
    if let Some(process) = process {
        rustix::process::kill_process(process, rustix::process::Signal::INT)
            .map_err(|error| format!("{}: {error}", tracer.name()))?;
    }
    // trace-cmd has been seen to wait for ever on a kernel that refuses it the function tracer.
    let asked = Instant::now();
    while child.try_wait().is_ok_and(|status| status.is_none()) && asked.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(50));
    }
    kill_group(child.id());
    let output = child
        .wait_with_output()
        .map_err(|error| format!("{}: {error}", tracer.name()))?;
    // trace-cmd keeps its instance.
    let _ = fs::remove_dir(Path::new(INSTANCES).join(INSTANCE));
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// A program in a group of its own, which is ended as a whole: trace-cmd's readers outlive it and
/// would hold what it says open for ever. `timeout` ends it if nobody else does.
fn bounded(program: &str) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--signal=INT", "--kill-after=5", "600", program]);
    command
}

/// Whatever is left of a [`bounded`] program.
fn kill_group(leader: u32) {
    let leader = i32::try_from(leader).ok();
    if let Some(leader) = leader.and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
    }
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

    #[test]
    fn trace_cmds_counts_are_summed_over_its_cpus() {
        let said = "CPU: 0\nentries: 0\noverrun: 0\ncommit overrun: 0\nread events: 7\n\n\
            CPU: 1\nentries: 2\noverrun: 5\ncommit overrun: 1\ndropped events: 3\nread events: 40\n";
        assert_eq!(trace_cmd_counts(said), (Some(49), Some(9)));
    }
}
