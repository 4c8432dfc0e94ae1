//! A resolved scenario as TOML that reads back to the very same scenario: what an archive keeps
//! and a rerun reads. Every default is written out.

mod work;

use crate::units::{format_size, toml_duration};
use crate::{
    Accounting, Criterion, FlightTerms, FlightVehicle, LoadKind, LoadSpec, PoliciesNeeded,
    Scenario, Task, TimerSlack, Trace, TraceBackend, TraceBuffer, Word, WorkingSet,
};
use std::fmt::Write;
use wakepath_timeline::{Overrun, Policy, WakeUp};
use work::work;

impl Scenario {
    /// The scenario as a TOML file. On a machine that has its CPUs, [`Scenario::parse`] reads the
    /// same scenario back.
    pub fn to_toml(&self) -> String {
        let mut file = String::new();
        let mut line = |text: String| {
            file.push_str(&text);
            file.push('\n');
        };
        line(format!("name = {}", quoted(&self.name)));
        line(format!("description = {}", quoted(&self.description)));
        let single_loop = match self.tasks.as_slice() {
            [task] if task.name == "loop" && task.policy.is_none() => Some(task),
            _ => None,
        };
        if let Some(task) = single_loop {
            line(format!("period = {}", time(task.period_ns)));
            if let Some(cpus) = &task.cpus {
                line(format!("cpus = \"{cpus}\""));
            }
            line(format!("work = {}", work(&task.work)));
        }
        line(format!("cycles = {}", self.cycles));
        line(format!("repetitions = {}", self.repetitions));
        line(format!("warm-up = {}", time(self.warm_up_ns)));
        if !self.policies.is_empty() {
            let items: Vec<String> = self.policies.iter().map(policy).collect();
            line(format!("policies = [\n  {},\n]", items.join(",\n  ")));
        }
        line(format!("wake-up = \"{}\"", wake_up(self.wake_up)));
        line(format!("overrun = \"{}\"", overrun(self.overrun)));
        line(match self.timer_slack {
            TimerSlack::Leave => "timer-slack = \"leave\"".to_owned(),
            TimerSlack::Set(ns) => format!("timer-slack = {}", time(ns)),
        });
        line(match self.cpu_dma_latency_us {
            None => "cpu-dma-latency = \"leave\"".to_owned(),
            Some(us) => format!("cpu-dma-latency = \"{us} us\""),
        });
        let Accounting {
            cpu_time,
            switches,
            counters,
        } = self.accounting;
        line(format!(
            "accounting = {{ cpu-time = {cpu_time}, switches = {switches}, counters = \
             {counters} }}"
        ));
        if let Some(terms) = &self.trace {
            line(format!("trace = {}", trace(terms)));
        }
        line(format!("\n[criterion]\n{}", criterion(&self.criterion)));
        if let Some(terms) = &self.flight {
            line(format!("\n[flight]\n{}", flight(terms)));
        }
        for phase in &self.phases {
            let loads: String = phase
                .loads
                .iter()
                .map(|spec| format!("\n  {},", load(spec)))
                .collect();
            let end = if loads.is_empty() { "" } else { "\n" };
            line(format!(
                "\n[[phases]]\nname = {}\nloads = [{loads}{end}]",
                quoted(&phase.name)
            ));
            if let Some(own) = &phase.work {
                line(format!("work = {}", work(own)));
            }
            if let Some(share) = phase.l3_share {
                line(format!("l3-share = {share:?}"));
            }
        }
        if single_loop.is_none() {
            self.tasks.iter().for_each(|item| line(task(item)));
        }
        file
    }
}

fn task(task: &Task) -> String {
    let mut text = format!(
        "\n[[tasks]]\nname = {}\nperiod = {}\nwork = {}",
        quoted(&task.name),
        time(task.period_ns),
        work(&task.work),
    );
    if let Some(own) = &task.policy {
        text += &format!("\npolicy = {}", policy(own));
    }
    if let Some(cpus) = &task.cpus {
        text += &format!("\ncpus = \"{cpus}\"");
    }
    text
}

fn time(ns: u64) -> String {
    format!("\"{}\"", toml_duration(ns))
}

fn policy(policy: &Policy) -> String {
    match policy {
        Policy::Other { nice } => format!("{{ policy = \"other\", nice = {nice} }}"),
        Policy::Batch { nice } => format!("{{ policy = \"batch\", nice = {nice} }}"),
        Policy::Idle => "{ policy = \"idle\" }".to_owned(),
        Policy::Fifo { priority } => format!("{{ policy = \"fifo\", priority = {priority} }}"),
        Policy::RoundRobin { priority } => format!("{{ policy = \"rr\", priority = {priority} }}"),
        Policy::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns,
        } => format!(
            "{{ policy = \"deadline\", runtime = {}, deadline = {}, period = {} }}",
            time(*runtime_ns),
            time(*deadline_ns),
            time(*period_ns),
        ),
    }
}

fn trace(terms: &Trace) -> String {
    let mut keys = Vec::new();
    keys.extend(terms.backend.map(|backend| match backend {
        TraceBackend::Tracefs => "backend = \"tracefs\"".to_owned(),
        TraceBackend::Perf => "backend = \"perf\"".to_owned(),
    }));
    keys.extend(terms.mode.map(|mode| match mode {
        TraceBuffer::FlightRecorder => "mode = \"flight-recorder\"".to_owned(),
        TraceBuffer::Drained => "mode = \"drained\"".to_owned(),
    }));
    let size = |bytes| format!("buffer = \"{}\"", format_size(bytes));
    keys.extend(terms.buffer_bytes.map(size));
    keys.extend(
        terms
            .keep_above_ns
            .map(|ns| format!("keep-above = {}", time(ns))),
    );
    let timerlat = |ns| format!("timerlat = {}", time(ns));
    keys.extend(terms.timerlat_ns.map(timerlat));
    let osnoise = |ns| format!("osnoise = {}", time(ns));
    keys.extend(terms.osnoise_ns.map(osnoise));
    match keys.is_empty() {
        true => "true".to_owned(),
        false => format!("{{ {} }}", keys.join(", ")),
    }
}

fn wake_up(wake_up: WakeUp) -> &'static str {
    match wake_up {
        WakeUp::ClockNanosleep => "clock-nanosleep",
        WakeUp::Timerfd => "timerfd",
        WakeUp::Futex => "futex",
    }
}

fn overrun(overrun: Overrun) -> &'static str {
    match overrun {
        Overrun::Skip => "skip",
        Overrun::CatchUp => "catch-up",
        Overrun::Stop => "stop",
    }
}

fn criterion(criterion: &Criterion) -> String {
    let mut lines = Vec::new();
    if let Some(ns) = criterion.latency_ns {
        lines.push(format!("latency = {}", time(ns)));
    }
    lines.push(format!("deadline = {}", time(criterion.deadline_ns)));
    // Debug writes the shortest decimal that reads back to the same number, with a point or an
    // exponent, which is what makes it a float in TOML.
    lines.push(format!("miss-fraction = {:?}", criterion.miss_fraction));
    if let Some(evidence) = criterion.evidence {
        lines.push(format!("evidence = {evidence:?}"));
    }
    lines.push(format!("confidence = {:?}", criterion.confidence));
    if let Some(misses) = criterion.consecutive_misses {
        lines.push(format!("consecutive-misses = {misses}"));
    }
    if let Some(ns) = criterion.outage_ns {
        lines.push(format!("outage = {}", time(ns)));
    }
    lines.push(match criterion.policies {
        PoliciesNeeded::Any => "policies = \"any\"".to_owned(),
        PoliciesNeeded::Every => "policies = \"every\"".to_owned(),
    });
    lines.join("\n")
}

fn flight(terms: &FlightTerms) -> String {
    let mut lines = vec![match &terms.vehicle {
        FlightVehicle::BuiltIn(name) => format!("vehicle = {}", quoted(name)),
        FlightVehicle::File(path) => format!("vehicle-file = {}", quoted(path)),
        FlightVehicle::Text(text) => format!("vehicle-text = {}", quoted(text)),
    }];
    let choices = &terms.choices;
    for (key, word) in [
        ("sample", choices.sampling.word()),
        ("missed", choices.missed.word()),
        ("overrun", choices.overrun.word()),
        ("trajectory", terms.course.word()),
        ("lost", terms.criterion.lost.word()),
    ] {
        lines.push(format!("{key} = \"{word}\""));
    }
    lines.push(format!("seed = {}", terms.seed));
    if let Some(task) = &terms.task {
        lines.push(format!("task = {}", quoted(task)));
    }
    if let Some(ns) = terms.criterion.delay_margin_ns {
        lines.push(format!("delay-margin = {}", time(ns)));
    }
    if let Some(degrees) = terms.criterion.peak_tilt_deg {
        lines.push(format!("peak-tilt = {degrees:?}"));
    }
    lines.join("\n")
}

fn load(load: &LoadSpec) -> String {
    let arguments = |kind: &str, arguments: &[String]| {
        format!("kind = \"{kind}\", arguments = {}", texts(arguments))
    };
    let kind = match &load.kind {
        LoadKind::Cpu => "kind = \"cpu\"".to_owned(),
        LoadKind::Memory { working_set } => {
            let working_set = match working_set {
                WorkingSet::L1 => "l1".to_owned(),
                WorkingSet::L2 => "l2".to_owned(),
                WorkingSet::L3 => "l3".to_owned(),
                WorkingSet::Dram => "dram".to_owned(),
                WorkingSet::Bytes(bytes) => format_size(*bytes),
            };
            format!("kind = \"memory\", working-set = \"{working_set}\"")
        }
        LoadKind::Messages => "kind = \"messages\"".to_owned(),
        LoadKind::Processes => "kind = \"processes\"".to_owned(),
        LoadKind::Files => "kind = \"files\"".to_owned(),
        LoadKind::Network => "kind = \"network\"".to_owned(),
        LoadKind::Timers => "kind = \"timers\"".to_owned(),
        LoadKind::StressNg { arguments: list } => arguments("stress-ng", list),
        LoadKind::Fio { arguments: list } => arguments("fio", list),
        LoadKind::Hackbench { arguments: list } => arguments("hackbench", list),
        LoadKind::Bonnie { arguments: list } => arguments("bonnie", list),
        LoadKind::Iperf3 { arguments: list } => arguments("iperf3", list),
        LoadKind::Wget => "kind = \"wget\"".to_owned(),
        LoadKind::Glmark2 { arguments: list } => arguments("glmark2", list),
        LoadKind::Command { command } => {
            format!("kind = \"command\", command = {}", texts(command))
        }
    };
    let workers = match load.workers {
        0 => "\"per-cpu\"".to_owned(),
        workers => workers.to_string(),
    };
    match &load.cpus {
        None => format!("{{ {kind}, workers = {workers} }}"),
        Some(cpus) => format!("{{ {kind}, workers = {workers}, cpus = \"{cpus}\" }}"),
    }
}

fn texts(list: &[String]) -> String {
    let items: Vec<String> = list.iter().map(|text| quoted(text)).collect();
    format!("[{}]", items.join(", "))
}

/// A TOML basic string.
fn quoted(text: &str) -> String {
    let mut written = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => written.extend(['\\', character]),
            c if c.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(written, "\\u{:04X}", u32::from(c));
            }
            c => written.push(c),
        }
    }
    written.push('"');
    written
}
