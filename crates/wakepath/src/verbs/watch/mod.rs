//! `wakepath watch`: a program that was not written for wakepath, watched by the kernel's events
//! alone. It is not touched but for being started and ended, where that was asked for.

mod shown;
mod terms;

use super::{Outcome, measured, print, print_result, stopped};
use crate::command_line::Watch;
use crate::metrics::Listening;
use crate::terminal::{self, laid, tell};
use crate::watch::{Figures, Following, record, text};
use shown::Shown;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime};
pub(super) use terms::on_line;
use terms::{Terms, name, there, used};
use wakepath_archive::{
    Ending, FactsTaken, LogWriter, MANIFEST_NAME, Run, SegmentTraced, Trace, When,
};
use wakepath_assess::explanation;
use wakepath_directory::Directory;
use wakepath_machine::{Facts, Root};
use wakepath_measure::watch::{Session, Target, Threads, has_the_kernels_numbers};
use wakepath_measure::{Interrupt, Watching, traced_cpus};
use wakepath_probe::Ready;
use wakepath_programs::rights;
use wakepath_rt::{affinity, clock};
use wakepath_timeline::CpuSet;

type Failure = Box<dyn std::error::Error>;

/// Between two looks at the threads.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Between two times that what was seen is kept, where it changed.
const KEEP_EVERY: Duration = Duration::from_secs(1);
/// What the probe's buffers are sized for where no time is given: they are emptied meanwhile.
const USUAL_NS: u64 = 60_000_000_000;

/// Watches, records, explains, tells.
pub fn run(arguments: &Watch) -> Outcome {
    let terms = Terms::read(arguments)?;
    if let Some(program) = arguments.command.first() {
        super::exec::to_start(program)?.map_err(|(_, why)| why)?;
    }
    has_the_kernels_numbers().map_err(|reason| format!("can't watch: {reason}"))?;
    let started = SystemTime::now();
    let name = name(arguments);
    let place = measured::Place::of(
        arguments.directory.as_deref(),
        arguments.trust_directory,
        &format!("watch-{name}"),
        started,
    )?;
    let mut threads = Threads::new();
    let target = there(arguments, &mut threads)?;
    let allowed = affinity::current()?;
    on_line(terms.cpus.as_deref().unwrap_or(&[]))?;
    let cpus = terms.cpus.clone().unwrap_or_else(|| match &target {
        None => allowed.clone(),
        Some(_) => used(&threads),
    });
    let interrupt = Interrupt::listen()?;
    let facts = Facts::read(&Root::host());
    let session = Session {
        name,
        started,
        latency_ns: terms.latency_ns,
        policy: terms.policy,
        cpus,
        clock_source: measured::clock_source(&facts),
        set_up: Default::default(),
        facts: vec![facts_taken(When::Before, &facts)?],
        notes: Vec::new(),
        first: None,
        threads,
    };
    let listening = arguments
        .metrics
        .as_deref()
        .map(Listening::at)
        .transpose()?;
    if let Some(listening) = &listening {
        tell!("metrics: {}", listening.url());
    }
    let directory = place.make()?;
    let log = LogWriter::create_in(&directory)?;
    // A kill before anything is recorded leaves what tells `wakepath recover` whose this is.
    let nothing_yet = Session {
        threads: Threads::new(),
        ..session.clone()
    };
    nothing_yet.keep(&directory)?;
    let outcome = Watcher {
        arguments,
        terms: &terms,
        directory: &directory,
        interrupt: &interrupt,
        allowed: &allowed,
        session,
    }
    .carry_out(log, target, listening);
    // A directory without a run helps nobody; what is recorded stays, whatever went wrong after.
    let has_record = || {
        let left = Session::left_in(&directory).ok().flatten();
        let has_seen = left.is_some_and(|session| !session.threads.is_empty());
        has_seen || directory.holds(MANIFEST_NAME)
    };
    if matches!(outcome, Ok(None)) || (outcome.is_err() && !has_record()) {
        let _ = std::fs::remove_dir_all(directory.path());
    }
    match outcome? {
        Some(code) => Ok(code),
        None => Ok(ExitCode::from(3)),
    }
}

/// One program watched once.
struct Watcher<'a> {
    arguments: &'a Watch,
    terms: &'a Terms,
    directory: &'a Directory,
    interrupt: &'a Interrupt,
    /// CPUs that this process may use.
    allowed: &'a [u16],
    session: Session,
}

impl Watcher<'_> {
    /// The exit code; `None` where no periodic thread was seen, and no run is left.
    fn carry_out(
        mut self,
        log: LogWriter,
        target: Option<Target>,
        listening: Option<Listening>,
    ) -> Result<Option<ExitCode>, Failure> {
        // What is ours stays off the program's CPUs where there are others.
        let mut others = self.allowed.to_vec();
        others.retain(|cpu| !self.session.cpus.contains(cpu));
        if !others.is_empty() {
            affinity::pin(&others)?;
        }
        let for_ns = self
            .terms
            .duration
            .map_or(USUAL_NS, |d| d.as_nanos() as u64);
        let (mut probe, ready) =
            Watching::start(self.directory, &traced_cpus(&self.session.cpus), for_ns)
                .map_err(|reason| format!("can't watch: {reason}"))?;
        self.session.notes = notes_of(&ready);
        self.session.set_up = ready.set_up;
        probe
            .begin()
            .map_err(|reason| format!("can't watch: {reason}"))?;
        let mut target = match target {
            Some(target) => target,
            None => {
                affinity::pin(self.allowed)?;
                let started = start(&self.arguments.command);
                if !others.is_empty() {
                    affinity::pin(&others)?;
                }
                Target::started(started?)
            }
        };
        self.session.first = target.first();
        let mut shown = Shown::begin(
            &self.session,
            self.directory,
            self.terms.duration,
            self.arguments.no_tui || self.arguments.json,
        );
        let serving = match listening {
            None => None,
            Some(listening) => {
                let cpus = if others.is_empty() {
                    self.allowed
                } else {
                    &others
                };
                Some(listening.serve(shown.standing(), cpus)?)
            }
        };
        let ending = self.watch(&mut target, &mut shown);
        shown.end();
        drop(serving);
        let traced = probe.end();
        if matches!(
            ending,
            Ok(Ended::TimeIsUp | Ended::Interrupted | Ended::Above)
        ) {
            target.end();
        }
        let ending = ending?;
        let traced = traced.map_err(|reason| format!("the trace is lost: {reason}"))?;
        drop(probe);
        let after = facts_taken(When::After, &Facts::read(&Root::host()))?;
        self.session.facts.push(after);
        let trace = Trace::open_in(self.directory, 0)?.ok_or("the trace is not there")?;
        let notes = [
            target
                .ended_badly()
                .filter(|_| matches!(ending, Ended::ByItself)),
            trace
                .cut_short()
                .map(|why| format!("the trace stops early: {why}")),
            self.session.outside(),
        ];
        self.session.notes.extend(notes.into_iter().flatten());
        let figures = Figures::of(&self.session, &trace, &traced)?;
        self.tell(&figures, &traced)?;
        if figures.threads.is_empty() {
            tell!("no periodic thread was seen, and no run is recorded");
            return Ok(None);
        }
        let is_above = matches!(ending, Ended::Above);
        let ending = match ending {
            Ended::Interrupted if self.terms.duration.is_some() => Ending::Interrupted,
            _ => Ending::Complete,
        };
        let (directory, arguments) = (self.directory, self.arguments);
        record(log, directory, &figures, self.session, traced, ending)?;
        Session::forget(directory)?;
        explain(directory, arguments)?;
        match (self.terms.stop_above_ns, is_above) {
            (Some(above_ns), _) if !arguments.json => stopped::first(directory, above_ns).map(Some),
            (_, true) => Ok(Some(ExitCode::from(stopped::ABOVE))),
            _ => Ok(Some(ExitCode::SUCCESS)),
        }
    }

    /// Until time, program or patience ends, or a latency is above what shall end it.
    fn watch(&mut self, target: &mut Target, shown: &mut Shown) -> Result<Ended, Failure> {
        let begun = Instant::now();
        let (mut kept, mut kept_at) = (None, begun);
        let mut following = Following::new(self.directory, self.terms.latency_ns);
        loop {
            if !target.look(&mut self.session.threads, false) {
                return Ok(Ended::ByItself);
            }
            // A kill from here on leaves what `wakepath recover` needs.
            let is_time = kept.is_none() || kept_at.elapsed() >= KEEP_EVERY;
            if is_time && kept.as_ref() != Some(&self.session.threads) {
                self.session.keep(self.directory)?;
                (kept, kept_at) = (Some(self.session.threads.clone()), Instant::now());
            }
            if self.interrupt.requested() {
                return Ok(Ended::Interrupted);
            }
            let seen = following.look(self.session.threads.keys().copied())?;
            let above = shown.take(&seen, &self.session.threads, self.terms.stop_above_ns);
            if above {
                return Ok(Ended::Above);
            }
            let left = self
                .terms
                .duration
                .map(|all| all.saturating_sub(begun.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Ended::TimeIsUp);
            }
            std::thread::sleep(left.map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY)));
        }
    }

    fn tell(&self, figures: &Figures, traced: &SegmentTraced) -> Result<(), Failure> {
        if self.arguments.json {
            let text = serde_json::to_string_pretty(figures)? + "\n";
            return Ok(print_result(true, &text)?);
        }
        let cpus = CpuSet::from(&figures.cpus[..]);
        let lost = match figures.events_lost {
            0 => "none lost".to_owned(),
            lost => format!("{lost} lost: what they touch is left out or unexplained"),
        };
        let head = format!(
            "{} watched for {:.1} s on CPU {cpus}: {} kernel events, {lost}\n\n",
            self.session.run_name(),
            traced.wall_ns as f64 / 1e9,
            figures.events
        );
        print(&laid(&(head + &text(figures))))?;
        for note in &self.session.notes {
            print(&laid(&format!("note: {note}\n")))?;
        }
        Ok(())
    }
}

/// Writes explanation, overheads and report beside the run, and shows the causes.
fn explain(directory: &Directory, arguments: &Watch) -> Result<(), Failure> {
    let run = Run::open_in(directory)?;
    let explanation = explanation::write_beside(&run, directory)?;
    if let Some(explanation) = explanation.filter(|_| !arguments.json) {
        print(&laid(&wakepath_report::late_text(
            &explanation,
            arguments.worst,
        )))?;
    }
    let (assessment, pictures) = super::progress::assessed(&run, true)?;
    let report = super::report::beside(&run, directory, &assessment, &pictures)?;
    let said = format!(
        "\nrecording: {}; wakepath explain, show and export read it\nreport: {}\n",
        directory.path().display(),
        report.display()
    );
    match arguments.json {
        true => terminal::tell_text(&said),
        false => print(&said)?,
    }
    Ok(())
}

enum Ended {
    Above,
    TimeIsUp,
    Interrupted,
    ByItself,
}

fn start(command: &[std::ffi::OsString]) -> Result<std::process::Child, Failure> {
    let (program, rest) = command.split_first().ok_or("no program is named")?;
    let file = wakepath_programs::to_start(program)?;
    // What watches needs capabilities, what is watched was given none.
    let child = rights::without(|| Command::new(file).arg0(program).args(rest).spawn());
    child
        .flatten()
        .map_err(|error| format!("{}: {error}", program.display()).into())
}

fn notes_of(ready: &Ready) -> Vec<String> {
    let orphans = ready.orphans.iter().map(|name| {
        format!("removed the tracefs instance {name}, left by a process that was killed")
    });
    let failed = ready.set_up.self_tests.iter().filter(|test| !test.passed);
    let failed = failed.map(|test| format!("self-test of the tracing: {}", test.text));
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
