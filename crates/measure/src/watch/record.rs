//! A watched program as a run directory that every verb understands, marked with what it lacks.

use super::WatchError;
use serde_json::json;
use std::fmt::Write;
use wakepath_archive::watch::Session;
use wakepath_archive::{
    ArchiveError, Effective, Ending, Event, Imported, LogWriter, RunStarted, SegmentEnded,
    SegmentStarted, SegmentTraced, ThreadEnd, ThreadEnded, ThreadStarted, Told, ToldWriter,
};
use wakepath_assess::watched::{
    Figures, Finding, KeptFigures, Remark, ThreadChain, Watched, WatchedSection,
};
use wakepath_directory::Directory;
use wakepath_scenario::{KnownCpus, Scenario, ScenarioErrors};
use wakepath_timeline::{Lack, Policy};

/// How a run of these terms describes itself in its first event: which program made it is known to
/// that alone.
pub type Begin<'a> = &'a dyn Fn(&Scenario, &Session) -> std::io::Result<RunStarted>;

/// The phase that a watched program is in.
const PHASE: &str = "watched";

/// Writes the run's log and finishes it; removes the watch's other files.
///
/// # Errors
/// When it can't be written.
pub fn record(
    mut log: LogWriter,
    directory: &Directory,
    figures: &Figures,
    mut session: Session,
    traced: SegmentTraced,
    ending: Ending,
    begin: Begin<'_>,
) -> Result<(), WatchError> {
    let name = session.run_name();
    let limits = (session.latency_ns, session.deadline_ns);
    let scenario = scenario(figures, &name, limits)?;
    session.notes.extend(found(figures));
    let started = begin(&scenario, &session).map_err(WatchError::Begin)?;
    log.append_event(&Event::RunStarted(Box::new(started)))?;
    log.append_event(&Event::Imported(Box::new(Imported {
        form: Imported::WATCHED.into(),
        measures: "kernel events of a program that does not measure itself".into(),
        lacks: lacks(figures),
        ..Imported::default()
    })))?;
    log.append_event(&Event::TracingSetUp(session.set_up))?;
    for facts in session.facts {
        log.append_event(&Event::FactsTaken(facts))?;
    }
    let numbered = || (0..).zip(&figures.threads);
    log.append_event(&Event::SegmentStarted(SegmentStarted {
        segment: 0,
        phase: PHASE.into(),
        repetition: 0,
        condition: name,
        traced: true,
        threads: numbered()
            .map(|(number, of)| thread_started(number, of))
            .collect(),
    }))?;
    for (number, of) in numbered() {
        log.append_samples(0, number, &of.row.even())?;
    }
    sections(directory, figures)?;
    ThreadChain::keep(&figures.chains, directory)?;
    log.append_event(&Event::SegmentTraced(traced))?;
    log.append_event(&Event::SegmentEnded(SegmentEnded {
        segment: 0,
        threads: numbered()
            .map(|(number, of)| thread_ended(number, of))
            .collect(),
        loads: Vec::new(),
    }))?;
    log.end(ending)?;
    wakepath_archive::finish_in(directory)?;
    Ok(Session::forget(directory)?)
}

/// The findings, each once, with the names of all threads that have it.
fn found(figures: &Figures) -> impl Iterator<Item = String> {
    let each = figures.threads.iter().flat_map(|of| {
        let own = of.findings.iter().map(Finding::with_fix);
        own.map(|finding| (of.name.as_str(), finding))
    });
    let found = Remark::merged(each).into_iter();
    found.map(|of| format!("{}: {}", of.threads.join(", "), of.remark))
}

/// The sections of single cycles, as recorded by user loops.
fn sections(directory: &Directory, figures: &Figures) -> Result<(), ArchiveError> {
    if figures.threads.iter().all(|of| of.sections.is_empty()) {
        return Ok(());
    }
    let mut told = ToldWriter::create_in(directory, 0)?;
    for (thread, of) in (0..).zip(&figures.threads) {
        for (section, of) in (0..).zip(&of.sections) {
            told.append(&Told::Name {
                thread,
                section,
                name: of.name.clone(),
            })?;
            for run in &of.runs {
                told.append(&Told::Span {
                    thread,
                    section,
                    cycle: run.cycle,
                    from_ns: run.from_ns,
                    to_ns: run.to_ns,
                })?;
            }
        }
    }
    told.sync()
}

fn thread_started(number: u16, of: &Watched) -> ThreadStarted {
    ThreadStarted {
        thread: number,
        name: of.name.clone(),
        due: of.row.due,
        requested: of.declared.unwrap_or(of.policy),
        effective: Effective {
            text: of.policy.to_string(),
            details: json!({
                "policy": of.policy,
                "own_name": of.own_name,
                "thread_id": of.thread_id,
                "process_id": of.process,
                "exact": of.exact,
                "programmed": of.programmed,
                "shows_each_cycle": of.shows_each_cycle,
                "marked": of.marked,
                "timer": of.timer,
                "pool": of.pool,
                "periodic": of.is_periodic,
                "callback": of.is_callback,
                "sleeps_ns": of.sleeps_ns,
                "allowed_cpus": of.allowed,
                "findings": of.findings,
            }),
        },
        cpus: of.cpus.clone(),
        first_judged_cycle: 0,
        end_cycle: of.row.samples.last().map_or(0, |last| last.cycle + 1),
    }
}

fn thread_ended(number: u16, of: &Watched) -> ThreadEnded {
    let written = of.row.samples.len() as u64;
    ThreadEnded {
        thread: number,
        written,
        recorded: written,
        lost: 0,
        skipped: of
            .skipped
            .map(|skipped| skipped + of.unseen + of.ran_unseen),
        page_faults: None,
        modules: of.sections.iter().map(WatchedSection::module).collect(),
        counters: None,
        on_a_core: None,
        ended: ThreadEnd::AllCycles,
    }
}

/// Data that a verdict rests on and that was not recorded, one line each.
fn lacks(figures: &Figures) -> Vec<Lack> {
    let mut lacks = vec![Lack::OwnDueTimes, Lack::Untraced, Lack::Loads];
    // A mark is an instruction of the thread's own.
    if figures.threads.iter().any(|of| !of.marked) {
        lacks.insert(1, Lack::FirstInstructions);
    }
    let named = |which: &dyn Fn(&Watched) -> bool| -> Option<String> {
        let names = figures.threads.iter().filter(|of| which(of));
        let names: Vec<&str> = names.map(|of| &*of.name).collect();
        (!names.is_empty()).then(|| names.join(", "))
    };
    // Of these the watch's own table shows which, and which have no period at all.
    if figures
        .threads
        .iter()
        .any(|of| !of.exact || !of.is_periodic)
    {
        lacks.push(Lack::UnevenDueTimes);
    }
    if let Some(threads) = named(&|of| of.woken_by.is_some()) {
        lacks.push(Lack::Timers { threads });
    }
    if let Some(threads) = named(&|of| of.unwoken > 0) {
        lacks.push(Lack::DueTimesOfSomeCycles { threads });
    }
    if let Some(threads) = named(&|of| !of.programmed && of.woken_by.is_none() && !of.marked) {
        lacks.push(Lack::ProgrammedTimes { threads });
    }
    lacks
}

/// The terms as a scenario: each thread a task with its period and policy. A string of JSON is one of
/// TOML, as Rust's own quoting is not.
fn scenario(
    figures: &Figures,
    name: &str,
    (latency_ns, deadline_ns): (Option<u64>, Option<u64>),
) -> Result<Scenario, ScenarioErrors> {
    // A cycle that begins after its deadline also ends after it.
    let latency_ns = latency_ns.or(deadline_ns);
    // The interval of a thread without a period is no deadline, and no limit is too long for it.
    let period_ns = |of: &Watched| match latency_ns.max(deadline_ns) {
        Some(ns) if !of.is_periodic => of.period_ns.max(ns),
        _ => of.period_ns,
    };
    let longest_ns = figures.threads.iter().map(period_ns).max();
    let duration_ns = figures.watched_ns.max(longest_ns.unwrap_or(0));
    let mut text = format!(
        "name = {}\nduration = \"{duration_ns} ns\"\nwarm-up = \"0 ns\"\n\
         phases = [{{ name = {PHASE:?} }}]\n[criterion]\n",
        json!(format!("watch-{name}")),
    );
    if let Some(ns) = latency_ns {
        let _ = writeln!(text, "latency = \"{ns} ns\"");
    }
    // Each thread's deadline is its own period, which no latency limit may be beyond: a longer one is the deadline, too.
    let shortest_ns = figures.threads.iter().map(period_ns).min();
    let beyond = |ns: &u64| shortest_ns.is_some_and(|shortest| shortest < *ns);
    if let Some(ns) = deadline_ns.or(latency_ns.filter(beyond)) {
        let _ = writeln!(text, "deadline = \"{ns} ns\"");
    }
    for of in &figures.threads {
        let _ = writeln!(
            text,
            "[[tasks]]\nname = {}\nperiod = \"{} ns\"\npolicy = \"{}\"",
            json!(of.name),
            period_ns(of),
            policy(of.declared.unwrap_or(of.policy)),
        );
    }
    let known = KnownCpus::first(1024);
    Scenario::parse(&text, "the watched program", &known)
}

/// A policy as scenarios write it.
fn policy(policy: Policy) -> String {
    match policy {
        Policy::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns,
        } => {
            format!("DEADLINE {runtime_ns} ns/{deadline_ns} ns/{period_ns} ns")
        }
        other => other.to_string(),
    }
}
