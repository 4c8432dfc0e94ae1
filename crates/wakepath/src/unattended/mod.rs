//! `wakepath run --for`: a scenario for hours or days, unattended. Its rounds, each a run in its
//! own process, form one history; memory and disk stay bounded, and after Ctrl-C, a power cut or a
//! reboot `--resume` continues.

mod findings;
mod plan;

use crate::beginning::Command;
use crate::command_line::{Run as Arguments, Show};
use crate::{run_scenario, service};
use findings::findings;
use plan::Plan;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use wakepath_archive::{Invocation, Run, RunOption};
use wakepath_assess::Assessment;
use wakepath_console::run_order::OrderedRun;
use wakepath_console::runs::{self, HOME};
use wakepath_console::sequence::{self, Origin, ProcessExecutor, Step};
use wakepath_console::terminal::tell;
use wakepath_console::{Outcome, run_directory, scenarios};
use wakepath_directory::{Directory, Trust};
use wakepath_measure::{Interrupt, own_executable};
use wakepath_scenario::Scenario;
use wakepath_service::{Round, RoundThread, Rounds, has_rounds};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::long;

type Failure = Box<dyn std::error::Error>;

/// The scenario's file, next to the rounds.
const SCENARIO: &str = "scenario.toml";
/// Directory of rounds that were cut short.
const LEFTOVERS: &str = "cut-short";

/// Reads the values of the options.
pub fn read(arguments: &Arguments, whole: &str, scenario: &Scenario) -> Result<(), Failure> {
    Plan::new(arguments, whole, scenario).map(drop)
}

/// Begins, for that time in all.
pub fn begin(arguments: &Arguments, whole: &str) -> Outcome {
    let (scenario, warnings) = run_scenario::read(arguments, &scenarios::host_cpus()?)?;
    let plan = Plan::new(arguments, whole, &scenario)?;
    let directory = match &arguments.output.directory {
        Some(directory) => directory.clone(),
        None => wakepath_console::run_directory::default_directory(
            &format!("{}-rounds", scenario.name),
            SystemTime::now(),
        )?,
    };
    if has_rounds(&directory) {
        return Err(format!(
            "{}: has rounds already; resume them with --resume, or give another --directory",
            directory.display()
        )
        .into());
    }
    wakepath_console::run_directory::refuse_used(&directory)?;
    plan.has_room(&directory)?;
    for warning in warnings {
        tell!("note: {warning}");
    }
    carry_out(&directory, &plan, true, arguments)
}

/// Continues, by the plan in the directory.
pub fn resume(arguments: &Arguments) -> Outcome {
    let directory = match &arguments.output.directory {
        Some(directory) => directory.clone(),
        None => latest()?,
    };
    if !has_rounds(&directory) {
        return Err(format!(
            "{}: no rounds to resume; begin some with wakepath run SCENARIO --for TIME",
            directory.display()
        )
        .into());
    }
    let plan = Plan::read(&directory)?;
    plan.has_room(&directory)?;
    carry_out(&directory, &plan, false, arguments)
}

/// The latest rounds below the working directory.
fn latest() -> Result<PathBuf, Failure> {
    let mut all = runs::all().into_iter().map(|found| found.directory());
    let found = all.find(|directory| has_rounds(directory));
    Ok(found.ok_or_else(|| format!("no rounds are below {HOME}; name them with --directory"))?)
}

fn carry_out(directory: &Path, plan: &Plan, is_new: bool, arguments: &Arguments) -> Outcome {
    let interrupt = Interrupt::listen()?;
    let trust = run_directory::trust(arguments.output.trust_directory);
    let written = serde_json::to_vec_pretty(plan)?;
    let rounds = Rounds::prepare(
        directory,
        trust,
        plan.worst.into(),
        is_new.then_some(&written),
    )?;
    let output = &arguments.output;
    let scenario = directory.join(SCENARIO);
    Directory::to_write(directory, trust)?
        .put(SCENARIO, plan.scenario.as_bytes())
        .map_err(|error| format!("{}: {error}", scenario.display()))?;
    let is_plain = output.live.is_plain();
    let reached = rounds.reached()?;
    tell!(
        "{}: {} of {}, {reached} measured before",
        directory.display(),
        counted(plan.rounds.into(), "round", "rounds"),
        long(plan.round_ns as f64 / 1e9)
    );
    let mut executor =
        ProcessExecutor::new(own_executable(), interrupt, &plan.duration(), is_plain);
    let mut unattended = Unattended {
        directory,
        plan,
        scenario: plan.of_a_round(directory)?,
        rounds,
        reached,
        begins: true,
        is_plain,
        last_note: None,
        arguments,
    };
    sequence::carry_out(&mut unattended, &mut executor)?;
    service::show(
        directory,
        &Show {
            histogram: false,
            policy: None,
            run: Some(directory.to_owned()),
            json: output.live.json,
            details: output.details,
        },
    )
}

/// Rounds under way.
struct Unattended<'a> {
    directory: &'a Path,
    plan: &'a Plan,
    /// Of a round.
    scenario: Scenario,
    rounds: Rounds,
    /// The last round in the history.
    reached: u32,
    /// Whether no round has come into the history since this command began.
    begins: bool,
    /// Whether each round is announced in a line.
    is_plain: bool,
    /// The last note about files that are kept, printed once.
    last_note: Option<String>,
    arguments: &'a Arguments,
}

fn segment_name(round: u32) -> String {
    format!("round-{round:06}")
}

impl sequence::Plan for Unattended<'_> {
    /// Number of the round, from 1.
    type Subject = u32;

    fn next(&self) -> Option<Step<u32>> {
        let (round, of) = (self.reached + 1, self.plan.rounds);
        (round <= of).then(|| Step {
            subject: round,
            name: format!("round {round} of {of}"),
            directory: self.rounds.segments().path_of(&segment_name(round)),
            remaining: of - round,
        })
    }

    fn order(&mut self, step: &Step<u32>) -> Result<OrderedRun, Failure> {
        if self.is_plain {
            tell!("{}", step.name);
        }
        let source = self.directory.join(SCENARIO).display().to_string();
        let duration = self.plan.duration();
        Ok(OrderedRun {
            scenario: self.scenario.to_toml(),
            directory: step.directory.clone(),
            trust_directory: self.arguments.output.trust_directory,
            metrics: self.arguments.output.live.metrics.clone(),
            invocation: Invocation::of_scenario(&source).with(RunOption::Duration, duration),
            source,
        })
    }

    fn take(&mut self, step: Step<u32>, run: Run, origin: Origin) -> Result<(), Failure> {
        // The clocks of a boot that is over are unknown.
        let offset_ns = match origin {
            Origin::Measured => Some(offset_now_ns()?),
            Origin::Resumed => None,
        };
        self.put_into_history(step.subject, &run, offset_ns)?;
        self.reached = step.subject;
        let note = self.rounds.keep(self.plan.keep_bytes)?;
        if let Some(note) = note.filter(|now| self.last_note.as_ref() != Some(now)) {
            tell!("note: {note}");
            self.last_note = Some(note);
        }
        Ok(())
    }

    fn after_interruption(&self) -> String {
        format!(
            "{} of {} rounds are measured: resume with wakepath run --resume --directory {}",
            self.reached,
            self.plan.rounds,
            self.directory.display()
        )
    }

    /// The directory of the rounds holds nothing else.
    fn leftovers(&self, _: &Step<u32>) -> PathBuf {
        self.directory.join(LEFTOVERS)
    }

    fn trust(&self) -> Trust {
        run_directory::trust(self.arguments.output.trust_directory)
    }
}

impl Unattended<'_> {
    fn put_into_history(
        &mut self,
        number: u32,
        run: &Run,
        offset_ns: Option<i64>,
    ) -> Result<(), Failure> {
        let assessment = Assessment::new(run)?;
        let judged = wakepath_assess::judged_threads(run, &self.scenario).into_iter();
        let threads = judged.map(|(place, of)| {
            let thread = RoundThread {
                condition: of.condition,
                criterion: of.criterion,
                until: of.until,
            };
            (place, thread)
        });
        let threads = threads.collect();
        let findings = findings(&run.manifest.segments, &threads, &assessment);
        let command = Command::of_this_process();
        self.rounds.take(&Round {
            number,
            of: self.plan.rounds,
            segment: &segment_name(number),
            run,
            threads: &threads,
            findings: &findings,
            offset_ns,
            begins: self.begins.then_some(command.words()),
        })?;
        self.begins = false;
        Ok(())
    }
}

/// From `CLOCK_MONOTONIC` to the time since 1970, now.
fn offset_now_ns() -> Result<i64, Failure> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    let monotonic = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let monotonic_ns = i128::from(monotonic.tv_sec) * 1_000_000_000 + i128::from(monotonic.tv_nsec);
    Ok(i64::try_from(
        since.as_nanos().cast_signed() - monotonic_ns,
    )?)
}
