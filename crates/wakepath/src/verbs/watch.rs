//! `wakepath watch`: a program that was not written for wakepath, watched by the kernel's events
//! alone. It is not touched but for being started and ended, where that was asked for.

use super::{Outcome, measured, print};
use crate::command_line::Watch;
use crate::explanation;
use crate::measure::{Interrupt, Watching};
use crate::watch::{
    Figures, NotJudged, Recorded, Target, Threads, Watched, activity, record, text,
};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime};
use wakepath_archive::{Ending, FactsTaken, LogWriter, Run, SegmentTraced, Trace, When};
use wakepath_machine::{CpuList, Facts, Root};
use wakepath_probe::Ready;
use wakepath_rt::{affinity, clock};
use wakepath_scenario::units::{format_duration, parse_duration};
use wakepath_timeline::Policy;

type Failure = Box<dyn std::error::Error>;

/// Between two looks at the threads.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What the probe's buffers are sized for where no time is given: they are emptied meanwhile.
const USUAL_NS: u64 = 60_000_000_000;
/// As many threads as a scenario has tasks.
const MOST_THREADS: usize = 256;

/// Watches, records, explains, tells.
pub fn run(arguments: &Watch) -> Outcome {
    let terms = Terms::read(arguments)?;
    let started = SystemTime::now();
    let name = name(arguments);
    let directory = match &arguments.directory {
        Some(directory) => directory.clone(),
        None => measured::default_directory(&format!("watch-{name}"), started),
    };
    measured::refuse_used(&directory)?;
    let mut threads = Threads::new();
    let target = there(arguments, &mut threads)?;
    let allowed = affinity::current()?;
    on_line(terms.cpus.as_deref().unwrap_or(&[]))?;
    let cpus = terms.cpus.clone().unwrap_or_else(|| match &target {
        None => allowed.clone(),
        Some(_) => used(&threads),
    });
    let interrupt = Interrupt::listen()?;
    let log = LogWriter::create(&directory)?;
    let outcome = Session {
        arguments,
        terms: &terms,
        name: &name,
        directory: &directory,
        cpus: &cpus,
        interrupt: &interrupt,
    }
    .carry_out(log, target, threads, started, &allowed);
    if outcome.is_err() || matches!(outcome, Ok(None)) {
        // Nothing of it can be shown: a directory without a run helps nobody.
        let _ = std::fs::remove_dir_all(&directory);
    }
    match outcome? {
        Some(code) => Ok(code),
        None => Ok(ExitCode::from(3)),
    }
}

/// What is there already to be watched; `None` where a program is to be started.
fn there(arguments: &Watch, threads: &mut Threads) -> Result<Option<Target>, String> {
    let (mut target, missing) = match (arguments.pid, &arguments.comm) {
        (None, None) => return Ok(None),
        (Some(pid), _) => (
            Target::Process(pid),
            format!("-p {pid}: there is no such process"),
        ),
        (None, Some(name)) => (
            Target::Named(name.clone()),
            format!("--comm {name}: no process or thread has this name"),
        ),
    };
    match target.look(threads, true) {
        true => Ok(Some(target)),
        false => Err(missing),
    }
}

/// The options that need reading.
struct Terms {
    duration: Option<Duration>,
    cpus: Option<Vec<u16>>,
    policy: Option<Policy>,
    latency_ns: Option<u64>,
}

impl Terms {
    fn read(arguments: &Watch) -> Result<Self, Failure> {
        let time = |option: &str, text: &Option<String>| -> Result<Option<u64>, Failure> {
            let Some(text) = text else { return Ok(None) };
            match parse_duration(text) {
                Ok(ns) if ns > 0 => Ok(Some(ns)),
                Ok(_) => Err(format!("{option} {text}: must be more than nothing").into()),
                Err(complaint) => Err(format!("{option} {text}: {complaint}").into()),
            }
        };
        Ok(Self {
            duration: time("--for", &arguments.duration)?.map(Duration::from_nanos),
            cpus: arguments
                .cpu
                .as_deref()
                .map(super::exec::cpus)
                .transpose()?,
            policy: arguments
                .policy
                .as_deref()
                .map(super::exec::policy)
                .transpose()?,
            latency_ns: time("--latency", &arguments.latency)?,
        })
    }
}

/// One program watched once.
struct Session<'a> {
    arguments: &'a Watch,
    terms: &'a Terms,
    name: &'a str,
    directory: &'a Path,
    cpus: &'a [u16],
    interrupt: &'a Interrupt,
}

impl Session<'_> {
    /// The exit code; `None` where no periodic thread was seen, and no run is left.
    fn carry_out(
        self,
        log: LogWriter,
        target: Option<Target>,
        mut threads: Threads,
        started: SystemTime,
        allowed: &[u16],
    ) -> Result<Option<ExitCode>, Failure> {
        let facts = Facts::read(&Root::host());
        let mut taken = vec![facts_taken(When::Before, &facts)?];
        // What is ours stays off the program's CPUs where there are others.
        let others: Vec<u16> = allowed
            .iter()
            .copied()
            .filter(|c| !self.cpus.contains(c))
            .collect();
        if !others.is_empty() {
            affinity::pin(&others)?;
        }
        let for_ns = self
            .terms
            .duration
            .map_or(USUAL_NS, |d| d.as_nanos() as u64);
        let (mut probe, ready) = Watching::start(self.directory, self.cpus, for_ns)
            .map_err(|reason| format!("can't watch: {reason}"))?;
        let mut notes: Vec<String> = notes_of(&ready);
        probe
            .begin()
            .map_err(|reason| format!("can't watch: {reason}"))?;
        let mut target = match target {
            Some(target) => target,
            None => {
                affinity::pin(allowed)?;
                let started = start(&self.arguments.command);
                if !others.is_empty() {
                    affinity::pin(&others)?;
                }
                Target::started(started?)
            }
        };
        let ending = self.watch(&mut target, &mut threads);
        let traced = probe.end();
        if matches!(ending, Ended::TimeIsUp | Ended::Interrupted) {
            target.end();
        }
        let traced = traced.map_err(|reason| format!("the trace is lost: {reason}"))?;
        drop(probe);
        taken.push(facts_taken(When::After, &Facts::read(&Root::host()))?);
        notes.extend(
            target
                .ended_badly()
                .filter(|_| matches!(ending, Ended::ByItself)),
        );
        let trace = Trace::open(self.directory, 0)?.ok_or("the trace is not there")?;
        notes.extend(
            trace
                .cut_short()
                .map(|why| format!("the trace stops early: {why}")),
        );
        let figures = self.figures(&trace, &traced, &threads)?;
        // A program that starts another in its place is that one.
        let first = target.first().and_then(|first| threads.get(&first));
        let name = first.map_or_else(|| self.name.to_owned(), |first| plain(&first.name));
        notes.extend(outside(&threads, self.cpus));
        self.tell(&name, &figures, &traced, &notes)?;
        if figures.threads.is_empty() {
            eprintln!("no periodic thread was seen, and no run is recorded");
            return Ok(None);
        }
        let run = Recorded {
            name: &name,
            started,
            latency_ns: self.terms.latency_ns,
            clock_source: measured::clock_source(&facts),
            set_up: ready.set_up,
            traced,
            facts: taken,
            notes,
            ending: match ending {
                Ended::Interrupted if self.terms.duration.is_some() => Ending::Interrupted,
                _ => Ending::Complete,
            },
        };
        record(log, self.directory, &figures, run)?;
        self.explain()?;
        Ok(Some(ExitCode::SUCCESS))
    }

    /// Until time, program or patience ends.
    fn watch(&self, target: &mut Target, threads: &mut Threads) -> Ended {
        let begun = Instant::now();
        let shows = std::io::stderr().is_terminal();
        let ended = loop {
            if !target.look(threads, false) {
                break Ended::ByItself;
            }
            if self.interrupt.requested() {
                break Ended::Interrupted;
            }
            let left = self
                .terms
                .duration
                .map(|all| all.saturating_sub(begun.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                break Ended::TimeIsUp;
            }
            if shows {
                let of = self.terms.duration.map_or("until Ctrl-C".into(), |all| {
                    format!("of {} s", all.as_secs())
                });
                eprint!(
                    "\rwatching {}: {} s {of}\x1b[K",
                    wakepath_verdict::counted(threads.len() as u64, "thread", "threads"),
                    begun.elapsed().as_secs()
                );
                let _ = std::io::stderr().flush();
            }
            std::thread::sleep(left.map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY)));
        };
        if shows {
            eprint!("\r\x1b[K");
        }
        ended
    }

    fn figures(
        &self,
        trace: &Trace,
        traced: &SegmentTraced,
        threads: &Threads,
    ) -> Result<Figures, Failure> {
        let activity = activity(trace, threads.keys().copied())?;
        let lost = traced.lost > 0;
        let (mut periodic, mut not_judged) = (Vec::new(), Vec::new());
        for (number, thread) in threads {
            let seen = activity.get(number).cloned().unwrap_or_default();
            match Watched::of(*number, thread, &seen, self.terms.policy, lost) {
                Ok(watched) => periodic.push(watched),
                Err(other) => not_judged.push(other),
            }
        }
        periodic.sort_by_key(|of| (of.period_ns, of.thread_id));
        not_judged.sort_by_key(|of| (std::cmp::Reverse(of.run_ns), of.thread_id));
        not_judged.extend(too_many(&mut periodic));
        tell_apart(&mut periodic);
        Ok(Figures {
            watched_ns: traced.wall_ns,
            cpus: self.cpus.to_vec(),
            events: traced.events,
            events_lost: traced.lost,
            threads: periodic,
            not_judged,
        })
    }

    fn tell(
        &self,
        name: &str,
        figures: &Figures,
        traced: &SegmentTraced,
        notes: &[String],
    ) -> Result<(), Failure> {
        if self.arguments.json {
            return Ok(print(&(serde_json::to_string_pretty(figures)? + "\n"))?);
        }
        let cpus: CpuList = self.cpus.iter().map(|&cpu| u32::from(cpu)).collect();
        let lost = match figures.events_lost {
            0 => "none lost".to_owned(),
            lost => format!("{lost} lost: what they touch is left out or unexplained"),
        };
        let head = format!(
            "{name} watched for {:.1} s on CPU {cpus}: {} kernel events, {lost}\n\n",
            traced.wall_ns as f64 / 1e9,
            figures.events
        );
        print(&(head + &text(figures)))?;
        for note in notes {
            print(&format!("note: {note}\n"))?;
        }
        Ok(())
    }

    /// Writes explanation, overheads and report beside the run, and shows the causes.
    fn explain(&self) -> Result<(), Failure> {
        let run = Run::open(self.directory)?;
        let explanation = explanation::write_beside(&run)?;
        if let Some(explanation) = explanation.filter(|_| !self.arguments.json) {
            print(&explanation::late_text(&explanation, self.arguments.worst))?;
        }
        let (assessment, pictures) = super::progress::assessed(&run, true)?;
        let report = super::report::beside(&run, &assessment, &pictures)?;
        let said = format!(
            "\nrecording: {}; wakepath explain, show and export read it\nreport: {}\n",
            self.directory.display(),
            report.display()
        );
        match self.arguments.json {
            true => eprint!("{said}"),
            false => print(&said)?,
        }
        Ok(())
    }
}

enum Ended {
    TimeIsUp,
    Interrupted,
    ByItself,
}

fn start(command: &[std::ffi::OsString]) -> Result<std::process::Child, Failure> {
    let (program, rest) = command.split_first().ok_or("no program is named")?;
    let child = Command::new(program).args(rest).spawn();
    child.map_err(|error| format!("{}: {error}", program.display()).into())
}

/// What is watched, as a name for directory and tables.
fn name(arguments: &Watch) -> String {
    let name = match (arguments.pid, &arguments.comm, arguments.command.first()) {
        (Some(pid), ..) => std::fs::read_to_string(format!("/proc/{pid}/comm"))
            .map_or_else(|_| pid.to_string(), |name| name.trim().to_owned()),
        (_, Some(name), _) => name.clone(),
        (.., Some(program)) => Path::new(program)
            .file_name()
            .unwrap_or(program)
            .to_string_lossy()
            .into_owned(),
        _ => String::new(),
    };
    plain(&name)
}

/// A name that scenarios, tables and file names can hold.
fn plain(name: &str) -> String {
    let kept = |c: char| c.is_alphanumeric() || "-_./:+@".contains(c);
    let name: String = name
        .chars()
        .map(|c| if kept(c) { c } else { '-' })
        .take(40)
        .collect();
    match name.is_empty() {
        true => "unnamed".into(),
        false => name,
    }
}

/// Gives each thread a name of its own.
fn tell_apart(threads: &mut [Watched]) {
    let mut taken: Vec<String> = Vec::new();
    for of in threads {
        let base = plain(&of.name);
        let names = (1_u32..).map(|n| match n {
            1 => base.clone(),
            n => format!("{base}-{n}"),
        });
        let free = names.into_iter().find(|name| !taken.contains(name));
        of.name = free.unwrap_or(base);
        taken.push(of.name.clone());
    }
}

/// Takes out the threads beyond what a scenario can hold: those with the longest periods.
fn too_many(threads: &mut Vec<Watched>) -> Vec<NotJudged> {
    let beyond = threads.split_off(threads.len().min(MOST_THREADS));
    let of = |of: Watched| NotJudged {
        why: format!(
            "period {}, but more than {MOST_THREADS} threads are periodic",
            format_duration(of.period_ns)
        ),
        timer_wake_ups: of.activations,
        other_wake_ups: of.other_wake_ups,
        run_ns: 0,
        name: of.name,
        thread_id: of.thread_id,
    };
    beyond.into_iter().map(of).collect()
}

/// Refuses CPUs that this machine does not have.
fn on_line(cpus: &[u16]) -> Result<(), String> {
    let facts = Facts::read(&Root::host());
    let Some(online) = facts.varying.cpu_time.online.known() else {
        return Ok(());
    };
    match cpus.iter().find(|&&cpu| !online.contains(cpu.into())) {
        Some(cpu) => Err(format!(
            "--cpu {cpu}: CPU {online} are on-line; give some of them"
        )),
        None => Ok(()),
    }
}

fn used(threads: &Threads) -> Vec<u16> {
    let mut cpus: Vec<u16> = threads.values().flat_map(|of| of.cpus.clone()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// Threads that may run where nothing was recorded.
fn outside(threads: &Threads, traced: &[u16]) -> Option<String> {
    let is_outside = |cpus: &[u16]| cpus.iter().any(|cpu| !traced.contains(cpu));
    let count = threads.values().filter(|of| is_outside(&of.cpus)).count();
    (count > 0).then(|| {
        format!(
            "{} may run on CPUs that were not traced; what happened there is not seen",
            wakepath_verdict::counted(count as u64, "thread", "threads")
        )
    })
}

fn notes_of(ready: &Ready) -> Vec<String> {
    let orphans = ready.orphans.iter().map(|name| {
        format!("removed the tracefs instance {name}, left by a process that was killed")
    });
    let failed = ready.set_up.self_tests.iter().filter(|test| !test.passed);
    let failed = failed.map(|test| format!("self-test on CPU {}: {}", test.cpu, test.text));
    let missing = ready.set_up.missing.iter();
    let missing = missing.map(|of| format!("without {}: {}", of.events, of.reason));
    orphans.chain(failed).chain(missing).collect()
}

fn facts_taken(when: When, facts: &Facts) -> Result<FactsTaken, Failure> {
    Ok(FactsTaken {
        when,
        phase: None,
        repetition: None,
        at_ns: clock::monotonic_ns(),
        facts: serde_json::to_value(facts)?,
    })
}
