//! `wakepath watch`: a program that was not written for wakepath, watched by the kernel's events
//! alone. It is not touched, except for its start and end if requested.

mod printed;
mod ros2;
mod ros2_control;
mod shown;
mod terms;
mod usdt;

use crate::beginning::Command;
use crate::command_line::Watch;
use crate::machine_facts::{clock_source, refuse_offline};
use crate::metrics::Listening;
use crate::watched_program::run_started;
use crate::{executable, limit_exceeded, ros2_options};
use printed::{Much, explain, tell};
use shown::Shown;
use std::process::ExitCode;
use std::time::SystemTime;
use terms::{Terms, name, there, used};
use wakepath_archive::watch::{Session, Threads};
use wakepath_archive::{Ending, LogWriter, MANIFEST_NAME, When};
use wakepath_assess::explanation::places;
use wakepath_assess::watched::{Figures, KeptFigures, Ros2Figures, Ros2Wish};
use wakepath_console::Outcome;
use wakepath_console::run_directory::RunDirectory;
use wakepath_console::terminal::{folded_for_people, print, tell};
use wakepath_directory::Directory;
use wakepath_machine::{Facts, Root};
use wakepath_measure::Interrupt;
use wakepath_measure::watch::{
    Ended, Printing, Recorded, Subject, Until, Watch as Watching, facts_taken,
    has_the_kernels_numbers, record,
};
use wakepath_probe::may_trace;
use wakepath_rt::affinity;

type Failure = Box<dyn std::error::Error>;

/// Reads the values of the options.
pub fn read(arguments: &Watch) -> Result<(), Failure> {
    let terms = Terms::read(arguments)?;
    ros2_options::request(
        &arguments.chain,
        (terms.limit_ns, terms.latency_ns),
        arguments.worst,
    )?;
    Ok(())
}

/// Watches, records, explains, tells.
pub fn run(arguments: &Watch) -> Outcome {
    let terms = Terms::read(arguments)?;
    if let Some(program) = arguments.command.first() {
        executable::find(program)?.map_err(|(_, why)| why)?;
    }
    has_the_kernels_numbers().map_err(|reason| format!("can't watch: {reason}"))?;
    may_trace().map_err(|reason| format!("can't watch: {reason}"))?;
    let started = SystemTime::now();
    let name = name(arguments);
    let place = RunDirectory::choose(
        arguments.directory.as_deref(),
        arguments.trust_directory,
        &format!("watch-{name}"),
        started,
    )?;
    let mut threads = Threads::new();
    let target = there(arguments, &mut threads)?;
    let allowed = affinity::current()?;
    refuse_offline(terms.cpus.as_deref().unwrap_or(&[]))?;
    let cpus = terms.cpus.clone().unwrap_or_else(|| match &target {
        None => allowed.clone(),
        Some(_) => used(&threads),
    });
    let (mut marks, marked) = usdt::marks(arguments, &threads)?;
    marks.extend(ros2::marks(arguments, &threads)?);
    let wish = Ros2Wish {
        above_ns: terms.stop_above_ns,
        ..ros2_options::request(
            &arguments.chain,
            (terms.limit_ns, terms.latency_ns),
            arguments.worst,
        )?
    };
    let interrupt = Interrupt::listen()?;
    if arguments
        .order
        .as_ref()
        .is_some_and(|order| !wakepath_measured_loop::end_with(order.parent))
    {
        return Err("the command that this watch is a part of is gone".into());
    }
    let facts = Facts::read(&Root::host());
    let session = Session {
        name,
        started,
        latency_ns: terms.latency_ns,
        deadline_ns: terms.deadline_ns,
        policy: terms.policy,
        cpus,
        clock_source: clock_source(&facts),
        set_up: Default::default(),
        facts: vec![facts_taken(When::Before, &facts)?],
        notes: Vec::new(),
        marked,
        first: None,
        threads,
        functions: Vec::new(),
    };
    let listening = arguments
        .live
        .metrics
        .as_deref()
        .map(Listening::at)
        .transpose()?;
    if let Some(listening) = &listening {
        tell!("metrics: {}", listening.url());
    }
    let directory = place.make()?;
    let log = LogWriter::create_in(&directory)?;
    let subject = match target {
        Some(target) => Subject::There(target),
        None => {
            let printing = if arguments.live.json {
                Printing::Aside
            } else {
                Printing::AsUsual
            };
            Subject::Start(&arguments.command, printing)
        }
    };
    let outcome = Watching::begin(
        &directory,
        &allowed,
        session,
        subject,
        (&marks, arguments.stacks),
        Until {
            duration: terms.duration,
            is_enough: terms.stop_above_ns.is_some(),
        },
    )
    .map_err(Failure::from)
    .and_then(|watching| watched(watching, arguments, &terms, &interrupt, listening))
    .and_then(|recorded| made_a_run(recorded, log, &directory, arguments, (&terms, &wish)));
    // A directory without a run is useless; the recording stays, whatever failed afterwards.
    let has_record = || {
        let left = Session::left_in(&directory).ok().flatten();
        let has_seen = left.is_some_and(|session| !session.threads.is_empty());
        has_seen || directory.holds(MANIFEST_NAME)
    };
    if matches!(outcome, Ok(Made::Nothing(_))) || (outcome.is_err() && !has_record()) {
        let _ = std::fs::remove_dir_all(directory.path());
        place.withdraw(&directory);
    }
    match outcome? {
        Made::Run(code) | Made::Nothing(code) => Ok(code),
    }
}

/// Result of a watch, and its exit code.
enum Made {
    /// A run.
    Run(ExitCode),
    /// Nothing: no thread showed a period.
    Nothing(ExitCode),
}

/// Watches, with output for a person and for a collector of metrics.
fn watched(
    mut watching: Watching<'_>,
    arguments: &Watch,
    terms: &Terms,
    interrupt: &Interrupt,
    listening: Option<Listening>,
) -> Result<Recorded, Failure> {
    let wants_plain = arguments.live.is_plain();
    let mut shown = Shown::begin(
        watching.session(),
        watching.directory(),
        terms.duration,
        wants_plain,
    );
    let serving = listening
        .map(|listening| listening.serve(shown.standing(), watching.own_cpus()))
        .transpose()?;
    let followed = watching.follow(interrupt, |news, threads| {
        shown.take(news, threads, terms.stop_above_ns)
    });
    shown.end();
    drop(serving);
    Ok(watching.end(followed)?)
}

/// Says what was seen, and records, explains and reports it.
fn made_a_run(
    recorded: Recorded,
    log: LogWriter,
    directory: &Directory,
    arguments: &Watch,
    (terms, wish): (&Terms, &Ros2Wish),
) -> Result<Made, Failure> {
    let figures = Figures::new(
        &recorded.session,
        &recorded.trace,
        &recorded.traced,
        terms.limit_ns,
        places(directory.path())?,
    )?;
    let ros2 = Ros2Figures::new(&recorded.session, &recorded.trace, wish)?;
    let limited = ros2.as_ref().filter(|_| terms.stop_above_ns.is_some());
    let is_above =
        recorded.ended == Ended::Enough || limited.is_some_and(|ros2| ros2.first_above.is_some());
    let shown = match (arguments.all, is_above) {
        (true, _) => Much::All,
        (false, true) => Much::Latency,
        (false, false) => Much::Screen,
    };
    let lines = tell(arguments, &recorded, &figures, ros2.as_ref(), shown)?;
    if ros2.is_none() && ros2::is_asked(arguments) {
        tell!(
            "ROS 2: no node made a call of libtracetools.so: none was started, or the program uses another copy of it, which --ros2=LIBRARY names"
        );
    }
    if figures.threads.is_empty() {
        tell!("no thread was seen to wake up, and no run is recorded");
        let has_callbacks = ros2.as_ref().is_some_and(|ros2| !ros2.callbacks.is_empty());
        let is_above = callback_above(arguments, terms, ros2.as_ref())?;
        return Ok(Made::Nothing(match (is_above, has_callbacks) {
            (true, _) => ExitCode::from(limit_exceeded::ABOVE),
            (false, true) => ExitCode::SUCCESS,
            (false, false) => ExitCode::from(3),
        }));
    }
    let Recorded {
        session,
        traced,
        ended,
        ..
    } = recorded;
    let ending = match ended {
        Ended::Interrupted if terms.duration.is_some() => Ending::Interrupted,
        _ => Ending::Complete,
    };
    record(
        log,
        directory,
        &figures,
        session,
        traced,
        ending,
        &|scenario, session| {
            run_started(
                scenario,
                session,
                match &arguments.order {
                    None => Command::of_this_process(),
                    Some(order) => Command::foreign(order.words()),
                },
            )
        },
    )?;
    let callbacks: Vec<Ros2Figures> = ros2.into_iter().collect();
    Ros2Figures::keep(&callbacks, directory)?;
    explain(directory, arguments, shown, lines)?;
    if callback_above(arguments, terms, callbacks.first())? {
        return Ok(Made::Run(ExitCode::from(limit_exceeded::ABOVE)));
    }
    match (terms.stop_above_ns, ended == Ended::Enough) {
        (Some(above_ns), _) if !arguments.live.json => {
            limit_exceeded::first(directory, above_ns).map(Made::Run)
        }
        (_, true) => Ok(Made::Run(ExitCode::from(limit_exceeded::ABOVE))),
        _ => Ok(Made::Run(ExitCode::SUCCESS)),
    }
}

/// Shows the first callback that was later than `--stop-above`; whether there was one.
fn callback_above(
    arguments: &Watch,
    terms: &Terms,
    ros2: Option<&Ros2Figures>,
) -> Result<bool, Failure> {
    let found = ros2.and_then(|ros2| Some((ros2.first_above.as_ref()?, ros2.began_ns)));
    let (Some((found, began_ns)), Some(above_ns)) = (found, terms.stop_above_ns) else {
        return Ok(false);
    };
    if !arguments.live.json {
        let text = wakepath_report::ros2_first_above(found, began_ns, above_ns);
        print(&folded_for_people(&text))?;
    }
    Ok(true)
}
